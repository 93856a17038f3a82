// softmax.cpp: the lines of a tensor along a dimension.
#include "opgen/cpu/softmax.h"

namespace opgen::detail {

Lines::Lines(std::initializer_list<const TensorBase*> tensors, std::int64_t dim) {
  const TensorBase& model = **tensors.begin();
  // The last dimension but `dim` is across, because it is the fastest of most tensors.
  const std::int64_t ndim = model.dim();
  std::int64_t beside = ndim - 1;
  while (beside >= 0 && (beside == dim || model.size(beside) == 1)) --beside;
  for (std::int64_t d = 0; d < ndim; ++d) {
    if (d != dim && d != beside) {
      sizes.push_back(model.size(d));
      others *= model.size(d);
    }
    std::size_t k = 0;
    for (const TensorBase* tensor : tensors) {
      const std::int64_t stride = tensor->stride(d) * std::int64_t(tensor->element_size());
      if (d == dim) {
        strides[k] = stride;
      } else if (d == beside) {
        across_strides[k] = stride;
      } else {
        other_strides[k].push_back(stride);
      }
      ++k;
    }
  }
  if (dim < ndim) length = model.size(dim);
  if (beside >= 0) across = model.size(beside);
  // Dimensions that continue the one across become part of it.
  const std::size_t operands = tensors.size();
  const auto continues = [&] {
    for (std::size_t k = 0; k < operands; ++k) {
      if (other_strides[k].back() != across * across_strides[k]) return false;
    }
    return true;
  };
  while (!sizes.empty() && continues()) {
    across *= sizes.back();
    others /= sizes.back();
    sizes.pop_back();
    for (std::size_t k = 0; k < operands; ++k) other_strides[k].pop_back();
  }
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
