// dtype_iterator.h: what symbolic_iterator.h asks of ATen: dtypes and devices of an iteration,
// broadcasting, overlap, and tensors that stand for others.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>

#include <optional>
#include <vector>

#include "opgen/core/release.h"
#include "opgen/symbolic/symbolic_layout.h"

// Declared here as in ATen/ExpandUtils.h, which would include ATen/Functions.h: 6 MB, and 2 s for
// each unit.
namespace at {
TORCH_API SymDimVector infer_size_symdimvector(SymIntArrayRef a, SymIntArrayRef b);
}  // namespace at

namespace opgen::detail {

class DtypeIterator final : public TakesOutputs<DtypeIterator, at::TensorIteratorBase> {
 public:
  explicit DtypeIterator(std::size_t noutputs) : made_(noutputs) {}
  using at::TensorIteratorBase::build;

  const Tensor& maybe_get_output(std::int64_t i) override { return made_.at(i); }
  void output_raw_strided(std::int64_t i, IntArrayRef sizes, IntArrayRef strides,
                          const TensorOptions& options) {
    made_.at(i) = tensor_base(i).defined() ? tensor(i) : allocate(sizes, options);
    take_as_iterator(i, sizes, strides, options);
  }
  void output_strided(std::int64_t i, IntArrayRef sizes, IntArrayRef strides,
                      const TensorOptions& options) {
    output_raw_strided(i, sizes, strides, options);
  }
  // Returns the dtype in which operands are computed, if there is one. (ATen has a function for it
  // since 2.13.)
  [[nodiscard]] std::optional<ScalarType> found_common_dtype() const {
    if (common_dtype_ == ScalarType::Undefined) return std::nullopt;
    return common_dtype_;
  }
  // Returns the options that set_output_raw_strided gets for output `i`.
  [[nodiscard]] TensorOptions options(std::int64_t i) const {
    const at::OperandInfo& operand = operands_[static_cast<std::size_t>(i)];
    return operand.original_tensor_base().defined() ? operand.original_tensor_base().options()
                                                    : operand.options();
  }

 private:
  static Tensor allocate(IntArrayRef sizes, const TensorOptions& options) {
    return at::detail::empty_meta(sizes, options.device(kMeta).memory_format(std::nullopt));
  }

  std::vector<Tensor> made_;
};

// Returns a tensor with the properties of `tensor` on which dtypes and devices depend. Its sizes do
// not matter, except that a tensor without dimensions stays one.
inline at::Tensor stand_in(const SymbolicTensor& tensor, IntArrayRef sizes) {
  if (!tensor.defined() || !tensor.is_meta()) return tensor;
  return at::detail::empty_meta(sizes, tensor.scalar_type(), kStrided, kMeta, false, std::nullopt);
}

inline void check_overlap(const std::vector<SymbolicTensor>& operands, std::size_t noutputs) {
  for (std::size_t o = 0; o < noutputs; ++o) {
    if (!operands[o].defined()) continue;
    at::assert_no_internal_overlap(operands[o]);
    for (std::size_t i = noutputs; i < operands.size(); ++i) {
      const bool known = !operands[o].unsafeGetTensorImpl()->has_symbolic_sizes_strides() &&
                         !operands[i].unsafeGetTensorImpl()->has_symbolic_sizes_strides();
      if (known && !operands[i].is_same(operands[o])) {
        at::assert_no_partial_overlap(operands[o], operands[i]);
      }
    }
  }
}

inline SymDimVector broadcast_sizes(SymIntArrayRef a, SymIntArrayRef b) {
  return at::infer_size_symdimvector(a, b);
}

[[nodiscard]] inline bool is_on_cpu(const SymbolicTensor& tensor) {
  return tensor.key_set().has_backend(c10::BackendComponent::CPUBit);
}

// Returns a tensor without memory in place of the dense copy of `input`.
inline SymbolicTensor dense_stand_in(const SymbolicTensor&, const OutputLayout& dense,
                                     ScalarType dtype) {
  if (dense.strides.empty()) {
    return at::Tensor(at::detail::empty_symint_meta(dense.sizes, dtype, kStrided, kMeta,
                                                    std::nullopt, std::nullopt));
  }
  return at::Tensor(at::detail::empty_strided_symint_meta(dense.sizes, dense.strides, dtype));
}

}  // namespace opgen::detail
