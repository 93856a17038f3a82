// kernel_macros.h: the macros that define meta functions and kernels, the same as for the runtime.
#pragma once

#include "../../../include/opgen/kernel_macros.h"
