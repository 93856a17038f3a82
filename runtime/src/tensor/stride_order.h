// stride_order.h: the order of dimensions that strides express: memory formats, dense tensors.
#pragma once

#include <cstdint>

#include "opgen/core/array_ref.h"
#include "opgen/core/enumerations.h"
#include "opgen/core/small_vector.h"

namespace opgen::detail {

// Returns the stride of the next outer dimension after a dimension with this stride and size; size
// 0 counts as 1. Saturates at the largest int64_t, which happens only for empty tensors, whose
// strides do not matter.
constexpr std::int64_t next_stride(std::int64_t stride, std::int64_t size) noexcept {
  std::int64_t next = 0;
  return __builtin_mul_overflow(stride, size > 1 ? size : 1, &next) ? INT64_MAX : next;
}

// Row-major strides, in elements; a size of zero counts as one.
OPGEN_API void contiguous_strides(IntArrayRef sizes, DimVector& strides);
// For sizes (N, C, H, W) or (N, C, D, H, W).
OPGEN_API void strides_for_format(IntArrayRef sizes, MemoryFormat format, DimVector& strides);

// Whether the elements lie without gaps in the order of ChannelsLast or ChannelsLast3d.
[[nodiscard]] OPGEN_API bool has_channels_last_strides(IntArrayRef sizes, IntArrayRef strides,
                                                       MemoryFormat format) noexcept;
// Whether the strides are ordered as channels-last, with gaps allowed; ambiguous shapes count as
// contiguous.
[[nodiscard]] OPGEN_API bool is_strides_like(IntArrayRef sizes, IntArrayRef strides,
                                             MemoryFormat format) noexcept;
// Whether no two elements share memory and the elements fill one range of memory.
[[nodiscard]] OPGEN_API bool is_non_overlapping_and_dense(IntArrayRef sizes,
                                                          IntArrayRef strides) noexcept;

}  // namespace opgen::detail
