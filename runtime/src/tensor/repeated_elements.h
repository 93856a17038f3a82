// repeated_elements.h: whether a tensor with gaps has an element twice. Internal.
#pragma once

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

// Returns whether two elements share memory. Compares all elements unless the strides decide.
[[nodiscard]] bool repeats_elements(const TensorBase& tensor);

}  // namespace opgen::detail
