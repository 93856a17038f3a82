// shape_utils.h: arithmetic on sizes and strides that metas and kernels share.
//   maybe_wrap_dim, maybe_wrap_dims, make_dim_mask, shape_from_dim_mask: dimensions
//   infer_size: the shape that two broadcast to, or a view's -1
//   is_expandable_to, infer_expand_geometry, expand_view, as_strided
//   contiguous_strides, strides_for_format, infer_dense_strides, computeStride
//   multiply_integers, check_sizes_nonnegative, checked_storage_bytes, storage_elements
#pragma once

#include <cstdint>
#include <optional>

#include "opgen/array_ref.h"
#include "opgen/memory_format.h"
#include "opgen/small_vector.h"
#include "opgen/tensor.h"

namespace opgen::detail {

using opgen::maybe_wrap_dim;
[[nodiscard]] OPGEN_API DimVector maybe_wrap_dims(IntArrayRef dims, std::int64_t ndim,
                                                  bool wrap_scalar = true);

// Bit d stands for dimension d. Absent or empty `dims` mean all of them unless `empty_means_none`.
// Throws if a dimension is named twice.
using DimMask = std::uint64_t;
inline constexpr std::int64_t kMaxMaskDims = 64;
[[nodiscard]] OPGEN_API DimMask make_dim_mask(OptionalIntArrayRef dims, std::int64_t ndim,
                                              bool empty_means_none = false);
[[nodiscard]] constexpr bool has_dim(DimMask mask, std::int64_t dim) noexcept {
  return dim < kMaxMaskDims && ((mask >> dim) & 1u) != 0;
}
// The shape of a reduction over the masked dimensions.
[[nodiscard]] OPGEN_API DimVector shape_from_dim_mask(IntArrayRef sizes, DimMask mask,
                                                      bool keepdim);

// The shape that both broadcast to. Throws.
[[nodiscard]] OPGEN_API DimVector infer_size(IntArrayRef a, IntArrayRef b);
// The shape of a view of `numel` elements, where one size may be -1. Throws.
[[nodiscard]] OPGEN_API DimVector infer_size(IntArrayRef shape, std::int64_t numel);
[[nodiscard]] OPGEN_API bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) noexcept;

struct Geometry {
  DimVector sizes;
  DimVector strides;
};
// Sizes (where -1 keeps one) and strides of expand(); broadcast dimensions get stride 0. Throws.
[[nodiscard]] OPGEN_API Geometry infer_expand_geometry(IntArrayRef sizes, IntArrayRef strides,
                                                       IntArrayRef desired);
// The view that expand() gives.
[[nodiscard]] OPGEN_API TensorBase expand_view(const TensorBase& self, IntArrayRef desired);

// Another view of the same storage; strides and offset in elements, the offset the tensor's own if
// absent. Error if they are negative, differ in number from the sizes, or leave the storage.
[[nodiscard]] OPGEN_API TensorBase
as_strided(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
           std::optional<std::int64_t> storage_offset = std::nullopt);

// The product; throws if it does not fit.
[[nodiscard]] OPGEN_API std::int64_t multiply_integers(IntArrayRef sizes);
OPGEN_API void check_sizes_nonnegative(IntArrayRef sizes);
// How many bytes a storage must hold: one past the last element that can be addressed; 0 for an
// empty tensor. Strides and offset count elements. Whoever lays a tensor out on a storage, or makes
// or resizes a storage for it, asks here first. ValueError if a size or the offset is negative, or
// negative strides lead before the first byte; Error if sizes and strides differ in number, or the
// bytes do not fit 63 bits.
[[nodiscard]] OPGEN_API std::size_t checked_storage_bytes(IntArrayRef sizes, IntArrayRef strides,
                                                          std::int64_t storage_offset,
                                                          std::size_t itemsize);
// The same in elements.
[[nodiscard]] OPGEN_API std::int64_t storage_elements(IntArrayRef sizes, IntArrayRef strides,
                                                      std::int64_t storage_offset = 0);

// Strides in row-major order, or of a format that is not Preserve (elements, not bytes).
[[nodiscard]] OPGEN_API DimVector contiguous_strides(IntArrayRef sizes);
[[nodiscard]] OPGEN_API DimVector strides_for_format(IntArrayRef sizes, MemoryFormat format);
// Dense strides in the order of the given ones: what empty_like gives for a tensor with gaps or
// overlaps.
[[nodiscard]] OPGEN_API DimVector infer_dense_strides(IntArrayRef sizes, IntArrayRef strides);

// Strides with which the same elements have the new shape, if there are any.
[[nodiscard]] OPGEN_API std::optional<DimVector> computeStride(IntArrayRef old_sizes,
                                                               IntArrayRef old_strides,
                                                               IntArrayRef new_sizes);

}  // namespace opgen::detail
