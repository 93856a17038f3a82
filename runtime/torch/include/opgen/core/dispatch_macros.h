// dispatch_macros.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/core/dispatch_macros.h"
