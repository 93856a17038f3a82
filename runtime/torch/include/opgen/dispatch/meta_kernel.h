// meta_kernel.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/dispatch/meta_kernel.h"
