// operator.h: entrance to dispatch/operator.h, and the kernels that its functions call directly.
#pragma once

#include "opgen/dispatch/operator.h"
#include "opgen/registration/direct_kernel.h"
#include "opgen/registration/types.h"
