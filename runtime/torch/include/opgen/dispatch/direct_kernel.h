// direct_kernel.h: DirectKernel, the same as the runtime's.
#pragma once

#include "../../../../include/opgen/dispatch/direct_kernel.h"
