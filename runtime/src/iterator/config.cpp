// config.cpp: TensorIteratorConfig.
#include "opgen/iterator/iterator_config.h"

#include "iterator/builder.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen {

void TensorIteratorBase::build(TensorIteratorConfig& config) {
  SmallVector<const TensorBase*, 8> tensors;
  unsigned owned = 0;
  for (std::size_t i = 0; i < config.operands_.size(); ++i) {
    const TensorIteratorConfig::Operand& op = config.operands_[i];
    bool is_owned = op.borrowed == nullptr;
    tensors.push_back(is_owned ? &op.owned : op.borrowed);
    if (is_owned) owned |= 1u << i;
  }
  detail::IteratorBuilder::build_from(
      *this, tensors, config.num_outputs_, owned, config.settings_,
      config.static_shape_.has_value() ? &*config.static_shape_ : nullptr);
}

TensorIteratorConfig& TensorIteratorConfig::add(const TensorBase& tensor, bool output, bool owned) {
  OPGEN_INTERNAL_ASSERT(!output || num_outputs_ == static_cast<int>(operands_.size()),
                        "outputs must be added before inputs");
  operands_.push_back(owned ? Operand{nullptr, tensor} : Operand{&tensor, TensorBase()});
  if (output) ++num_outputs_;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::set_check_mem_overlap(bool value) {
  settings_.check_mem_overlap = value;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::allow_cpu_scalars(bool value) {
  settings_.allow_cpu_scalars = value;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::is_reduction(bool value) {
  settings_.is_reduction = value;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::resize_outputs(bool value) {
  settings_.resize_outputs = value;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::check_all_same_dtype(bool value) {
  settings_.check_all_same_dtype = value;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::check_all_same_device(bool value) {
  settings_.check_all_same_device = value;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::enforce_safe_casting_to_output(bool value) {
  settings_.enforce_safe_casting_to_output = value;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::enforce_linear_iteration(bool value) {
  settings_.enforce_linear_iteration = value;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::promote_integer_inputs_to_float(bool value) {
  settings_.promote_integer_inputs_to_float = value;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::promote_inputs_to_common_dtype(bool value) {
  settings_.promote_inputs_to_common_dtype = value;
  if (value) settings_.check_all_same_dtype = false;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::cast_common_dtype_to_outputs(bool value) {
  settings_.cast_common_dtype_to_outputs = value;
  if (value) settings_.check_all_same_dtype = false;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::cast_static_dtype_to_outputs(bool value) {
  settings_.compute_outputs_as_static_dtype = value;
  if (value) settings_.check_all_same_dtype = false;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype(ScalarType dtype) {
  settings_.static_dtype = dtype;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_device(Device device) {
  settings_.static_device = device;
  settings_.has_static_device = true;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype_and_device(ScalarType dtype,
                                                                            Device device) {
  declare_static_device(device);
  return declare_static_dtype(dtype);
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape) {
  OPGEN_CHECK(!settings_.resize_outputs, "a declared shape needs resize_outputs(false)");
  static_shape_ = DimVector(shape);
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape,
                                                                 IntArrayRef squash_dims) {
  declare_static_shape(shape);
  if (static_shape_->empty()) return *this;
  for (std::int64_t d : squash_dims) {
    static_shape_->operator[](std::size_t(maybe_wrap_dim(d, std::int64_t(shape.size())))) = 1;
  }
  return *this;
}

TensorIterator TensorIteratorConfig::build() {
  return TensorIterator(*this);
}

}  // namespace opgen
