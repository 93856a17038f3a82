// derived_formulas.h: the formulas of derivatives.yaml that are longer than a line.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace derived {

inline std::vector<at::Tensor> weigh_tensors_backward(const at::Tensor& grad,
                                                      const at::Tensor& weight, std::size_t count) {
  return std::vector<at::Tensor>(count, grad * weight);
}
inline at::Tensor weigh_weight_backward(const at::Tensor& grad, at::TensorList tensors) {
  at::Tensor sum = at::zeros_like(grad);
  for (const at::Tensor& tensor : tensors) sum = sum + tensor * grad;
  return sum;
}
inline at::Tensor weigh_forward(at::TensorList tensors, const at::Tensor& weight,
                                const at::Tensor& weight_t) {
  at::Tensor sum = at::zeros_like(weight);
  for (const at::Tensor& tensor : tensors) {
    sum = sum + tensor._fw_primal(0) * weight_t;
    if (tensor._fw_grad(0).defined()) sum = sum + tensor._fw_grad(0) * weight;
  }
  return sum;
}

inline at::Tensor powers_backward(at::TensorList grads, const at::Tensor& self) {
  at::Tensor sum = at::zeros_like(self);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    const auto exponent = static_cast<std::int64_t>(i);
    if (grads[i].defined()) sum = sum + grads[i] * (exponent + 1) * self.pow(exponent);
  }
  return sum;
}
inline std::vector<at::Tensor> powers_forward(const at::Tensor& self, const at::Tensor& self_t,
                                              std::int64_t count) {
  std::vector<at::Tensor> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(self_t * (i + 1) * self.pow(i));
  return all;
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> affine_backward(const at::Tensor& grad,
                                                                      const at::Tensor& input,
                                                                      const at::Tensor& weight,
                                                                      std::array<bool, 3> mask) {
  std::tuple<at::Tensor, at::Tensor, at::Tensor> all;
  if (mask[0]) std::get<0>(all) = weight.defined() ? grad * weight : grad;
  if (mask[1]) std::get<1>(all) = grad * input;
  if (mask[2]) std::get<2>(all) = grad;
  return all;
}
inline at::Tensor affine_forward(const at::Tensor& input, const at::Tensor& input_t,
                                 const at::Tensor& weight, const at::Tensor& weight_t,
                                 const at::Tensor& bias_t) {
  const at::Tensor product = weight.defined() ? input_t * weight + input * weight_t : input_t * 1;
  return bias_t.defined() ? product + bias_t : product;
}

inline at::Tensor from_row_backward(const at::Tensor& grad, c10::SymIntArrayRef sizes,
                                    const c10::SymInt& start) {
  return at::slice_backward_symint(grad, sizes, 0, start, sizes[0], 1);
}

// `by` is never an optional that holds an undefined tensor.
inline at::Tensor shift_backward(const at::Tensor& grad, const std::optional<at::Tensor>& by) {
  TORCH_CHECK(!by.has_value() || by->defined(), "an undefined tensor");
  return by.has_value() ? grad : grad * 1;
}

inline at::Tensor mixed_backward(at::TensorList grads) {
  at::Tensor sum = grads[0] * 2;
  for (std::size_t i = 1; i < grads.size(); ++i) sum = sum + grads[i] * static_cast<double>(i);
  return sum;
}

}  // namespace derived
