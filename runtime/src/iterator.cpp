// iterator.cpp: building an iteration the general way: shape, types, temporaries and outputs.
#include "opgen/iterator.h"

#include "opgen/copy.h"
#include "opgen/factories.h"
#include "opgen/memory_overlap.h"
#include "opgen/resize.h"
#include "opgen/shape_utils.h"

namespace opgen {

using detail::IteratorSettings;

OperandInfo& TensorIteratorBase::add_operand(const TensorBase& tensor, bool owned, bool output) {
  OperandInfo& op = general_->operands.emplace_back();
  if (owned) {
    op.owned = tensor;
  } else {
    op.borrowed = &tensor;
  }
  op.is_output = output;
  if (output) ++num_outputs_;
  if (tensor.defined()) {
    const TensorImpl* impl = tensor.unsafeGetTensorImpl();
    op.device = impl->device();
    op.has_device = true;
    op.target_dtype = impl->dtype();
    op.current_dtype = op.target_dtype;
    is_meta_ |= op.device.is_meta();
  }
  return op;
}

void TensorIteratorBase::build_operands(ArrayRef<const TensorBase*> tensors, int noutputs,
                                        unsigned owned, const IteratorSettings& settings,
                                        const DimVector* static_shape) {
  if (noutputs == 1 && owned == 0 && static_shape == nullptr && strided_set_up(tensors, settings)) {
    return;
  }
  make_general();
  form_ = Form::General;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    add_operand(*tensors[i], ((owned >> (i < 31 ? i : 31)) & 1) != 0,
                static_cast<int>(i) < noutputs);
  }
  is_reduction_ = settings.is_reduction;
  if (noutputs == 1 && static_shape == nullptr && !is_reduction_ && number_set_up(settings)) return;
  mark_outputs();
  if (settings.check_mem_overlap) check_mem_overlaps();
  compute_shape(settings, static_shape);
  mark_resize_outputs(settings, static_shape);
  compute_types(settings);
  if (!fast_set_up(settings)) {
    compute_strides(static_shape);
    reorder_dimensions(settings.enforce_linear_iteration);
    allocate_or_resize_outputs();
    if (!is_meta_) coalesce_dimensions();
  }
  if (is_meta_) return;
  for (OperandInfo& op : general_->operands) op.data = op.tensor().unsafeGetTensorImpl()->data();
}

void TensorIteratorBase::mark_outputs() {
  for (int i = 0; i < num_outputs_; ++i) {
    const TensorBase& out = tensor(i);
    if (!out.defined()) continue;
    for (int j = num_outputs_; j < ntensors(); ++j) {
      if (out.is_same(tensor(j))) general_->operands[std::size_t(i)].is_read_write = true;
    }
  }
}

void TensorIteratorBase::check_mem_overlaps() const {
  for (int i = 0; i < num_outputs_; ++i) {
    const TensorBase& out = tensor(i);
    if (!out.defined()) continue;
    detail::assert_no_internal_overlap(out);
    for (int j = num_outputs_; j < ntensors(); ++j) {
      if (!out.is_same(tensor(j))) detail::assert_no_partial_overlap(out, tensor(j));
    }
  }
}

void TensorIteratorBase::compute_shape(const IteratorSettings& settings,
                                       const DimVector* static_shape) {
  if (static_shape != nullptr) {
    general_->shape = *static_shape;
    return;
  }
  all_ops_same_shape_ = true;
  bool first = true;
  for (const OperandInfo& op : general_->operands) {
    const TensorBase& t = op.tensor();
    if (!t.defined()) continue;
    // An output that may be resized has no say, unless it is also an input.
    if (op.is_output && settings.resize_outputs) continue;
    IntArrayRef sizes = t.sizes();
    if (first) {
      general_->shape = sizes;
      first = false;
    } else if (sizes != IntArrayRef(general_->shape)) {
      all_ops_same_shape_ = false;
      general_->shape = detail::infer_size(general_->shape, sizes);
    }
  }
}

// Bytes that an input is read from would move, or be laid out over it.
void TensorIteratorBase::check_may_resize(const TensorBase& out) const {
  for (int j = num_outputs_; j < ntensors(); ++j) {
    OPGEN_CHECK(!out.is_alias_of(tensor(j)), "an output would be resized from ", out.sizes(),
                " to ", general_->shape, " while it shares its storage with an input of sizes ",
                tensor(j).sizes(), "; give it a storage of its own");
  }
}

void TensorIteratorBase::mark_resize_outputs(const IteratorSettings& settings,
                                             const DimVector* static_shape) {
  if (static_shape != nullptr) return;
  for (int i = 0; i < num_outputs_; ++i) {
    OperandInfo& op = general_->operands[std::size_t(i)];
    const TensorBase& out = op.tensor();
    if (!out.defined()) {
      op.will_resize = true;
    } else if (out.sizes() != IntArrayRef(general_->shape)) {
      if (settings.resize_outputs && !op.is_read_write) {
        check_may_resize(out);
        op.will_resize = true;
        continue;
      }
      OPGEN_CHECK(is_reduction_, "the output has sizes ", out.sizes(),
                  ", but the operands broadcast to ", general_->shape);
    }
  }
}

void TensorIteratorBase::compute_types(const IteratorSettings& settings) {
  common_dtype_ = ScalarType::Undefined;
  common_device_ = Device(kCPU);
  ScalarType output_dtype = ScalarType::Undefined;
  bool inputs_differ = false;
  bool outputs_differ = false;
  bool has_undefined_outputs = false;
  bool only_numbers = true;

  for (OperandInfo& op : general_->operands) {
    if (!op.is_type_defined()) {
      OPGEN_CHECK(op.is_output, "an input tensor is undefined");
      op.target_dtype = settings.static_dtype;
      if (settings.has_static_device) {
        op.device = settings.static_device;
        op.has_device = true;
      }
      has_undefined_outputs |= !op.is_type_defined() || !op.has_device;
    }
    if (!op.tensor().defined()) continue;
    if (common_device_.is_cpu() && !op.device.is_cpu()) common_device_ = op.device;
    if (!op.is_output) {
      only_numbers = only_numbers && op.tensor().unsafeGetTensorImpl()->is_wrapped_number();
    }
    ScalarType& dtype = op.is_output ? output_dtype : common_dtype_;
    if (dtype == ScalarType::Undefined) {
      dtype = op.target_dtype;
    } else if (dtype != op.target_dtype) {
      (op.is_output ? outputs_differ : inputs_differ) = true;
    }
  }
  if (settings.has_static_device && common_device_.is_cpu())
    common_device_ = settings.static_device;

  if (settings.check_all_same_dtype &&
      (inputs_differ || outputs_differ ||
       (common_dtype_ != output_dtype && output_dtype != ScalarType::Undefined))) {
    for (const OperandInfo& op : general_->operands) {
      OPGEN_CHECK(!op.tensor().defined() || op.target_dtype == common_dtype_,
                  "expected tensors of one dtype, ", common_dtype_, ", but ",
                  op.is_output ? "the output" : "an input", " has ", op.target_dtype);
    }
  }

  bool nothing_to_do =
      !has_undefined_outputs && !settings.check_all_same_device &&
      !settings.promote_inputs_to_common_dtype && !settings.cast_common_dtype_to_outputs &&
      !settings.compute_outputs_as_static_dtype && !settings.enforce_safe_casting_to_output;
  if (nothing_to_do) {
    if (inputs_differ) common_dtype_ = ScalarType::Undefined;
    return;
  }
  // Numbers alone have no precision of their own: two doubles of Python are of the default dtype.
  const bool lacks_precision =
      only_numbers && (isFloatingType(common_dtype_) || isComplexType(common_dtype_));
  if ((inputs_differ || lacks_precision) && settings.promote_inputs_to_common_dtype) {
    detail::ResultTypeState state;
    for (const OperandInfo& op : general_->operands) {
      if (!op.is_output) state = detail::update_result_type(op.tensor(), state);
    }
    common_dtype_ = detail::result_type(state);
    OPGEN_INTERNAL_ASSERT(common_dtype_ != ScalarType::Undefined);
  }
  if (settings.promote_integer_inputs_to_float && isIntegralType(common_dtype_, true)) {
    common_dtype_ = get_default_dtype();
  }

  int cpu_scalars = 0;
  for (OperandInfo& op : general_->operands) {
    if (!op.is_type_defined()) op.target_dtype = common_dtype_;
    if (!op.has_device) op.device = common_device_;
    if (!op.tensor().defined()) continue;

    if (settings.check_all_same_device && op.device != common_device_) {
      bool is_cpu_number = settings.allow_cpu_scalars && !op.is_output && op.device.is_cpu() &&
                           op.tensor().dim() == 0;
      OPGEN_CHECK(is_cpu_number && cpu_scalars == 0,
                  "expected all tensors on one device, but found some on ", common_device_,
                  " and on ", op.device);
      ++cpu_scalars;
    }
    if (settings.enforce_safe_casting_to_output && op.is_output &&
        op.current_dtype != common_dtype_) {
      OPGEN_CHECK(canCast(common_dtype_, op.current_dtype), "a result of dtype ", common_dtype_,
                  " cannot be stored in an output of dtype ", op.current_dtype);
    }
    // On other devices kernels load and store by each operand's dtype. Meta tensors are replaced
    // as those of the CPU are: the strides of a fresh output follow those of the operands.
    if (!common_device_.is_cpu() && !is_meta_) continue;
    if (op.is_output) {
      ScalarType computed = settings.compute_outputs_as_static_dtype ? settings.static_dtype
                            : settings.cast_common_dtype_to_outputs  ? common_dtype_
                                                                     : op.current_dtype;
      if (op.current_dtype != computed) replace_by_temporary(op, computed);
    } else if (settings.promote_inputs_to_common_dtype && op.current_dtype != common_dtype_) {
      replace_by_temporary(op, common_dtype_);
    }
  }
}

void TensorIteratorBase::replace_by_temporary(OperandInfo& op, ScalarType dtype) {
  const TensorBase& original = op.tensor();
  TensorBase temporary = op.is_output ? detail::empty_like(original, TensorOptions().dtype(dtype))
                                      : detail::to_dtype(original, dtype);
  // An output that is also an input is read through the input's own temporary: nothing to copy
  // here.
  op.original_borrowed = op.borrowed;
  op.original_owned = std::move(op.owned);
  op.borrowed = nullptr;
  op.owned = std::move(temporary);
  op.replaced = true;
  has_temporaries_ |= op.is_output;
  op.current_dtype = dtype;
  op.target_dtype = dtype;
}

TensorOptions TensorIteratorBase::output_options(const OperandInfo& op) const {
  if (op.replaced) return op.original_tensor().options();
  return TensorOptions().dtype(op.target_dtype).device(op.device).layout(kStrided);
}

void TensorIteratorBase::allocate_or_resize_outputs() {
  std::size_t n = general_->shape.size();
  for (int i = 0; i < num_outputs_; ++i) {
    OperandInfo& op = general_->operands[std::size_t(i)];
    if (op.tensor().defined() && !op.will_resize) {
      // Also where nothing changes: the sink checks dtype and device and sets the guard.
      set_iterator_output(i, DimVector(op.original_tensor().sizes()), {}, output_options(op));
      continue;
    }
    std::int64_t item = static_cast<std::int64_t>(elementSize(op.target_dtype));
    DimVector sizes(n);
    DimVector strides(n);
    bool is_row_major = true;
    std::int64_t stride = 1;
    op.stride_bytes.resize(n);
    for (std::size_t d = 0; d < n; ++d) {
      std::size_t original = static_cast<std::size_t>(general_->perm[d]);
      is_row_major = is_row_major && original == n - 1 - d;
      op.stride_bytes[d] = stride * item;
      sizes[original] = general_->shape[d];
      strides[original] = stride;
      stride *= general_->shape[d];
    }
    set_iterator_output(i, sizes, is_row_major ? IntArrayRef() : IntArrayRef(strides),
                        output_options(op));
  }
}

void TensorIteratorBase::set_iterator_output(int i, IntArrayRef sizes, IntArrayRef strides,
                                             TensorOptions options) {
  OperandInfo& op = general_->operands[std::size_t(i)];
  if (opgen_sink_ != nullptr) {
    // `sizes` may be general_->shape, which the sink's out= tensor does not know of: no copy is
    // needed.
    MetaBase::set_output_raw_strided(i, sizes, strides, options);
    return;
  }
  if (!op.tensor().defined()) {
    op.owned = strides.empty() ? detail::empty(sizes, options)
                               : detail::empty_strided(sizes, strides, options);
    op.borrowed = nullptr;
    op.current_dtype = op.target_dtype;
  } else if (op.will_resize) {
    const TensorBase& out = op.original_tensor();
    if (detail::resize_output(out, sizes)) {
      detail::restride_output(out, sizes, strides,
                              strides.empty() ? options.memory_format_opt() : std::nullopt);
    }
    if (op.replaced) op.owned = detail::empty_like(out, TensorOptions().dtype(op.target_dtype));
  }
}

void TensorIteratorBase::opgen_note_output(std::int64_t index) {
  if (index >= num_outputs_) return;
  OperandInfo& op = general_->operands[static_cast<std::size_t>(index)];
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
  has_temporaries_ = false;
  for (OperandInfo& op : general_->operands) {
    if (!op.is_output || !op.replaced) continue;
    TensorBase temporary = std::move(op.owned);
    op.borrowed = op.original_borrowed;
    op.owned = std::move(op.original_owned);
    op.replaced = false;
    op.current_dtype = op.tensor().scalar_type();
    op.target_dtype = op.current_dtype;
    if (is_meta_) continue;
    // Outputs of reductions are views of another shape; element by element they agree.
    detail::copy_(op.tensor(), temporary);
    op.data = op.tensor().data_ptr();
  }
}

}  // namespace opgen
