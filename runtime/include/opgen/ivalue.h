// ivalue.h: entrance to dispatch/ivalue.h.
#pragma once

#include "opgen/dispatch/ivalue.h"
