// compare.h: compares the elements of two tensors without operators.
#pragma once

#include "opgen/core/macros.h"

namespace opgen {

class TensorBase;

namespace tensor_functions {

// Returns whether both have the same sizes and elements; NaN differs from itself. Throws Error if
// dtypes or devices differ.
[[nodiscard]] OPGEN_API bool equal(const TensorBase& a, const TensorBase& b);
// Returns whether |a - b| <= atol + rtol * |b| for all elements, after broadcasting. Infinity is
// close only to itself; with `equal_nan`, NaN is close to NaN. Throws Error if dtypes or devices
// differ, or if a tolerance is negative.
[[nodiscard]] OPGEN_API bool allclose(const TensorBase& a, const TensorBase& b, double rtol = 1e-05,
                                      double atol = 1e-08, bool equal_nan = false);

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)

}  // namespace opgen
