// dim_mask.h: a set of dimensions as a mask of bits. Both targets use it, each with its own
// OPGEN_CHECK and lists of sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/error.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

namespace tensor_functions {

// Bit d stands for dimension d.
using DimMask = std::uint64_t;
inline constexpr std::int64_t kMaxMaskDims = 64;
[[nodiscard]] constexpr bool has_dim(DimMask mask, std::int64_t dim) noexcept {
  return dim < kMaxMaskDims && ((mask >> dim) & 1u) != 0;
}

// Absent or empty `dims` mean all dimensions, unless `empty_means_none`. Throws Error if a
// dimension appears twice.
[[nodiscard]] inline DimMask make_dim_mask(OptionalIntArrayRef dims, std::int64_t ndim,
                                           bool empty_means_none = false) {
  OPGEN_CHECK(ndim <= kMaxMaskDims, "tensors with more than ", kMaxMaskDims,
              " dimensions cannot be reduced, but this one has ", ndim);
  if (!dims.has_value() || (dims->empty() && !empty_means_none)) {
    return ndim == kMaxMaskDims ? ~DimMask(0) : (DimMask(1) << ndim) - 1;
  }
  DimMask mask = 0;
  for (const std::int64_t dim : *dims) {
    const DimMask bit = DimMask(1) << maybe_wrap_dim(dim, ndim);
    OPGEN_CHECK((mask & bit) == 0, "dimension ", dim, " appears twice in ", *dims);
    mask |= bit;
  }
  return mask;
}

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)

namespace detail {

// See shape_from_dim_mask().
template <class Shape, class Numbers>
[[nodiscard]] Shape shape_of_mask(const Numbers& sizes, DimMask mask, bool keepdim) {
  Shape shape;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!has_dim(mask, static_cast<std::int64_t>(d))) {
      shape.push_back(sizes[d]);
    } else if (keepdim) {
      shape.push_back(1);
    }
  }
  return shape;
}

}  // namespace detail

namespace tensor_functions {

// Returns the shape of a reduction over the masked dimensions.
[[nodiscard]] inline DimVector shape_from_dim_mask(IntArrayRef sizes, DimMask mask, bool keepdim) {
  return detail::shape_of_mask<DimVector>(sizes, mask, keepdim);
}

}  // namespace tensor_functions
}  // namespace opgen
