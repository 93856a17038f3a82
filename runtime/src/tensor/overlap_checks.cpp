// overlap_checks.cpp: refuse tensors that share memory where they are written. The checks are exact
// for tensors with gaps, too.
#include "opgen/tensor/memory_overlap.h"
#include "opgen/tensor/tensor.h"
#include "tensor/repeated_elements.h"

namespace opgen::tensor_functions {

void assert_no_internal_overlap(const TensorBase& tensor) {
  MemOverlap overlap = has_internal_overlap(tensor);
  if (OPGEN_UNLIKELY(overlap == MemOverlap::TooHard) && detail::repeats_elements(tensor)) {
    overlap = MemOverlap::Yes;
  }
  OPGEN_CHECK(overlap != MemOverlap::Yes, "a tensor of sizes ", tensor.sizes(), " and strides ",
              tensor.strides(),
              " cannot be written to: several elements share memory; clone() it first");
}

void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b) {
  MemOverlapStatus status = get_overlap_status(a, b);
  if (OPGEN_UNLIKELY(status == MemOverlapStatus::TooHard) && !are_same_elements(a, b) &&
      share_elements(a, b)) {
    status = MemOverlapStatus::Partial;
  }
  OPGEN_CHECK(
      status != MemOverlapStatus::Partial,
      "an input and the tensor that is written to overlap in memory; clone() the input first");
}

void assert_no_overlap(const TensorBase& a, const TensorBase& b) {
  OPGEN_CHECK(
      !share_elements(a, b),
      "an input and the tensor that is written to share memory, but elements are still read "
      "after they are overwritten; clone() the input first");
}

}  // namespace opgen::tensor_functions
