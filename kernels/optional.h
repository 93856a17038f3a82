// optional.h: optional tensors. A call may leave one out, or pass an undefined tensor.
#pragma once

#include <optional>

#include <opgen/kernel.h>

namespace kernels {

inline bool is_given(const std::optional<opgen::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined();
}

inline opgen::Tensor tensor_or_undefined(const std::optional<opgen::Tensor>& tensor) {
  return is_given(tensor) ? *tensor : opgen::Tensor();
}

}  // namespace kernels
