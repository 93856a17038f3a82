// general.cpp: builds an iterator in the form General: shape, dtypes, temporaries and outputs.
#include "iterator/builder.h"
#include "iterator/refusals.h"

#include "opgen/tensor/copy.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/memory_overlap.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen {

namespace detail {

OperandInfo& IteratorBuilder::add_operand(const TensorBase& tensor, bool owned, bool output) {
  OperandInfo& op = state_.general->operands.emplace_back();
  if (owned) {
    op.owned = tensor;
  } else {
    op.borrowed = &tensor;
  }
  op.is_output = output;
  if (output) ++state_.num_outputs;
  if (tensor.defined()) {
    const TensorImpl* impl = tensor.unsafeGetTensorImpl();
    op.device = impl->device();
    op.has_device = true;
    op.target_dtype = impl->dtype();
    op.current_dtype = op.target_dtype;
    state_.is_meta |= op.device.is_meta();
  }
  return op;
}

void IteratorBuilder::build_from(TensorIteratorBase& iter, ArrayRef<const TensorBase*> tensors,
                                 int noutputs, unsigned owned, const IteratorSettings& settings,
                                 const DimVector* static_shape) {
  const int n = static_cast<int>(tensors.size());
  if (noutputs == 1 && static_shape == nullptr) {
    if (n > 1 && n <= 4 && !settings.is_reduction &&
        set_up_contiguous(iter, tensors.data(), n, owned, settings)) {
      return;
    }
    if (owned == 0 && set_up_small_strided(iter, tensors, settings)) return;
  }
  IteratorBuilder(iter, settings, static_shape).build(tensors, noutputs, owned);
}

void IteratorBuilder::build_general(TensorIteratorBase& iter, ArrayRef<const TensorBase*> tensors,
                                    unsigned owned, const IteratorSettings& settings) {
  IteratorBuilder(iter, settings).build(tensors, 1, owned);
}

void IteratorBuilder::build(ArrayRef<const TensorBase*> tensors, int noutputs, unsigned owned) {
  state_.make_general();
  state_.form.store_release(IteratorState::Form::General);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    add_operand(*tensors[i], ((owned >> (i < 31 ? i : 31)) & 1) != 0,
                static_cast<int>(i) < noutputs);
  }
  state_.is_reduction = settings_.is_reduction;
  if (noutputs == 1 && static_shape_ == nullptr && !state_.is_reduction && set_up_with_numbers()) {
    return;
  }
  mark_outputs();
  if (settings_.check_mem_overlap) check_mem_overlaps();
  compute_shape();
  mark_resize_outputs();
  compute_types();
  if (!set_up_one_dimension()) {
    compute_strides();
    reorder_dimensions(settings_.enforce_linear_iteration);
    allocate_or_resize_outputs();
    if (!state_.is_meta) coalesce_dimensions();
  }
  if (state_.is_meta) return;
  for (OperandInfo& op : state_.general->operands) {
    op.data = op.tensor().unsafeGetTensorImpl()->data();
  }
}

void IteratorBuilder::mark_outputs() {
  for (int i = 0; i < state_.num_outputs; ++i) {
    const TensorBase& out = tensor(i);
    if (!out.defined()) continue;
    for (int j = state_.num_outputs; j < ntensors(); ++j) {
      if (out.is_same(tensor(j))) state_.general->operands[std::size_t(i)].is_read_write = true;
    }
  }
}

void IteratorBuilder::check_mem_overlaps() const {
  for (int i = 0; i < state_.num_outputs; ++i) {
    const TensorBase& out = tensor(i);
    if (!out.defined()) continue;
    opgen::assert_no_internal_overlap(out);
    for (int j = state_.num_outputs; j < ntensors(); ++j) {
      if (!out.is_same(tensor(j))) opgen::assert_no_partial_overlap(out, tensor(j));
    }
  }
}

void IteratorBuilder::compute_shape() {
  if (static_shape_ != nullptr) {
    state_.general->shape = *static_shape_;
    return;
  }
  state_.all_ops_same_shape = true;
  bool first = true;
  for (const OperandInfo& op : state_.general->operands) {
    const TensorBase& t = op.tensor();
    if (!t.defined()) continue;
    // Ignore an output that may be resized, unless it is also an input.
    if (op.is_output && settings_.resize_outputs) continue;
    IntArrayRef sizes = t.sizes();
    if (first) {
      state_.general->shape = sizes;
      first = false;
    } else if (sizes != IntArrayRef(state_.general->shape)) {
      state_.all_ops_same_shape = false;
      state_.general->shape = detail::infer_size(state_.general->shape, sizes);
    }
  }
}

void IteratorBuilder::check_may_resize(const TensorBase& out) const {
  for (int j = state_.num_outputs; j < ntensors(); ++j) {
    check_resized_beside(out, state_.general->shape, tensor(j));
  }
}

void IteratorBuilder::mark_resize_outputs() {
  if (static_shape_ != nullptr) return;
  for (int i = 0; i < state_.num_outputs; ++i) {
    OperandInfo& op = state_.general->operands[std::size_t(i)];
    const TensorBase& out = op.tensor();
    if (!out.defined()) {
      op.will_resize = true;
    } else if (out.sizes() != IntArrayRef(state_.general->shape)) {
      if (settings_.resize_outputs && !op.is_read_write) {
        check_may_resize(out);
        op.will_resize = true;
        continue;
      }
      if (!state_.is_reduction) refuse_shape(out, state_.general->shape);
    }
  }
}

void IteratorBuilder::compute_types() {
  state_.common_dtype = ScalarType::Undefined;
  state_.common_device = Device(kCPU);
  ScalarType output_dtype = ScalarType::Undefined;
  bool inputs_differ = false;
  bool outputs_differ = false;
  bool has_undefined_outputs = false;
  bool only_numbers = true;

  for (OperandInfo& op : state_.general->operands) {
    if (!op.is_type_defined()) {
      if (!op.is_output) refuse_undefined_input();
      op.target_dtype = settings_.static_dtype;
      if (settings_.has_static_device) {
        op.device = settings_.static_device;
        op.has_device = true;
      }
      has_undefined_outputs |= !op.is_type_defined() || !op.has_device;
    }
    if (!op.tensor().defined()) continue;
    if (state_.common_device.is_cpu() && !op.device.is_cpu()) state_.common_device = op.device;
    if (!op.is_output) {
      only_numbers = only_numbers && op.tensor().unsafeGetTensorImpl()->is_wrapped_number();
    }
    ScalarType& dtype = op.is_output ? output_dtype : state_.common_dtype;
    if (dtype == ScalarType::Undefined) {
      dtype = op.target_dtype;
    } else if (dtype != op.target_dtype) {
      (op.is_output ? outputs_differ : inputs_differ) = true;
    }
  }
  if (settings_.has_static_device && state_.common_device.is_cpu())
    state_.common_device = settings_.static_device;

  if (settings_.check_all_same_dtype &&
      (inputs_differ || outputs_differ ||
       (state_.common_dtype != output_dtype && output_dtype != ScalarType::Undefined))) {
    for (const OperandInfo& op : state_.general->operands) {
      if (op.tensor().defined() && op.target_dtype != state_.common_dtype) {
        refuse_dtypes(state_.common_dtype, op);
      }
    }
  }

  bool nothing_to_do =
      !has_undefined_outputs && !settings_.check_all_same_device &&
      !settings_.promote_inputs_to_common_dtype && !settings_.cast_common_dtype_to_outputs &&
      !settings_.compute_outputs_as_static_dtype && !settings_.enforce_safe_casting_to_output;
  if (nothing_to_do) {
    if (inputs_differ) state_.common_dtype = ScalarType::Undefined;
    return;
  }
  // Numbers have no precision: the result of two Python floats has the default dtype.
  const bool lacks_precision =
      only_numbers && (isFloatingType(state_.common_dtype) || isComplexType(state_.common_dtype));
  if ((inputs_differ || lacks_precision) && settings_.promote_inputs_to_common_dtype) {
    opgen::ResultTypeState state;
    for (const OperandInfo& op : state_.general->operands) {
      if (!op.is_output) state = opgen::update_result_type(op.tensor(), state);
    }
    state_.common_dtype = opgen::result_type(state);
    OPGEN_INTERNAL_ASSERT(state_.common_dtype != ScalarType::Undefined);
  }
  if (settings_.promote_integer_inputs_to_float && isIntegralType(state_.common_dtype, true)) {
    state_.common_dtype = get_default_dtype();
  }

  int cpu_scalars = 0;
  for (OperandInfo& op : state_.general->operands) {
    if (!op.is_type_defined()) op.target_dtype = state_.common_dtype;
    if (!op.has_device) op.device = state_.common_device;
    if (!op.tensor().defined()) continue;

    if (settings_.check_all_same_device && op.device != state_.common_device) {
      bool is_cpu_number = settings_.allow_cpu_scalars && !op.is_output && op.device.is_cpu() &&
                           op.tensor().dim() == 0;
      if (!is_cpu_number || cpu_scalars != 0) refuse_devices(state_.common_device, op.device);
      ++cpu_scalars;
    }
    if (settings_.enforce_safe_casting_to_output && op.is_output &&
        op.current_dtype != state_.common_dtype &&
        !canCast(state_.common_dtype, op.current_dtype)) {
      refuse_cast(state_.common_dtype, op.current_dtype);
    }
    // Replace operands only on the CPU: kernels of other devices convert when they load and store.
    // Meta tensors are replaced, too, because the strides of a new output depend on those of the
    // operands.
    if (!state_.common_device.is_cpu() && !state_.is_meta) continue;
    if (op.is_output) {
      ScalarType computed = settings_.compute_outputs_as_static_dtype ? settings_.static_dtype
                            : settings_.cast_common_dtype_to_outputs  ? state_.common_dtype
                                                                      : op.current_dtype;
      if (op.current_dtype != computed) replace_by_temporary(op, computed);
    } else if (settings_.promote_inputs_to_common_dtype &&
               op.current_dtype != state_.common_dtype) {
      replace_by_temporary(op, state_.common_dtype);
    }
  }
}

void IteratorBuilder::replace_by_temporary(OperandInfo& op, ScalarType dtype) {
  const TensorBase& original = op.tensor();
  TensorBase temporary = op.is_output ? detail::empty_like(original, TensorOptions().dtype(dtype))
                                      : detail::to_dtype(original, dtype);
  // The temporary of an output is not filled. If the output is also an input, it is read through
  // the input's temporary.
  op.original_borrowed = op.borrowed;
  op.original_owned = std::move(op.owned);
  op.borrowed = nullptr;
  op.owned = std::move(temporary);
  op.replaced = true;
  state_.has_temporaries |= op.is_output;
  op.current_dtype = dtype;
  op.target_dtype = dtype;
}

TensorOptions IteratorBuilder::output_options(const OperandInfo& op) const {
  if (op.replaced) return op.original_tensor().options();
  return TensorOptions().dtype(op.target_dtype).device(op.device).layout(kStrided);
}

void IteratorBuilder::allocate_or_resize_outputs() {
  std::size_t n = state_.general->shape.size();
  for (int i = 0; i < state_.num_outputs; ++i) {
    OperandInfo& op = state_.general->operands[std::size_t(i)];
    if (op.tensor().defined() && !op.will_resize) {
      // Call this even if nothing changes, because the sink checks dtype and device and sets the
      // guard.
      set_output(i, DimVector(op.original_tensor().sizes()), {}, output_options(op));
      continue;
    }
    std::int64_t item = static_cast<std::int64_t>(elementSize(op.target_dtype));
    DimVector sizes(n);
    DimVector strides(n);
    bool is_row_major = true;
    std::int64_t stride = 1;
    op.stride_bytes.resize(n);
    for (std::size_t d = 0; d < n; ++d) {
      std::size_t original = static_cast<std::size_t>(state_.general->perm[d]);
      is_row_major = is_row_major && original == n - 1 - d;
      op.stride_bytes[d] = stride * item;
      sizes[original] = state_.general->shape[d];
      strides[original] = stride;
      stride *= state_.general->shape[d];
    }
    set_output(i, sizes, is_row_major ? IntArrayRef() : IntArrayRef(strides), output_options(op));
  }
}

void IteratorBuilder::set_output(int i, IntArrayRef sizes, IntArrayRef strides,
                                 TensorOptions options) {
  OperandInfo& op = state_.general->operands[std::size_t(i)];
  if (sink_ != nullptr) {
    // `sizes` needs no copy: it may be state_.general->shape, which is not part of the out= tensor
    // that the sink resizes.
    iter_.set_output_raw_strided(i, sizes, strides, options);
    return;
  }
  if (!op.tensor().defined()) {
    op.owned = strides.empty() ? detail::empty(sizes, options)
                               : detail::empty_strided(sizes, strides, options);
    op.borrowed = nullptr;
    op.current_dtype = op.target_dtype;
  } else if (op.will_resize) {
    const TensorBase& out = op.original_tensor();
    if (opgen::resize_output(out, sizes)) {
      opgen::restride_output(out, sizes, strides,
                             strides.empty() ? options.memory_format_opt() : std::nullopt);
    }
    if (op.replaced) op.owned = detail::empty_like(out, TensorOptions().dtype(op.target_dtype));
  }
}

const TensorBase* IteratorBuilder::find_convertible_output(
    const TensorIteratorBase& iter) noexcept {
  const IteratorState& state = iter.state_;
  if (OPGEN_LIKELY(!state.has_temporaries) || state.num_outputs != 1 || state.is_meta) {
    return nullptr;
  }
  const DimVector& shape = state.general->shape;
  const OperandInfo& op = state.general->operands[0];
  if (shape.size() != 1 || op.stride_bytes[0] != std::int64_t(elementSize(op.current_dtype))) {
    return nullptr;
  }
  const TensorBase& original = op.original_tensor();
  const bool same_order =
      original.sizes() == op.owned.sizes() && original.strides() == op.owned.strides();
  return same_order && original.numel() == shape[0] ? &original : nullptr;
}

void IteratorBuilder::end_temporaries(TensorIteratorBase& iter, bool copy) {
  IteratorState& state = iter.state_;
  state.has_temporaries = false;
  for (OperandInfo& op : state.general->operands) {
    if (!op.is_output || !op.replaced) continue;
    TensorBase temporary = std::move(op.owned);
    op.borrowed = op.original_borrowed;
    op.owned = std::move(op.original_owned);
    op.replaced = false;
    op.current_dtype = op.tensor().scalar_type();
    op.target_dtype = op.current_dtype;
    if (state.is_meta) continue;
    // Outputs of reductions are views of another shape with the same elements.
    if (copy) opgen::copy_(op.tensor(), temporary);
    op.data = op.tensor().data_ptr();
  }
}

}  // namespace detail

void TensorIteratorBase::opgen_note_output(std::int64_t index) {
  if (index >= state_.num_outputs) return;
  OperandInfo& op = state_.general->operands[static_cast<std::size_t>(index)];
  const TensorBase& out = maybe_get_output(index);
  if (op.replaced) {
    op.original_borrowed = &out;
    if (op.owned.sizes() != out.sizes()) {
      op.owned = detail::empty_like(out, TensorOptions().dtype(op.target_dtype));
    }
  } else {
    op.borrowed = &out;
    op.current_dtype = out.scalar_type();
  }
}

void TensorIteratorBase::copy_temporaries() {
  detail::IteratorBuilder::end_temporaries(*this, /*copy=*/true);
}

}  // namespace opgen
