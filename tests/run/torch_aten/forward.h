// forward.h: ATen's out= operators that the kernels hand over to, and how their arguments are made.
#pragma once

#include <optional>
#include <vector>

#include <opgen/tensor.h>

using namespace opgen::types;

namespace {

// ATen's out= operators take what they write first, and not const.
inline Tensor& writable(const Tensor& out) {
  return const_cast<Tensor&>(out);
}

inline std::optional<Tensor> given(const OptionalTensorRef& tensor) {
  return tensor.has_value() ? std::make_optional(*tensor) : std::nullopt;
}

}  // namespace
