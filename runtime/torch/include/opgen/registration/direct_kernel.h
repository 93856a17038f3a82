// direct_kernel.h: DirectKernel, the same as the runtime's.
#pragma once

#include "../../../../include/opgen/registration/direct_kernel.h"
