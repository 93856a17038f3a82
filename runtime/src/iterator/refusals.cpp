// refusals.cpp: the errors of iterations.
#include "iterator/refusals.h"

namespace opgen::detail {

// Throws Error if resizing would move the bytes of an input, or let the output overlap them.
void check_resized_beside(const TensorBase& out, IntArrayRef sizes, const TensorBase& input) {
  OPGEN_CHECK(!out.is_alias_of(input), "an output would be resized from ", out.sizes(), " to ",
              sizes, " while it shares its storage with an input of sizes ", input.sizes(),
              "; pass an output with its own storage");
}

void refuse_shape(const TensorBase& out, IntArrayRef shape) {
  OPGEN_CHECK(false, "the output has sizes ", out.sizes(), ", but the operands broadcast to ",
              shape);
  __builtin_unreachable();
}

void refuse_undefined_input() {
  OPGEN_CHECK(false, "an input tensor is undefined");
  __builtin_unreachable();
}

void refuse_dtypes(ScalarType common, const OperandInfo& operand) {
  OPGEN_CHECK(false, "expected tensors of the same dtype, ", common, ", but ",
              operand.is_output ? "the output" : "an input", " has ", operand.target_dtype);
  __builtin_unreachable();
}

void refuse_devices(Device common, Device device) {
  OPGEN_CHECK(false, "expected all tensors on the same device, but found some on ", common,
              " and on ", device);
  __builtin_unreachable();
}

void refuse_cast(ScalarType from, ScalarType to) {
  OPGEN_CHECK(false, "a result of dtype ", from, " cannot be stored in an output of dtype ", to);
  __builtin_unreachable();
}

}  // namespace opgen::detail
