// view_geometry.h: ViewGeometry, the sizes, strides and offset of a view, and how select, slice,
// transpose and unsqueeze change them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "opgen/core/small_vector.h"
#include "opgen/registration/types.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

// Strides and offset count elements. Dimensions are counted from the front and must exist: callers
// wrap and check them (maybe_wrap_dim), each with its own messages.
struct ViewGeometry {
  DimVector sizes;
  DimVector strides;
  std::int64_t storage_offset = 0;

  [[nodiscard]] static ViewGeometry of(const TensorBase& tensor) {
    return {DimVector(tensor.sizes()), DimVector(tensor.strides()), tensor.storage_offset()};
  }

  void append(std::int64_t size, std::int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
  void remove(std::int64_t dim) {
    sizes.erase(sizes.begin() + dim);
    strides.erase(strides.begin() + dim);
  }
  // Removes `dim` at `index`, 0 <= index < size.
  void select(std::int64_t dim, std::int64_t index) {
    storage_offset += index * strides[std::size_t(dim)];
    remove(dim);
  }
  // Returns the stride of a diagonal. That of a single element is not used, and may be too large.
  [[nodiscard]] static std::int64_t diagonal_stride(std::int64_t rows,
                                                    std::int64_t columns) noexcept {
    std::int64_t sum = 0;
    return __builtin_add_overflow(rows, columns, &sum) ? rows : sum;
  }
  // Keeps `count` elements of `dim`: start, start + step and so on.
  void slice(std::int64_t dim, std::int64_t start, std::int64_t count, std::int64_t step) {
    std::int64_t& stride = strides[std::size_t(dim)];
    storage_offset += start * stride;
    sizes[std::size_t(dim)] = count;
    stride = stepped_stride(stride, step);
  }
  // If the stride would overflow, there is no second element, so the stride is not used.
  [[nodiscard]] static std::int64_t stepped_stride(std::int64_t stride,
                                                   std::int64_t step) noexcept {
    std::int64_t stepped = 0;
    return __builtin_mul_overflow(stride, step, &stepped) ? stride : stepped;
  }
  void transpose(std::int64_t a, std::int64_t b) {
    std::swap(sizes[std::size_t(a)], sizes[std::size_t(b)]);
    std::swap(strides[std::size_t(a)], strides[std::size_t(b)]);
  }
  // Moves dimension `from` to position `to`; the others keep their order.
  void move(std::int64_t from, std::int64_t to) {
    for (; from < to; ++from) transpose(from, from + 1);
    for (; from > to; --from) transpose(from, from - 1);
  }
  // Adds a dimension of size 1 before `dim`; `dim` may be the number of dimensions.
  void unsqueeze(std::int64_t dim) {
    strides.insert(strides.begin() + dim, unsqueezed_stride(sizes, strides, dim));
    sizes.insert(sizes.begin() + dim, 1);
  }
  // Returns the stride of a new dimension of size 1: that of a step over all later dimensions, as
  // in PyTorch; 1 at the end.
  [[nodiscard]] static std::int64_t unsqueezed_stride(IntArrayRef sizes, IntArrayRef strides,
                                                      std::int64_t dim) noexcept {
    const auto d = static_cast<std::size_t>(dim);
    if (d == sizes.size()) return 1;
    // An empty tensor may have any strides; none of them is used.
    std::int64_t step = 0;
    return __builtin_mul_overflow(sizes[d], strides[d], &step) ? strides[d] : step;
  }
};

namespace detail {

// Returns a view of the storage of `base`. The geometry must fit the storage.
[[nodiscard]] inline TensorBase view_with(const TensorBase& base, const ViewGeometry& geometry) {
  return alias_with_sizes_and_strides(base, geometry.sizes, geometry.strides,
                                      geometry.storage_offset);
}

}  // namespace detail
}  // namespace opgen
