// softmax.cpp: the lines of a tensor along a dimension.
#include "opgen/cpu/softmax.h"

namespace opgen::detail {

Lines::Lines(const TensorBase& in, const TensorBase& out, std::int64_t dim) {
  const TensorBase* tensors[] = {&in, &out};
  // The last dimension but `dim` is across, because it is the fastest of most tensors.
  const std::int64_t ndim = in.dim();
  std::int64_t beside = ndim - 1;
  while (beside >= 0 && (beside == dim || in.size(beside) == 1)) --beside;
  for (std::int64_t d = 0; d < ndim; ++d) {
    if (d != dim && d != beside) {
      sizes.push_back(in.size(d));
      others *= in.size(d);
    }
    for (int k = 0; k < 2; ++k) {
      const std::int64_t stride = tensors[k]->stride(d) * std::int64_t(in.element_size());
      if (d == dim) {
        strides[k] = stride;
      } else if (d == beside) {
        across_strides[k] = stride;
      } else {
        other_strides[k].push_back(stride);
      }
    }
  }
  if (dim < ndim) length = in.size(dim);
  if (beside >= 0) across = in.size(beside);
}

std::int64_t Lines::offset(int operand, std::int64_t i) const noexcept {
  std::int64_t result = 0;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    result += i % sizes[d] * other_strides[operand][d];
    i /= sizes[d];
  }
  return result;
}

}  // namespace opgen::detail
