// iterator_config.h: TensorIteratorConfig, which builds an iterator by explicit rules:
//   auto iter = TensorIteratorConfig().add_output(out).add_input(a).resize_outputs(false).build();
#pragma once

#include <optional>

#include "opgen/iterator/tensor_iterator.h"

namespace opgen {

// Each call adds an operand, outputs first, or sets a rule. The iterator shares ownership of the
// tensors; add_borrowed_*() keeps references, so the tensors must outlive it.
class OPGEN_API TensorIteratorConfig {
 public:
  TensorIteratorConfig() = default;
  TensorIteratorConfig(const TensorIteratorConfig&) = delete;
  TensorIteratorConfig& operator=(const TensorIteratorConfig&) = delete;

  TensorIteratorConfig& add_output(const TensorBase& tensor) { return add(tensor, true, true); }
  TensorIteratorConfig& add_input(const TensorBase& tensor) { return add(tensor, false, true); }
  TensorIteratorConfig& add_const_input(const TensorBase& tensor) { return add_input(tensor); }
  TensorIteratorConfig& add_owned_output(const TensorBase& tensor) { return add_output(tensor); }
  TensorIteratorConfig& add_owned_input(const TensorBase& tensor) { return add_input(tensor); }
  TensorIteratorConfig& add_owned_const_input(const TensorBase& tensor) {
    return add_input(tensor);
  }
  TensorIteratorConfig& add_borrowed_output(const TensorBase& tensor) {
    return add(tensor, true, false);
  }
  TensorIteratorConfig& add_borrowed_input(const TensorBase& tensor) {
    return add(tensor, false, false);
  }
  TensorIteratorConfig& add_borrowed_const_input(const TensorBase& tensor) {
    return add_borrowed_input(tensor);
  }
  TensorIteratorConfig& add_borrowed_output(TensorBase&& tensor) = delete;
  TensorIteratorConfig& add_borrowed_input(TensorBase&& tensor) = delete;
  TensorIteratorConfig& add_borrowed_const_input(TensorBase&& tensor) = delete;

  // Throw Error for an output whose elements overlap each other, or partially overlap an input.
  // Default: true.
  TensorIteratorConfig& set_check_mem_overlap(bool value);
  // Accept a zero-dim CPU tensor among tensors of another device.
  TensorIteratorConfig& allow_cpu_scalars(bool value);
  TensorIteratorConfig& is_reduction(bool value);
  // Resize outputs that are not inputs to the shape of the result. Default: true.
  TensorIteratorConfig& resize_outputs(bool value);
  // Throw Error if operands have different dtypes. Default: true, unless promotion or casting is
  // switched on.
  TensorIteratorConfig& check_all_same_dtype(bool value);
  TensorIteratorConfig& check_all_same_device(bool value);
  TensorIteratorConfig& enforce_safe_casting_to_output(bool value);
  // Keep the order of dimensions, so that elements are visited in row-major order.
  TensorIteratorConfig& enforce_linear_iteration(bool value = true);
  // Convert inputs to their common dtype (on the CPU, to temporaries).
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool value);
  TensorIteratorConfig& promote_integer_inputs_to_float(bool value);
  // Compute outputs in the common dtype and convert them at the end.
  TensorIteratorConfig& cast_common_dtype_to_outputs(bool value);
  // Compute outputs in the declared dtype and convert them at the end.
  TensorIteratorConfig& cast_static_dtype_to_outputs(bool value);
  // Set the dtype and device of outputs that the iterator allocates.
  TensorIteratorConfig& declare_static_dtype(ScalarType dtype);
  TensorIteratorConfig& declare_static_device(Device device);
  TensorIteratorConfig& declare_static_dtype_and_device(ScalarType dtype, Device device);
  // Sets the shape of the iteration, instead of the shape to which the operands broadcast. Needs
  // resize_outputs(false). Dimensions in `squash_dims` get size 1.
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape);
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape, IntArrayRef squash_dims);

  [[nodiscard]] TensorIterator build();

 private:
  struct Operand {
    const TensorBase* borrowed;
    TensorBase owned;
  };
  TensorIteratorConfig& add(const TensorBase& tensor, bool output, bool owned);

  SmallVector<Operand, 4> operands_;
  int num_outputs_ = 0;
  detail::IteratorSettings settings_;
  std::optional<DimVector> static_shape_;

  friend struct TensorIteratorBase;
};

}  // namespace opgen
