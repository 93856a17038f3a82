// primitives.h: the few operators that the runtime itself needs, namespace opgen: for gradients
// that add up, casts of autocast, and the loop of vmap. They are dispatched as all others are.
#pragma once

#include <vector>

#include "opgen/tensor.h"

namespace opgen::primitive {

[[nodiscard]] OPGEN_API TensorBase add(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase cast(const TensorBase& self, ScalarType dtype);
// Broadcasts to, and sums down to, `sizes`.
[[nodiscard]] OPGEN_API TensorBase expand(const TensorBase& self, IntArrayRef sizes);
[[nodiscard]] OPGEN_API TensorBase sum_to(const TensorBase& self, IntArrayRef sizes);
// Views. A dimension may be negative.
[[nodiscard]] OPGEN_API TensorBase select(const TensorBase& self, std::int64_t dim,
                                          std::int64_t index);
[[nodiscard]] OPGEN_API TensorBase unsqueeze(const TensorBase& self, std::int64_t dim);
[[nodiscard]] OPGEN_API TensorBase movedim(const TensorBase& self, std::int64_t from,
                                           std::int64_t to);
// Tensors of one shape along a new dimension.
[[nodiscard]] OPGEN_API TensorBase stack(const std::vector<TensorBase>& tensors, std::int64_t dim);

}  // namespace opgen::primitive
