// The kernels that abacus.yaml names, as their sources define them.
// Written by opgen import.
#pragma once

#include <ATen/core/Tensor.h>

namespace abacus {

at::Tensor carry_cpu(const at::Tensor& a, const at::Tensor& b, double c);
at::Tensor carry_meta(const at::Tensor& a, const at::Tensor& b, double c);
at::Tensor carry_autograd(const at::Tensor& a, const at::Tensor& b, double c);
at::Tensor times_cpu(const at::Tensor& a, const at::Tensor& b);
void sum_out_cpu(const at::Tensor& a, const at::Tensor& b, at::Tensor& out);

}  // namespace abacus

namespace opgen_kernels::abacus_cpp {

at::Tensor abacus_Carry_call(const at::Tensor& a, const at::Tensor& b, double c);

}  // namespace opgen_kernels::abacus_cpp
