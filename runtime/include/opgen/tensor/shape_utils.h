// shape_utils.h: arithmetic on sizes and strides for meta functions and kernels.
#pragma once

#include <cstdint>
#include <optional>

#include "opgen/core/array_ref.h"
#include "opgen/core/enumerations.h"
#include "opgen/core/small_vector.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

namespace tensor_functions {

[[nodiscard]] OPGEN_API DimVector maybe_wrap_dims(IntArrayRef dims, std::int64_t ndim,
                                                  bool wrap_scalar = true);

[[nodiscard]] OPGEN_API bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) noexcept;

struct Geometry {
  DimVector sizes;
  DimVector strides;
};
// Returns the sizes (-1 keeps a size) and strides, in elements, of expand(). Broadcast dimensions
// have stride 0. Throws Error if the sizes cannot be expanded.
[[nodiscard]] OPGEN_API Geometry infer_expand_geometry(IntArrayRef sizes, IntArrayRef strides,
                                                       IntArrayRef desired);
// Returns the product. Throws Error if it overflows.
[[nodiscard]] OPGEN_API std::int64_t multiply_integers(IntArrayRef sizes);
OPGEN_API void check_sizes_nonnegative(IntArrayRef sizes);
// Returns how many bytes a storage must have for these sizes: up to the end of
// the last element; 0 for an empty tensor. Strides and offset count elements.
// Call it before a tensor is placed on a storage, and before a storage is
// created or resized for it. Throws ValueError if a size or the offset is
// negative, or if negative strides reach before the first byte; Error if sizes
// and strides differ in number, or if the number of bytes does not fit into 63 bits.
[[nodiscard]] OPGEN_API std::size_t checked_storage_bytes(IntArrayRef sizes, IntArrayRef strides,
                                                          std::int64_t storage_offset,
                                                          std::size_t itemsize);
// The same, counted in elements.
[[nodiscard]] OPGEN_API std::int64_t storage_elements(IntArrayRef sizes, IntArrayRef strides,
                                                      std::int64_t storage_offset = 0);

// Returns row-major strides, in elements.
[[nodiscard]] OPGEN_API DimVector contiguous_strides(IntArrayRef sizes);
// Returns dense strides in the order of the given ones, which may have gaps or overlap.
[[nodiscard]] OPGEN_API DimVector infer_dense_strides(IntArrayRef sizes, IntArrayRef strides);

// Returns strides with which a view of the same elements has the new shape, if there are any.
[[nodiscard]] OPGEN_API std::optional<DimVector> computeStride(IntArrayRef old_sizes,
                                                               IntArrayRef old_strides,
                                                               IntArrayRef new_sizes);

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)

namespace detail {

// Returns the shape to which both broadcast. Throws Error if they do not broadcast.
[[nodiscard]] OPGEN_API DimVector infer_size(IntArrayRef a, IntArrayRef b);
// `dim`: the dimension of the result in which the sizes differ.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_no_broadcast(IntArrayRef a, IntArrayRef b,
                                                          std::size_t dim);
// Returns the shape of a view of `numel` elements, where one size may be -1. Throws Error if there
// is none.
[[nodiscard]] OPGEN_API DimVector infer_size(IntArrayRef shape, std::int64_t numel);
// Returns the same view as expand().
[[nodiscard]] OPGEN_API TensorBase expand_view(const TensorBase& self, IntArrayRef desired);

// Returns a view of the same storage. Strides and offset count elements; if the offset is absent,
// the tensor's offset is used. Throws Error if one is negative, if sizes and strides differ in
// number, or if the view reaches outside of the storage.
[[nodiscard]] OPGEN_API TensorBase
as_strided(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
           std::optional<std::int64_t> storage_offset = std::nullopt);

// Returns the strides of a format other than Preserve, in elements.
[[nodiscard]] OPGEN_API DimVector strides_for_format(IntArrayRef sizes, MemoryFormat format);

}  // namespace detail
}  // namespace opgen
