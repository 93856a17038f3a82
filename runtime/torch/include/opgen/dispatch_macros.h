// dispatch_macros.h: the entrance to core/dispatch_macros.h.
#pragma once

#include "opgen/core/dispatch_macros.h"
