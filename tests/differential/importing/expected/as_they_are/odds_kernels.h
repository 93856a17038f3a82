// The kernels that odds.yaml names, as their sources define them.
// Written by opgen import.
#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>

namespace opgen_kernels::odds_cpp {

at::Tensor odds_hidden_away(const at::Tensor& x);
at::Tensor odds_known_here(const at::Tensor& x);
void odds_two_kinds(at::Tensor& x, int64_t n);
at::Tensor odds_Times_call(const at::Tensor& x, const at::Tensor& y);

}  // namespace opgen_kernels::odds_cpp
