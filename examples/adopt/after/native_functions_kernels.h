// The kernels that native_functions.yaml names, as their sources define them.
// Written by opgen import.
#pragma once

#include <ATen/core/Tensor.h>

namespace fuse {

at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double c);
at::Tensor mul_cpu(const at::Tensor& a, const at::Tensor& b);
void add_out_cpu(const at::Tensor& a, const at::Tensor& b, at::Tensor& out);

}  // namespace fuse
