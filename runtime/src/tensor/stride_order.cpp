// stride_order.cpp: memory formats by sizes and strides.
#include "tensor/stride_order.h"

#include <utility>

#include "opgen/tensor/tensor.h"

namespace opgen {

namespace detail {

namespace {

// The order of dimensions, from the innermost outwards.
constexpr int kChannelsLast2d[] = {1, 3, 2, 0};
constexpr int kChannelsLast3d[] = {1, 4, 3, 2, 0};

ArrayRef<int> channels_last_order(MemoryFormat format) noexcept {
  if (format == MemoryFormat::ChannelsLast) return ArrayRef<int>(kChannelsLast2d);
  if (format == MemoryFormat::ChannelsLast3d) return ArrayRef<int>(kChannelsLast3d);
  return {};
}

std::size_t at(int dim) noexcept {
  return static_cast<std::size_t>(dim);
}

}  // namespace

bool has_channels_last_strides(IntArrayRef sizes, IntArrayRef strides,
                               MemoryFormat format) noexcept {
  ArrayRef<int> order = channels_last_order(format);
  if (order.empty() || sizes.size() != order.size()) return false;
  std::int64_t expected = 1;
  for (int d : order) {
    if (sizes[at(d)] == 1) continue;
    if (strides[at(d)] != expected) return false;
    expected *= sizes[at(d)];
  }
  return true;
}

bool is_strides_like(IntArrayRef sizes, IntArrayRef strides, MemoryFormat format) noexcept {
  ArrayRef<int> order = channels_last_order(format);
  if (order.empty() || sizes.size() != order.size()) return false;
  if (strides[1] == 0) return false;  // if channels are broadcast, the order is unknown
  std::int64_t least = 0;
  for (int d : order) {
    if (sizes[at(d)] == 0 || strides[at(d)] < least) return false;
    // Contiguous {N, 1, 1, 1} and its slices have equal strides for batch and channels.
    if (d == 0 && least == strides[1]) return false;
    least = sizes[at(d)] > 1 ? strides[at(d)] * sizes[at(d)] : strides[at(d)];
  }
  return true;
}

bool is_non_overlapping_and_dense(IntArrayRef sizes, IntArrayRef strides) noexcept {
  // Sort the dimensions that matter by stride. Insertion sort is fastest, because they are few and
  // often already sorted.
  SmallVector<std::size_t, 8> order;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    order.push_back(d);
    for (std::size_t i = order.size() - 1; i > 0 && strides[order[i]] < strides[order[i - 1]];
         --i) {
      std::swap(order[i], order[i - 1]);
    }
  }
  std::int64_t expected = 1;
  for (std::size_t d : order) {
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

void contiguous_strides(IntArrayRef sizes, DimVector& strides) {
  strides.resize(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = next_stride(stride, sizes[i]);
  }
}

void strides_for_format(IntArrayRef sizes, MemoryFormat format, DimVector& strides) {
  ArrayRef<int> order = channels_last_order(format);
  if (order.empty()) return contiguous_strides(sizes, strides);
  OPGEN_CHECK(sizes.size() == order.size(), "memory format ", format, " needs ", order.size(),
              " dimensions, but the sizes are ", sizes);
  strides.resize(sizes.size());
  std::int64_t stride = 1;
  for (int d : order) {
    strides[at(d)] = stride;
    stride = next_stride(stride, sizes[at(d)]);
  }
}

}  // namespace detail

MemoryFormat TensorBase::suggest_memory_format(bool exact) const noexcept {
  if (layout() != kStrided) return MemoryFormat::Contiguous;
  for (MemoryFormat format : {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
    if (!detail::is_strides_like(sizes(), strides(), format)) continue;
    if (!exact) return format;
    DimVector fresh;
    detail::strides_for_format(sizes(), format, fresh);
    if (strides() == IntArrayRef(fresh)) return format;
  }
  return MemoryFormat::Contiguous;
}

}  // namespace opgen
