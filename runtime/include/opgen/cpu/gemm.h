// gemm.h: products of matrices and vectors without a BLAS: blocked, vectorised and in parallel, for
// float, double, the half types, which are computed as floats, and integers, which wrap around. The
// results do not depend on the number of threads. Processors with AVX512-BF16 take products of
// bfloat16 below 2^-126 for zeros.
#pragma once

#include <cstdint>

#include "opgen/core/function_ref.h"
#include "opgen/cpu/blas.h"

namespace opgen {

// Receives elements (i, j) to (i, j + n - 1) of a product, on several threads.
template <class W>
using FinishRow = FunctionRef<void(std::int64_t i, std::int64_t j, const W* sums, std::int64_t n)>;

// Computes a * b, any strides, and passes each element to `finish` once. Both have the same dtype,
// Float, Half or BFloat16.
OPGEN_API void multiply_matrices(const MatrixView& a, const MatrixView& b, FinishRow<float> finish);
// The same for Double.
OPGEN_API void multiply_matrices(const MatrixView& a, const MatrixView& b,
                                 FinishRow<double> finish);
// The same for Byte, Char, Short and Int: the last bits of the sums.
OPGEN_API void multiply_matrices(const MatrixView& a, const MatrixView& b,
                                 FinishRow<std::uint32_t> finish);
// The same for Long.
OPGEN_API void multiply_matrices(const MatrixView& a, const MatrixView& b,
                                 FinishRow<std::uint64_t> finish);

// A vector in memory; the stride in elements.
struct VectorView {
  const void* data;
  ScalarType dtype;
  std::int64_t size, stride;
};

// Returns the sum of products of two vectors of the same length and floating dtype, added
// pairwise, so that the rounding error grows with the logarithm of the length.
[[nodiscard]] OPGEN_API double dot_product(const VectorView& a, const VectorView& b);

}  // namespace opgen
