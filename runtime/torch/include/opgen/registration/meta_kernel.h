// meta_kernel.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/registration/meta_kernel.h"
