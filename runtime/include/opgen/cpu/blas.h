// blas.h: matrix products with a BLAS library that is found at run time, by its name or by
// $OPGEN_BLAS_LIBRARY.
#pragma once

#include <cstdint>

#include "opgen/core/scalar.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

// Returns the name of the library in use; null if there is none. The first call loads it: the
// library that $OPGEN_BLAS_LIBRARY names (`none`: no library; throws ValueError if it is not a
// BLAS), else the one that CMake found (option OPGEN_BLAS), OpenBLAS, MKL or BLIS, by name. Its
// integers may have 32 or 64 bits.
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

// Returns whether blas_gemm can compute this product. It does if there is a BLAS, if the dtype is
// float, double or a complex of these, if each matrix has stride 1 in one of its dimensions (it may
// be transposed, and may have gaps between rows or columns), and if the product is large enough to
// be faster. A BLAS keeps its number of threads, which other libraries of the process share: it is
// not used where this thread may use fewer (in parallel_for, one). MKL's are set for this thread.
[[nodiscard]] OPGEN_API bool blas_takes(const MatrixView& a, const MatrixView& b,
                                        const MatrixView& out);
// Computes out = beta * out + alpha * a * b, without reading `out` if beta is 0. Returns false, and
// changes nothing, for a product for which blas_takes() is false.
[[nodiscard]] OPGEN_API bool blas_gemm(const MatrixView& a, const MatrixView& b,
                                       const MatrixView& out, const Scalar& beta = 0,
                                       const Scalar& alpha = 1);

}  // namespace opgen
