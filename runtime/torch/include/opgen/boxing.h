// boxing.h: the entrance to dispatch/boxing.h.
#pragma once

#include "opgen/dispatch/boxing.h"
