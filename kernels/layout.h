// layout.h: copies of a tensor with its strides, gaps between elements included, and room for its
// parts.
#pragma once

#include "common.h"

namespace kernels {

// Returns a tensor with the strides of `self`, whose elements are not set. Elements that share
// memory get memory of their own.
inline Tensor empty_in_layout(const TensorBase& self) {
  if (opgen::has_internal_overlap(self) == opgen::MemOverlap::Yes) {
    return opgen::empty(self.sizes(), self.options());
  }
  return opgen::empty_strided(self.sizes(), self.strides(), self.options());
}

// Throws Error if so many parts cannot fit into memory, before the first one is made: the size of
// an expanded tensor and the number of sections have no limit.
inline std::vector<Tensor> room_for(int64_t count) {
  OPGEN_CHECK(count < int64_t(1) << 28, count, " parts do not fit into any memory");
  std::vector<Tensor> parts;
  parts.reserve(static_cast<size_t>(count));
  return parts;
}

// Returns the number of elements from the first to the last, those in gaps included.
inline int64_t extent_of(const TensorBase& self) {
  int64_t extent = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 0) return 0;
    extent += (self.size(d) - 1) * self.stride(d);
  }
  return extent;
}

// Returns a copy with the same strides, unless elements share memory. Small gaps are copied with
// the elements, which is faster than to skip them.
inline Tensor clone_in_layout(const TensorBase& self) {
  Tensor copy = empty_in_layout(self);
  constexpr int64_t most_gaps = 4;
  const int64_t extent = extent_of(self);
  const bool has_gaps = extent > self.numel() && extent <= most_gaps * self.numel();
  if (has_gaps && same_sizes(copy.strides(), self.strides()) && !self.is_meta()) {
    const auto all = [extent](const TensorBase& x) {
      return opgen::as_strided(x, {extent}, {1}, x.storage_offset());
    };
    opgen::copy_(all(copy), all(self));
  } else {
    opgen::copy_(copy, self);
  }
  return copy;
}

}  // namespace kernels
