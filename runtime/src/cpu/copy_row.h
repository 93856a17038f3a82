// copy_row.h: copies and converts a row of elements. Internal.
#pragma once

#include <cstdint>

#include "opgen/core/scalar_type.h"

namespace opgen::detail {

// Sets n elements of operand 0, an output, to those of operand 1. Strides are in bytes.
using CopyRow = void (*)(char** data, const std::int64_t* strides, std::int64_t n);
// Returns the function for elements of these dtypes. Null in libraries for PyTorch's stable ABI,
// where PyTorch's copy_ converts whole tensors.
[[nodiscard]] CopyRow copy_row(ScalarType to, ScalarType from);

}  // namespace opgen::detail
