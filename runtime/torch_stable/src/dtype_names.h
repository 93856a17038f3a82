// dtype_names.h: dtypes as PyTorch's messages name them. Internal.
#pragma once

#include "opgen/core/scalar_type.h"

namespace opgen::detail {

// "long int": the C++ type, as in messages about the dtype of a tensor.
[[nodiscard]] const char* cpp_name(ScalarType type) noexcept;

}  // namespace opgen::detail
