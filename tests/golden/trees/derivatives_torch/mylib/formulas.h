// formulas.h: the functions of derivatives.yaml.
#pragma once

#include <ATen/core/Tensor.h>

namespace mylib {

std::tuple<at::Tensor, at::Tensor> low_high_backward(const at::Tensor& grad_low,
                                                     const at::Tensor& grad_high,
                                                     c10::SymIntArrayRef sizes,
                                                     const at::Tensor& index,
                                                     const std::optional<at::Tensor>& weight,
                                                     std::array<bool, 2> grad_input_mask = {});
at::Tensor join_of_tangents(at::TensorList tensors, int64_t dim);
#ifdef MYLIB_WITH_JOIN
std::vector<at::Tensor> split_as(const at::Tensor& grad,
                                 const std::vector<std::vector<c10::SymInt>>& sizes, int64_t dim);
#endif
// Defined here.
inline at::Tensor row_backward(const at::Tensor& grad, c10::SymIntArrayRef, int64_t) {
  return grad;
}
// Exported by another library.
TORCH_API at::Tensor row_backward_cuda(const at::Tensor& grad, c10::SymIntArrayRef, int64_t);

}  // namespace mylib
