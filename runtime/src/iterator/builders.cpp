// builders.cpp: build_..._op(), each with its settings; the set-up that serves most calls.
#include "iterator/alike.h"
#include "iterator/builder.h"
#include "opgen/tensor/factories.h"

namespace opgen {

namespace {

using detail::IteratorSettings;

constexpr IteratorSettings kBinary = {
    .allow_cpu_scalars = true,
    .check_all_same_dtype = false,
    .enforce_safe_casting_to_output = true,
    .promote_inputs_to_common_dtype = true,
    .cast_common_dtype_to_outputs = true,
};
constexpr IteratorSettings kBinaryFloat = {
    .allow_cpu_scalars = true,
    .check_all_same_dtype = false,
    .enforce_safe_casting_to_output = true,
    .promote_inputs_to_common_dtype = true,
    .promote_integer_inputs_to_float = true,
    .cast_common_dtype_to_outputs = true,
};
constexpr IteratorSettings kComparison = {
    .allow_cpu_scalars = true,
    .check_all_same_dtype = false,
    .promote_inputs_to_common_dtype = true,
    .compute_outputs_as_static_dtype = true,
    .static_dtype = kBool,
};
constexpr IteratorSettings kUnary = {};
constexpr IteratorSettings kUnaryFloat = {
    .check_all_same_dtype = false,
    .enforce_safe_casting_to_output = true,
    .promote_inputs_to_common_dtype = true,
    .promote_integer_inputs_to_float = true,
    .cast_common_dtype_to_outputs = true,
};
constexpr IteratorSettings kUnaryBoolean = {
    .check_all_same_dtype = false,
    .compute_outputs_as_static_dtype = true,
    .static_dtype = kBool,
};
constexpr IteratorSettings kTernary = {
    .check_all_same_dtype = false,
    .enforce_safe_casting_to_output = true,
    .promote_inputs_to_common_dtype = true,
    .cast_common_dtype_to_outputs = true,
};
constexpr IteratorSettings kNullary = {
    .resize_outputs = false,
    .check_all_same_dtype = false,
};
constexpr IteratorSettings kReduction = {
    .check_mem_overlap = false,
    .is_reduction = true,
    .resize_outputs = false,
    .check_all_same_dtype = false,
    .promote_inputs_to_common_dtype = true,
};

constexpr unsigned kAllOwned = ~0u;
constexpr unsigned kAllBorrowed = 0;
constexpr unsigned kLastOwned = 1 << 2;  // the last of three operands

OPGEN_NOINLINE void own_output(OperandInfo& op, IntArrayRef sizes, ScalarType dtype,
                               Device device) {
  op.borrowed = nullptr;
  op.owned = detail::empty_contiguous(sizes, dtype, device);
  op.data = op.owned.data_ptr();
  op.target_dtype = op.current_dtype = dtype;
  if (!sizes.empty()) op.stride_bytes[0] = static_cast<std::int64_t>(op.owned.itemsize());
}

}  // namespace

namespace detail {

// Handles most calls: one output and contiguous inputs with the same dtype and shape, on the CPU or
// on Meta. It stores only the tensors, and takes a tenth of the instructions of the general set-up.
OPGEN_ALWAYS_INLINE bool IteratorBuilder::set_up_contiguous_here(TensorIteratorBase& iter,
                                                                 const TensorBase* const* tensors,
                                                                 int n, unsigned owned,
                                                                 const IteratorSettings& settings) {
  IteratorState& state = iter.state_;
  const TensorImpl* model = tensors[1]->unsafeGetTensorImpl();
  Device device = model->device();
  ScalarType dtype = model->dtype();
  if (!tensors[1]->defined() || !(device.is_cpu() || device.is_meta()) || !model->is_contiguous() ||
      model->layout() != kStrided) {
    return false;
  }
  for (int k = 2; k < n; ++k) {
    const TensorImpl* t = tensors[k]->unsafeGetTensorImpl();
    if (t != model && (!tensors[k]->defined() || !detail::is_like(t, model))) return false;
  }
  if (settings.promote_integer_inputs_to_float && isIntegralType(dtype, true)) return false;
  if (model->is_wrapped_number()) return false;  // the result has the default dtype

  ScalarType out_dtype =
      settings.static_dtype != ScalarType::Undefined ? settings.static_dtype : dtype;
  const TensorBase* out = tensors[0];
  bool allocates = !out->defined();
  if (!allocates) {
    const TensorImpl* given = out->unsafeGetTensorImpl();
    if (out_dtype != dtype || (given != model && !detail::is_like(given, model))) return false;
    for (int k = 1; k < n; ++k) {
      if (!detail::is_apart_or_same(given, tensors[k]->unsafeGetTensorImpl())) return false;
    }
  } else {
    if (settings.has_static_device && settings.static_device != device) return false;
    if (iter.opgen_sink_ != nullptr) {
      if (iter.opgen_sink_->kind() != OutputSink::Kind::Fresh) return false;
      out = &iter.opgen_sink_->set_contiguous(0, model->sizes(), out_dtype, device);
      owned &= ~1u;
      allocates = false;
    }
  }

  state.is_meta = device.is_meta();
  state.common_dtype = dtype;
  state.common_device = device;
  state.all_ops_same_shape = true;
  state.num_outputs = 1;
  state.quick[0] = out;
  for (int k = 1; k < n; ++k) state.quick[k] = tensors[k];
  state.quick_count = n;
  state.form.store_release(IteratorState::Form::Contiguous);
  // Owned tensors are kept in the form General.
  if (OPGEN_UNLIKELY(owned != 0 || allocates)) {
    state.write_general(owned);
    if (allocates) own_output(state.general->operands[0], model->sizes(), out_dtype, device);
    state.form.store_release(IteratorState::Form::General);
    if (iter.opgen_sink_ != nullptr) iter.opgen_sink_->note_set(0);
  }
  return true;
}
OPGEN_NOINLINE bool IteratorBuilder::set_up_contiguous(TensorIteratorBase& iter,
                                                       const TensorBase* const* tensors, int n,
                                                       unsigned owned,
                                                       const IteratorSettings& settings) {
  return set_up_contiguous_here(iter, tensors, n, owned, settings);
}

}  // namespace detail

void TensorIteratorBase::build_binary_op(const TensorBase& out, const TensorBase& a,
                                         const TensorBase& b) {
  detail::IteratorBuilder::build_op<kBinary, kAllOwned>(*this, out, a, b);
}
void TensorIteratorBase::build_borrowing_binary_op(const TensorBase& out, const TensorBase& a,
                                                   const TensorBase& b) {
  detail::IteratorBuilder::build_op<kBinary, kAllBorrowed>(*this, out, a, b);
}
void TensorIteratorBase::build_borrowing_except_last_argument_binary_op(const TensorBase& out,
                                                                        const TensorBase& a,
                                                                        const TensorBase& b) {
  detail::IteratorBuilder::build_op<kBinary, kLastOwned>(*this, out, a, b);
}
void TensorIteratorBase::build_binary_float_op(const TensorBase& out, const TensorBase& a,
                                               const TensorBase& b) {
  detail::IteratorBuilder::build_op<kBinaryFloat, kAllOwned>(*this, out, a, b);
}
void TensorIteratorBase::build_borrowing_binary_float_op(const TensorBase& out, const TensorBase& a,
                                                         const TensorBase& b) {
  detail::IteratorBuilder::build_op<kBinaryFloat, kAllBorrowed>(*this, out, a, b);
}
void TensorIteratorBase::build_comparison_op(const TensorBase& out, const TensorBase& a,
                                             const TensorBase& b) {
  detail::IteratorBuilder::build_op<kComparison, kAllOwned>(*this, out, a, b);
}
void TensorIteratorBase::build_borrowing_comparison_op(const TensorBase& out, const TensorBase& a,
                                                       const TensorBase& b) {
  detail::IteratorBuilder::build_op<kComparison, kAllBorrowed>(*this, out, a, b);
}
void TensorIteratorBase::build_borrowing_except_last_argument_comparison_op(const TensorBase& out,
                                                                            const TensorBase& a,
                                                                            const TensorBase& b) {
  detail::IteratorBuilder::build_op<kComparison, kLastOwned>(*this, out, a, b);
}
void TensorIteratorBase::build_ternary_op(const TensorBase& out, const TensorBase& a,
                                          const TensorBase& b, const TensorBase& c) {
  detail::IteratorBuilder::build_op<kTernary, kAllOwned>(*this, out, a, b, c);
}
void TensorIteratorBase::build_unary_op(const TensorBase& out, const TensorBase& a) {
  detail::IteratorBuilder::build_op<kUnary, kAllOwned>(*this, out, a);
}
void TensorIteratorBase::build_borrowing_unary_op(const TensorBase& out, const TensorBase& a) {
  detail::IteratorBuilder::build_op<kUnary, kAllBorrowed>(*this, out, a);
}
void TensorIteratorBase::build_output_borrowing_argument_owning_unary_op(const TensorBase& out,
                                                                         const TensorBase& a) {
  constexpr unsigned kArgument = 0b10;
  detail::IteratorBuilder::build_op<kUnary, kArgument>(*this, out, a);
}
void TensorIteratorBase::build_unary_float_op(const TensorBase& out, const TensorBase& a) {
  detail::IteratorBuilder::build_op<kUnaryFloat, kAllOwned>(*this, out, a);
}
void TensorIteratorBase::build_borrowing_unary_float_op(const TensorBase& out,
                                                        const TensorBase& a) {
  detail::IteratorBuilder::build_op<kUnaryFloat, kAllBorrowed>(*this, out, a);
}
void TensorIteratorBase::build_unary_force_boolean_op(const TensorBase& out, const TensorBase& a) {
  detail::IteratorBuilder::build_op<kUnaryBoolean, kAllOwned>(*this, out, a);
}
void TensorIteratorBase::build_borrowing_unary_force_boolean_op(const TensorBase& out,
                                                                const TensorBase& a) {
  detail::IteratorBuilder::build_op<kUnaryBoolean, kAllBorrowed>(*this, out, a);
}

TensorIterator TensorIterator::binary_op(const TensorBase& out, const TensorBase& a,
                                         const TensorBase& b) {
  return TensorIterator([&](TensorIteratorBase& iter) { iter.build_binary_op(out, a, b); });
}
TensorIterator TensorIterator::binary_float_op(const TensorBase& out, const TensorBase& a,
                                               const TensorBase& b) {
  return TensorIterator([&](TensorIteratorBase& iter) { iter.build_binary_float_op(out, a, b); });
}
TensorIterator TensorIterator::borrowing_binary_op(const TensorBase& out, const TensorBase& a,
                                                   const TensorBase& b) {
  return TensorIterator(
      [&](TensorIteratorBase& iter) { iter.build_borrowing_binary_op(out, a, b); });
}
TensorIterator TensorIterator::comparison_op(const TensorBase& out, const TensorBase& a,
                                             const TensorBase& b) {
  return TensorIterator([&](TensorIteratorBase& iter) { iter.build_comparison_op(out, a, b); });
}
TensorIterator TensorIterator::unary_op(const TensorBase& out, const TensorBase& a) {
  return TensorIterator([&](TensorIteratorBase& iter) { iter.build_unary_op(out, a); });
}
TensorIterator TensorIterator::unary_float_op(const TensorBase& out, const TensorBase& a) {
  return TensorIterator([&](TensorIteratorBase& iter) { iter.build_unary_float_op(out, a); });
}
TensorIterator TensorIterator::unary_force_boolean_op(const TensorBase& out, const TensorBase& a) {
  return TensorIterator(
      [&](TensorIteratorBase& iter) { iter.build_unary_force_boolean_op(out, a); });
}
TensorIterator TensorIterator::ternary_op(const TensorBase& out, const TensorBase& a,
                                          const TensorBase& b, const TensorBase& c) {
  return TensorIterator([&](TensorIteratorBase& iter) { iter.build_ternary_op(out, a, b, c); });
}

TensorIterator TensorIterator::nullary_op(const TensorBase& out) {
  return TensorIterator([&](TensorIteratorBase& iter) {
    detail::IteratorBuilder(iter, kNullary).build({&out}, 1, kAllOwned);
  });
}
TensorIterator TensorIterator::reduce_op(const TensorBase& out, const TensorBase& a) {
  return TensorIterator([&](TensorIteratorBase& iter) {
    detail::IteratorBuilder(iter, kReduction).build({&out, &a}, 1, kAllOwned);
  });
}
TensorIterator TensorIterator::reduce_op(const TensorBase& out1, const TensorBase& out2,
                                         const TensorBase& a) {
  OPGEN_CHECK(out1.sizes() == out2.sizes(), "two outputs of a reduction have sizes ", out1.sizes(),
              " and ", out2.sizes());
  return TensorIterator([&](TensorIteratorBase& iter) {
    detail::IteratorBuilder(iter, kReduction).build({&out1, &out2, &a}, 2, kAllOwned);
  });
}

}  // namespace opgen
