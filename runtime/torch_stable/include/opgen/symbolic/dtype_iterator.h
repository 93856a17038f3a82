// dtype_iterator.h: what symbolic_iterator.h asks of the runtime's iterator: dtypes and devices of
// an iteration, broadcasting, overlap, and tensors that stand for others.
#pragma once

#include <optional>
#include <vector>

#include "opgen/iterator/iterator.h"
#include "opgen/symbolic/symbolic_layout.h"
#include "opgen/tensor/empty.h"

namespace opgen::detail {

// Its outputs are fakes: it is built while fakes are made.
class DtypeIterator final : public TensorIteratorBase {
 public:
  explicit DtypeIterator(std::size_t) noexcept {}

  // Operands are kept: they belong to the caller.
  void build_borrowing_unary_force_boolean_op(const TensorBase& out, const TensorBase& a) {
    build_unary_force_boolean_op(out, a);
  }
  // Returns the options that set_output_raw_strided gets for output `i`.
  [[nodiscard]] TensorOptions options(std::int64_t i) const {
    return operand(static_cast<int>(i)).original_tensor().options();
  }

 private:
  DtypeScope without_data_;
};

// Returns a fake with the properties of `tensor` that dtypes and devices depend on: no sizes,
// except whether it has dimensions.
[[nodiscard]] inline Tensor stand_in(const SymbolicTensor& tensor, IntArrayRef sizes) {
  if (!tensor.defined()) return tensor;
  TensorBase made = make_fake(as_symbols(sizes), {}, tensor.scalar_type(), tensor.device());
  made.unsafeGetTensorImpl()->set_wrapped_number(tensor.unsafeGetTensorImpl()->is_wrapped_number());
  return made;
}

OPGEN_API void check_overlap(const std::vector<SymbolicTensor>& operands, std::size_t noutputs);
[[nodiscard]] OPGEN_API SymDimVector broadcast_sizes(SymIntArrayRef a, SymIntArrayRef b);

[[nodiscard]] inline bool is_on_cpu(const SymbolicTensor& tensor) {
  return tensor.device().is_cpu();
}

// Returns a fake in place of the dense copy of `input`.
[[nodiscard]] inline SymbolicTensor dense_stand_in(const SymbolicTensor& input,
                                                   const OutputLayout& dense, ScalarType dtype) {
  return make_fake(dense.sizes, dense.strides, dtype, input.device());
}

}  // namespace opgen::detail
