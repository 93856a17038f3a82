// primitives.h: the few operators that the runtime itself needs, in namespace opgen: for
// accumulating gradients, for autocast, and for the loop of vmap. They are dispatched like all
// others.
#pragma once

#include <vector>

#include "opgen/tensor/tensor.h"

namespace opgen::primitive {

[[nodiscard]] OPGEN_API TensorBase add(const TensorBase& a, const TensorBase& b);
[[nodiscard]] OPGEN_API TensorBase cast(const TensorBase& self, ScalarType dtype);
// Broadcasts to `sizes`, or sums to them.
[[nodiscard]] OPGEN_API TensorBase expand(const TensorBase& self, IntArrayRef sizes);
[[nodiscard]] OPGEN_API TensorBase sum_to(const TensorBase& self, IntArrayRef sizes);
// Return views. A dimension may be negative.
[[nodiscard]] OPGEN_API TensorBase select(const TensorBase& self, std::int64_t dim,
                                          std::int64_t index);
[[nodiscard]] OPGEN_API TensorBase unsqueeze(const TensorBase& self, std::int64_t dim);
[[nodiscard]] OPGEN_API TensorBase movedim(const TensorBase& self, std::int64_t from,
                                           std::int64_t to);
// Joins tensors of one shape along a new dimension.
[[nodiscard]] OPGEN_API TensorBase stack(const std::vector<TensorBase>& tensors, std::int64_t dim);

// ---- Sums of gradients: not operators -----------------------------------------------------------

// Returns whether this handle is the only owner of the tensor and its bytes, and no two elements
// share memory.
[[nodiscard]] inline bool is_unshared(const TensorBase& tensor) noexcept {
  return tensor.use_count() == 1 && tensor.has_storage() &&
         tensor.unsafeGetTensorImpl()->storage()->use_count() == 1 &&
         tensor.is_non_overlapping_and_dense();
}
// Adds `more` to `sum` in place and returns true if both are plain CPU tensors with the same shape
// and dtype, which require no gradient and have no tangent. Otherwise does nothing and returns
// false.
[[nodiscard]] OPGEN_API bool add_in_place(const TensorBase& sum, const TensorBase& more);

}  // namespace opgen::primitive
