// dim_mask.h: the same as in the runtime.
#pragma once

#include <ATen/WrapDimUtils.h>

#include "opgen/tensor/tensor.h"

namespace opgen {
using at::maybe_wrap_dim;
}

#include "../../../../include/opgen/cpu/dim_mask.h"
