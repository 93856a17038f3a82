// iterator_builders.cpp: the rules of build_*_op, one set of settings each, and the iterators that
// are made by them.
#include "opgen/iterator.h"

#include "iterator_alike.h"
#include "opgen/factories.h"

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

OPGEN_NOINLINE void own_output(OperandInfo& op, IntArrayRef sizes, ScalarType dtype,
                               Device device) {
  op.borrowed = nullptr;
  op.owned = detail::empty_contiguous(sizes, dtype, device);
  op.data = op.owned.data_ptr();
  op.target_dtype = op.current_dtype = dtype;
  if (!sizes.empty()) op.stride_bytes[0] = static_cast<std::int64_t>(op.owned.itemsize());
}

}  // namespace

// What most calls are: one output and inputs of one dtype and shape, contiguous, on the CPU or on
// Meta. Decided on the tensors alone, and nothing written down but the tensors: a tenth of the
// general way's instructions.
bool TensorIteratorBase::simple_set_up(const TensorBase* const* tensors, int n, unsigned owned,
                                       const IteratorSettings& settings) {
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
  if (model->is_wrapped_number()) return false;  // numbers alone: of the default dtype

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
    if (opgen_sink_ != nullptr) {
      if (opgen_sink_->kind() != OutputSink::Kind::Fresh) return false;
      out = &opgen_sink_->set_contiguous(0, model->sizes(), out_dtype, device);
      owned &= ~1u;
      allocates = false;
    }
  }

  is_meta_ = device.is_meta();
  common_dtype_ = dtype;
  common_device_ = device;
  all_ops_same_shape_ = true;
  num_outputs_ = 1;
  few_[0] = out;
  for (int k = 1; k < n; ++k) few_[k] = tensors[k];
  few_count_ = n;
  form_ = Form::Alike;
  // What is owned has to be kept somewhere.
  if (OPGEN_UNLIKELY(owned != 0 || allocates)) {
    write_few_operands(owned);
    if (allocates) own_output(general_->operands[0], model->sizes(), out_dtype, device);
    form_ = Form::General;
    if (opgen_sink_ != nullptr) opgen_sink_->note_set(0);
  }
  return true;
}

#define OPGEN_BUILD_2(name, settings, owned)                                  \
  void TensorIteratorBase::name(const TensorBase& out, const TensorBase& a) { \
    const TensorBase* tensors[] = {&out, &a};                                 \
    if (simple_set_up(tensors, 2, owned, settings)) return;                   \
    build_operands(tensors, 1, owned, settings, nullptr);                     \
  }
#define OPGEN_BUILD_3(name, settings, owned)                                                       \
  void TensorIteratorBase::name(const TensorBase& out, const TensorBase& a, const TensorBase& b) { \
    const TensorBase* tensors[] = {&out, &a, &b};                                                  \
    if (simple_set_up(tensors, 3, owned, settings)) return;                                        \
    build_operands(tensors, 1, owned, settings, nullptr);                                          \
  }
OPGEN_BUILD_3(build_binary_op, kBinary, kAllOwned)
OPGEN_BUILD_3(build_borrowing_binary_op, kBinary, kAllBorrowed)
OPGEN_BUILD_3(build_borrowing_except_last_argument_binary_op, kBinary, 1 << 2)
OPGEN_BUILD_3(build_binary_float_op, kBinaryFloat, kAllOwned)
OPGEN_BUILD_3(build_borrowing_binary_float_op, kBinaryFloat, kAllBorrowed)
OPGEN_BUILD_3(build_comparison_op, kComparison, kAllOwned)
OPGEN_BUILD_3(build_borrowing_comparison_op, kComparison, kAllBorrowed)
OPGEN_BUILD_3(build_borrowing_except_last_argument_comparison_op, kComparison, 1 << 2)
OPGEN_BUILD_2(build_unary_op, kUnary, kAllOwned)
OPGEN_BUILD_2(build_borrowing_unary_op, kUnary, kAllBorrowed)
OPGEN_BUILD_2(build_unary_float_op, kUnaryFloat, kAllOwned)
OPGEN_BUILD_2(build_borrowing_unary_float_op, kUnaryFloat, kAllBorrowed)
OPGEN_BUILD_2(build_unary_force_boolean_op, kUnaryBoolean, kAllOwned)
OPGEN_BUILD_2(build_borrowing_unary_force_boolean_op, kUnaryBoolean, kAllBorrowed)
#undef OPGEN_BUILD_2
#undef OPGEN_BUILD_3

void TensorIteratorBase::build_ternary_op(const TensorBase& out, const TensorBase& a,
                                          const TensorBase& b, const TensorBase& c) {
  const TensorBase* tensors[] = {&out, &a, &b, &c};
  if (simple_set_up(tensors, 4, kAllOwned, kTernary)) return;
  build_operands(tensors, 1, kAllOwned, kTernary, nullptr);
}

#define OPGEN_MAKE_2(name, builder)                                                 \
  TensorIterator TensorIterator::name(const TensorBase& out, const TensorBase& a) { \
    return TensorIterator([&](TensorIteratorBase& iter) { iter.builder(out, a); }); \
  }
#define OPGEN_MAKE_3(name, builder)                                                    \
  TensorIterator TensorIterator::name(const TensorBase& out, const TensorBase& a,      \
                                      const TensorBase& b) {                           \
    return TensorIterator([&](TensorIteratorBase& iter) { iter.builder(out, a, b); }); \
  }
OPGEN_MAKE_3(binary_op, build_binary_op)
OPGEN_MAKE_3(binary_float_op, build_binary_float_op)
OPGEN_MAKE_3(borrowing_binary_op, build_borrowing_binary_op)
OPGEN_MAKE_3(comparison_op, build_comparison_op)
OPGEN_MAKE_2(unary_op, build_unary_op)
OPGEN_MAKE_2(unary_float_op, build_unary_float_op)
OPGEN_MAKE_2(unary_force_boolean_op, build_unary_force_boolean_op)
#undef OPGEN_MAKE_2
#undef OPGEN_MAKE_3

TensorIterator TensorIterator::ternary_op(const TensorBase& out, const TensorBase& a,
                                          const TensorBase& b, const TensorBase& c) {
  return TensorIterator([&](TensorIteratorBase& iter) { iter.build_ternary_op(out, a, b, c); });
}

TensorIterator::TensorIterator(std::initializer_list<const TensorBase*> operands, int noutputs,
                               const IteratorSettings& settings) {
  build_operands(operands, noutputs, kAllOwned, settings, nullptr);
}

TensorIterator TensorIterator::nullary_op(const TensorBase& out) {
  return TensorIterator({&out}, 1, kNullary);
}

TensorIterator TensorIterator::reduce_op(const TensorBase& out, const TensorBase& a) {
  return TensorIterator({&out, &a}, 1, kReduction);
}

TensorIterator TensorIterator::reduce_op(const TensorBase& out1, const TensorBase& out2,
                                         const TensorBase& a) {
  OPGEN_CHECK(out1.sizes() == out2.sizes(), "two outputs of a reduction have sizes ", out1.sizes(),
              " and ", out2.sizes());
  return TensorIterator({&out1, &out2, &a}, 2, kReduction);
}

}  // namespace opgen
