// operator.h: the entrance to dispatch/operator.h.
#pragma once

#include "opgen/dispatch/operator.h"
