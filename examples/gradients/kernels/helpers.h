// helpers.h: what the formulas of derivatives.yaml share.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>

#include <vector>

namespace graded {

using at::Tensor;

// y = x w r, where r = (mean(x^2) + eps)^(-1/2).
inline Tensor rms_norm_jvp(const Tensor& input_t, const Tensor& input_p, const Tensor& weight_t,
                           const Tensor& weight_p, double eps) {
  const Tensor r = ((input_p * input_p).mean(-1, true) + eps).rsqrt();
  Tensor result = r * input_t - r.pow(3) * (input_p * input_t).mean(-1, true) * input_p;
  if (weight_p.defined()) result = result * weight_p;
  return weight_t.defined() ? result + input_p * r * weight_t : result;
}

// The values one step earlier.
inline Tensor delayed(const Tensor& self) {
  return at::constant_pad_nd(self.slice(-1, 0, -1), {1, 0});
}

inline Tensor minmax_backward(const Tensor& grad_min, const Tensor& grad_max,
                              c10::SymIntArrayRef sizes, int64_t dim, const Tensor& argmin,
                              const Tensor& argmax) {
  return at::zeros_symint(sizes, grad_min.options())
      .scatter_add(dim, argmin.unsqueeze(dim), grad_min.unsqueeze(dim))
      .scatter_add(dim, argmax.unsqueeze(dim), grad_max.unsqueeze(dim));
}

inline std::vector<Tensor> weighted_total_backward(
    const Tensor& grad, const std::vector<std::vector<c10::SymInt>>& sizes,
    at::ArrayRef<double> weights) {
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    results.push_back((grad * weights[i]).expand_symint(sizes[i]));
  }
  return results;
}

}  // namespace graded
