// arithmetic.h: arithmetic and comparisons that the formulas of a derivatives.yaml may use in a
// library that has no such operators itself. They broadcast, promote dtypes, and have gradients and
// tangents as PyTorch's, and they are dispatched like all operators; they are not made for speed.
#pragma once

#include "opgen/tensor/tensor.h"

namespace opgen::primitive {

[[nodiscard]] OPGEN_API TensorBase sub(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase mul(const TensorBase& a, const TensorBase& b);
// Integers are divided as floating-point numbers.
[[nodiscard]] OPGEN_API TensorBase div(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase neg(const TensorBase& a);
// Returns `a` itself if it is not complex, as real() does; no view in any case.
[[nodiscard]] OPGEN_API TensorBase conj(const TensorBase& a);
[[nodiscard]] OPGEN_API TensorBase real(const TensorBase& a);

// Return tensors of dtype Bool. Those for an order throw NotImplementedError for complex tensors.
[[nodiscard]] OPGEN_API TensorBase eq(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase ne(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase lt(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase le(const TensorBase& a, const TensorBase& b);
// Bit by bit; for integers and Bool.
[[nodiscard]] OPGEN_API TensorBase bitwise_and(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase bitwise_or(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase bitwise_xor(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase bitwise_not(const TensorBase& a);
// Elements of `a` where `condition`, a tensor of dtype Bool, is true, and of `b` elsewhere.
[[nodiscard]] OPGEN_API TensorBase where(const TensorBase& condition, const TensorBase& a,
                                         const TensorBase& b);

}  // namespace opgen::primitive
