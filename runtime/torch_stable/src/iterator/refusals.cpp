// refusals.cpp: the errors of iterations in PyTorch's words, and where its rules are not the
// runtime's.
#include "iterator/refusals.h"

#include "opgen/tensor/memory_overlap.h"

namespace opgen::detail {

// PyTorch resizes such an output.
void check_resized_beside(const TensorBase&, IntArrayRef, const TensorBase&) {}

void refuse_shape(const TensorBase& out, IntArrayRef shape) {
  OPGEN_CHECK(false, "output with shape ", out.sizes(), " doesn't match the broadcast shape ",
              shape);
  __builtin_unreachable();
}
void refuse_undefined_input() {
  OPGEN_CHECK(false, "Found undefined input tensor!");
  __builtin_unreachable();
}
void refuse_dtypes(ScalarType common, const OperandInfo& operand) {
  OPGEN_CHECK(false, "Found dtype ", operand.target_dtype, " but expected ", common);
  __builtin_unreachable();
}
void refuse_devices(Device common, Device device) {
  OPGEN_CHECK(false,
              "Expected all tensors to be on the same device, but found at least two devices, ",
              common, " and ", device, "!");
  __builtin_unreachable();
}
void refuse_cast(ScalarType from, ScalarType to) {
  OPGEN_CHECK(false, "result type ", from, " can't be cast to the desired output type ", to);
  __builtin_unreachable();
}

}  // namespace opgen::detail

namespace opgen::tensor_functions {

void assert_no_internal_overlap(const TensorBase& tensor) {
  OPGEN_CHECK(has_internal_overlap(tensor) != MemOverlap::Yes,
              "unsupported operation: more than one element of the written-to tensor refers to a "
              "single memory location. Please clone() the tensor before performing the operation.");
}
void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b) {
  OPGEN_CHECK(get_overlap_status(a, b) != MemOverlapStatus::Partial,
              "unsupported operation: some elements of the input tensor and the written-to tensor "
              "refer to a single memory location. Please clone() the tensor before performing the "
              "operation.");
}
void assert_no_overlap(const TensorBase& a, const TensorBase& b) {
  const MemOverlapStatus status = get_overlap_status(a, b);
  OPGEN_CHECK(status != MemOverlapStatus::Partial && status != MemOverlapStatus::Full,
              "unsupported operation: some elements of the input tensor and the written-to tensor "
              "refer to a single memory location. Please clone() the tensor before performing the "
              "operation.");
}

}  // namespace opgen::tensor_functions
