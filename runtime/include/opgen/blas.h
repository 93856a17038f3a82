// blas.h: products of matrices by a BLAS, where one was found when the runtime was configured
// (CMake option OPGEN_BLAS) and is still there.
#pragma once

#include <cstdint>

#include "opgen/scalar.h"
#include "opgen/tensor.h"

namespace opgen::detail {

// The name of the library in use; null if there is none. Loaded on the first call.
[[nodiscard]] OPGEN_API const char* blas_library();

// A matrix in memory; strides in elements.
struct MatrixView {
  void* data;
  ScalarType dtype;
  std::int64_t rows, columns, row_stride, column_stride;

  OPGEN_API explicit MatrixView(const TensorBase& matrix);
  // Matrix i of a batch of three dimensions.
  OPGEN_API MatrixView(const TensorBase& batch, std::int64_t i);
};

// Whether blas_gemm computes this product: of float, double or complex of them, with elements side
// by side along one dimension of each matrix (transposed operands, and gaps between rows or
// columns, need no copy), and large enough to be worth it. False without a BLAS.
[[nodiscard]] OPGEN_API bool blas_takes(const MatrixView& a, const MatrixView& b,
                                        const MatrixView& out);
// out = beta * out + alpha * a * b; with beta 0 nothing of `out` is read. Else false, and nothing
// is done.
[[nodiscard]] OPGEN_API bool blas_gemm(const MatrixView& a, const MatrixView& b,
                                       const MatrixView& out, const Scalar& beta = 0,
                                       const Scalar& alpha = 1);

}  // namespace opgen::detail

namespace opgen {

using detail::blas_gemm;
using detail::blas_library;
using detail::blas_takes;
using detail::MatrixView;

}  // namespace opgen
