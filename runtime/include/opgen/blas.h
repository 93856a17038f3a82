// blas.h: products of matrices by a BLAS, where one was found when the runtime was configured
// (CMake option OPGEN_BLAS) and is still there.
#pragma once

#include "opgen/tensor.h"

namespace opgen::detail {

// The name of the library in use; null if there is none. Loaded on the first call.
[[nodiscard]] OPGEN_API const char* blas_library();

// out = a * b for matrices of float or double, each with elements side by side along one dimension.
// False, and nothing done, for other dtypes, strides and sizes, and without a BLAS.
[[nodiscard]] OPGEN_API bool blas_mm(const TensorBase& a, const TensorBase& b,
                                     const TensorBase& out);

}  // namespace opgen::detail
