// formulas.h: functions of derivatives.yaml.

#pragma once

#include <ATen/core/Tensor.h>

namespace cert_torch {

at::Tensor scale_grad_backward(const at::Tensor& grad, double by);
at::Tensor mean_scale_backward(const at::Tensor& grad, double by);
at::Tensor ok_row_backward(const at::Tensor& grad, c10::SymIntArrayRef sizes, int64_t row);

}  // namespace cert_torch
