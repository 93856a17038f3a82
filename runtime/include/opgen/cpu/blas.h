// blas.h: products of matrices by a BLAS library, if one was found when the runtime was configured
// (CMake option OPGEN_BLAS) and can be loaded when the program runs.
#pragma once

#include <cstdint>

#include "opgen/core/scalar.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

// Returns the name of the library in use; null if there is none. The first call loads it.
[[nodiscard]] OPGEN_API const char* blas_library();

// A matrix in memory; strides in elements.
struct MatrixView {
  void* data;
  ScalarType dtype;
  std::int64_t rows, columns, row_stride, column_stride;

  OPGEN_API explicit MatrixView(const TensorBase& matrix);
  // Matrix i of a tensor of three dimensions.
  OPGEN_API MatrixView(const TensorBase& batch, std::int64_t i);
};

// Whether blas_gemm computes this product. It does if there is a BLAS, if the dtype is float,
// double or a complex of these, if each matrix has stride 1 in one of its dimensions (it may be
// transposed, and may have gaps between rows or columns), and if the product is large enough to be
// faster.
[[nodiscard]] OPGEN_API bool blas_takes(const MatrixView& a, const MatrixView& b,
                                        const MatrixView& out);
// Computes out = beta * out + alpha * a * b, without reading `out` if beta is 0. Returns false, and
// changes nothing, for a product that blas_takes refuses.
[[nodiscard]] OPGEN_API bool blas_gemm(const MatrixView& a, const MatrixView& b,
                                       const MatrixView& out, const Scalar& beta = 0,
                                       const Scalar& alpha = 1);

}  // namespace opgen
