// The kernels that odds_more.yaml names, as their sources define them.
// Written by opgen import.
#pragma once

#include <ATen/core/Tensor.h>

namespace opgen_kernels::odds_cpp {

at::Tensor odds_known_here(const at::Tensor& x);

}  // namespace opgen_kernels::odds_cpp
