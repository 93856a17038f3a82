// memory_overlap.cpp: whether tensors share memory.
#include "opgen/memory_overlap.h"

#include "opgen/shape_utils.h"
#include "opgen/tensor.h"

namespace opgen::detail {

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
    // Meta tensors have no addresses; offsets into one storage would do, but no data is at stake.
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

void assert_no_internal_overlap(const TensorBase& tensor) {
  OPGEN_CHECK(has_internal_overlap(tensor) != MemOverlap::Yes, "a tensor of sizes ", tensor.sizes(),
              " and strides ", tensor.strides(),
              " cannot be written to: several elements share one place; clone() it first");
}

void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b) {
  OPGEN_CHECK(
      get_overlap_status(a, b) != MemOverlapStatus::Partial,
      "an input and the tensor that is written to overlap in memory; clone() the input first");
}

void assert_no_overlap(const TensorBase& a, const TensorBase& b) {
  MemOverlapStatus status = get_overlap_status(a, b);
  OPGEN_CHECK(
      status != MemOverlapStatus::Partial && status != MemOverlapStatus::Full,
      "an input and the tensor that is written to share memory, but elements are still read "
      "after they are overwritten; clone() the input first");
}

}  // namespace opgen::detail
