// formulas.h: the functions of derivatives.yaml.
#pragma once

#include <mylib/TensorBody.h>

namespace mylib {
using namespace opgen::types;

std::tuple<Tensor, Tensor> low_high_backward(const Tensor& grad_low, const Tensor& grad_high,
                                             opgen::IntArrayRef sizes, const Tensor& index,
                                             const std::optional<Tensor>& weight,
                                             std::array<bool, 2> grad_input_mask = {});
Tensor join_of_tangents(TensorList tensors, int64_t dim);
#ifdef MYLIB_WITH_JOIN
std::vector<Tensor> split_as(const Tensor& grad, const std::vector<std::vector<int64_t>>& sizes,
                             int64_t dim);
#endif
// Defined here.
inline Tensor row_backward(const Tensor& grad, opgen::IntArrayRef, int64_t) {
  return grad;
}
// Exported by another library.
OPGEN_API Tensor row_backward_cuda(const Tensor& grad, opgen::IntArrayRef, int64_t);

}  // namespace mylib
