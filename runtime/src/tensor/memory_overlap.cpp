// memory_overlap.cpp: finds out whether tensors share memory.
#include "opgen/tensor/memory_overlap.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "opgen/tensor/shape_utils.h"
#include "opgen/tensor/tensor.h"
#include "tensor/repeated_elements.h"

namespace opgen::tensor_functions {

using namespace detail;  // NOLINT(google-build-using-namespace)

MemOverlap has_internal_overlap(const TensorBase& tensor) noexcept {
  if (tensor.layout() != kStrided) return MemOverlap::No;
  if (tensor.is_non_overlapping_and_dense()) return MemOverlap::No;
  IntArrayRef sizes = tensor.sizes();
  IntArrayRef strides = tensor.strides();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] == 0 && sizes[i] > 1) return MemOverlap::Yes;
  }
  return MemOverlap::TooHard;
}

MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b) noexcept {
  if (a.is_same(b)) return MemOverlapStatus::Full;
  if (a.numel() == 0 || b.numel() == 0) return MemOverlapStatus::No;
  if (!a.is_alias_of(b) || a.data_ptr() == nullptr) {
    // Meta tensors have no addresses, and no data that an overlap could corrupt.
    return MemOverlapStatus::No;
  }
  if (!a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) {
    return MemOverlapStatus::TooHard;
  }
  const char* a_begin = static_cast<const char*>(a.const_data_ptr());
  const char* a_end = a_begin + a.nbytes();
  const char* b_begin = static_cast<const char*>(b.const_data_ptr());
  const char* b_end = b_begin + b.nbytes();
  if (a_begin == b_begin && a_end == b_end) {
    return a.strides() == b.strides() ? MemOverlapStatus::Full : MemOverlapStatus::Partial;
  }
  return a_begin < b_end && b_begin < a_end ? MemOverlapStatus::Partial : MemOverlapStatus::No;
}

namespace {

// The bytes [begin, end) that a non-empty tensor covers, as offsets into its storage.
struct ByteRange {
  std::int64_t begin;
  std::int64_t end;

  explicit ByteRange(const TensorBase& tensor) {
    std::int64_t first = tensor.storage_offset();
    std::int64_t last = first;
    for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
      if (tensor.sizes()[d] == 1) continue;
      const std::int64_t reach = (tensor.sizes()[d] - 1) * tensor.strides()[d];
      (reach < 0 ? first : last) += reach;
    }
    begin = first * item(tensor);
    end = (last + 1) * item(tensor);
  }
  static std::int64_t item(const TensorBase& tensor) {
    return static_cast<std::int64_t>(tensor.itemsize());
  }
};

// Returns whether two tensors with the same dtype are interleaved without overlap, such as the two
// halves of the columns of a matrix, or even and odd elements. False means unknown.
bool are_interleaved(const TensorBase& a, const TensorBase& b) {
  if (a.itemsize() != b.itemsize()) return false;
  std::int64_t period[2] = {0, 0};
  std::int64_t extent[2] = {1, 1};
  std::int64_t step = 0;  // divides the distance between any two elements
  for (int k = 0; k < 2; ++k) {
    const TensorBase& tensor = k == 0 ? a : b;
    for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
      const std::int64_t stride = tensor.strides()[d];
      if (tensor.sizes()[d] == 1) continue;
      if (stride < 0) return false;
      step = std::gcd(step, stride);
      extent[k] += (tensor.sizes()[d] - 1) * stride;
      if (stride <= period[k]) continue;
      period[k] = stride;
    }
    for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
      if (tensor.sizes()[d] == 1 || tensor.strides()[d] != period[k]) continue;
      extent[k] -= (tensor.sizes()[d] - 1) * period[k];
      break;
    }
  }
  const std::int64_t apart = b.storage_offset() - a.storage_offset();
  if (step > 1 && apart % step != 0) return true;
  if (period[0] != period[1] || period[0] == 0) return false;
  const std::int64_t place = (apart % period[0] + period[0]) % period[0];
  return extent[0] <= place && place + extent[1] <= period[0];
}

// Returns whether the stride of each dimension is larger than the whole range of the dimensions
// with smaller strides, as in slices of a tensor without overlap. False means unknown.
bool steps_apart(const TensorBase& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride, size
  for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
    if (tensor.sizes()[d] != 1)
      steps.emplace_back(std::abs(tensor.strides()[d]), tensor.sizes()[d]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = 0;
  for (const auto& [stride, size] : steps) {
    if (stride <= reach) return false;
    reach += (size - 1) * stride;
  }
  return true;
}

// Calls f with the offset of each element's first byte until f returns true. Returns whether f
// returned true.
template <class F>
bool any_element(const TensorBase& tensor, F f) {
  IntArrayRef sizes = tensor.sizes();
  IntArrayRef strides = tensor.strides();
  DimVector index(sizes.size(), 0);
  std::int64_t place = tensor.storage_offset();
  for (;;) {
    if (f(place * ByteRange::item(tensor))) return true;
    std::size_t d = sizes.size();
    for (;; --d) {
      if (d == 0) return false;
      place += strides[d - 1];
      if (++index[d - 1] < sizes[d - 1]) break;
      place -= sizes[d - 1] * strides[d - 1];
      index[d - 1] = 0;
    }
  }
}

// Returns the offset of each element's first byte, sorted.
std::vector<std::int64_t> sorted_places(const TensorBase& tensor) {
  std::vector<std::int64_t> places;
  places.reserve(static_cast<std::size_t>(tensor.numel()));
  any_element(tensor, [&](std::int64_t place) {
    places.push_back(place);
    return false;
  });
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

bool share_elements(const TensorBase& a, const TensorBase& b) {
  if (a.numel() == 0 || b.numel() == 0 || !a.is_alias_of(b)) return false;
  if (a.is_same(b)) return true;
  const ByteRange range_a(a);
  const ByteRange range_b(b);
  if (range_a.end <= range_b.begin || range_b.end <= range_a.begin) return false;
  if (a.is_non_overlapping_and_dense() && b.is_non_overlapping_and_dense()) return true;
  if (are_interleaved(a, b)) return false;
  if (a.numel() > b.numel()) return share_elements(b, a);
  const std::vector<std::int64_t> places = sorted_places(a);
  const std::int64_t before = ByteRange::item(a) - 1;
  const std::int64_t length = ByteRange::item(b);
  return any_element(b, [&](std::int64_t place) {
    auto found = std::lower_bound(places.begin(), places.end(), place - before);
    return found != places.end() && *found < place + length;
  });
}

bool are_same_elements(const TensorBase& a, const TensorBase& b) noexcept {
  if (a.is_same(b)) return true;
  if (!a.is_alias_of(b) || a.storage_offset() != b.storage_offset() ||
      a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    return false;
  }
  for (std::size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

}  // namespace opgen::tensor_functions

namespace opgen::detail {

bool repeats_elements(const TensorBase& tensor) {
  if (tensor.numel() == 0 || steps_apart(tensor)) return false;
  const std::vector<std::int64_t> places = sorted_places(tensor);
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

}  // namespace opgen::detail
