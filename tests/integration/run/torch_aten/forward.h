// forward.h: calls of ATen's out= operators by the kernels, and their arguments.
#pragma once

#include <optional>
#include <vector>

#include <opgen/tensor.h>

using namespace opgen::types;

namespace {

// ATen's out= operators take the written tensors first, and non-const.
inline Tensor& writable(const Tensor& out) {
  return const_cast<Tensor&>(out);
}

inline std::optional<Tensor> given(const OptionalTensorRef& tensor) {
  return tensor.has_value() ? std::make_optional(*tensor) : std::nullopt;
}

}  // namespace
