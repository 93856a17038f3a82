// kernel_macros.h: how meta functions and kernels are defined: as for the runtime.
#pragma once

#include "../../../include/opgen/kernel_macros.h"
