// dispatch_macros.h: the same as in the runtime.
#pragma once

#include "../../../include/opgen/dispatch_macros.h"
