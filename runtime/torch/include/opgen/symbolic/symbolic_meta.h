// symbolic_meta.h: the counterparts of MetaBase, TensorIteratorBase and TensorIteratorConfig for
// symbolic sizes, for the targets torch and torch-stable. Their members are defined in
// symbolic_iterator.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "opgen/core/function_ref.h"
#include "opgen/iterator/iterator.h"
#include "opgen/symbolic/symbolic_tensor.h"

namespace opgen {

struct SymbolicMetaBase {
  SymbolicMetaBase() = default;
  SymbolicMetaBase(const SymbolicMetaBase&) = delete;
  SymbolicMetaBase& operator=(const SymbolicMetaBase&) = delete;
  virtual ~SymbolicMetaBase() = default;

  virtual const SymbolicTensor& maybe_get_output(std::int64_t i) = 0;
  const SymbolicTensor& maybe_get_output() { return maybe_get_output(0); }

  // Without kernels, all three functions do the same. A given tensor gets new strides only if it is
  // resized.
  virtual void set_output_raw_strided(std::int64_t i, SymIntArrayRef sizes, SymIntArrayRef strides,
                                      TensorOptions options) = 0;
  void set_output_strided(std::int64_t i, SymIntArrayRef sizes, SymIntArrayRef strides,
                          TensorOptions options) {
    set_output_raw_strided(i, sizes, strides, options);
  }
  void set_output_contiguous(std::int64_t i, SymIntArrayRef sizes, TensorOptions options) {
    set_output_raw_strided(i, sizes, {}, options.memory_format(MemoryFormat::Contiguous));
  }
};

namespace detail {

// An iterator for known sizes. It determines dtypes, devices and casts, from tensors without sizes
// in place of the operands.
class DtypeIterator;

struct IterationLayout {
  bool resize_outputs = true;
  bool is_reduction = false;
  bool linear = false;
  bool check_mem_overlap = true;
  std::optional<SymDimVector> static_shape;
};

}  // namespace detail

class SymbolicIteratorConfig {
 public:
  SymbolicIteratorConfig& add_output(const SymbolicTensor& tensor) { return output(tensor); }
  SymbolicIteratorConfig& add_owned_output(const SymbolicTensor& tensor) { return output(tensor); }
  SymbolicIteratorConfig& add_borrowed_output(const SymbolicTensor& tensor) {
    return output(tensor);
  }
  SymbolicIteratorConfig& add_input(const SymbolicTensor& tensor) { return input(tensor); }
  SymbolicIteratorConfig& add_const_input(const SymbolicTensor& tensor) { return input(tensor); }
  SymbolicIteratorConfig& add_owned_input(const SymbolicTensor& tensor) { return input(tensor); }
  SymbolicIteratorConfig& add_owned_const_input(const SymbolicTensor& tensor) {
    return input(tensor);
  }
  SymbolicIteratorConfig& add_borrowed_input(const SymbolicTensor& tensor) { return input(tensor); }
  SymbolicIteratorConfig& add_borrowed_const_input(const SymbolicTensor& tensor) {
    return input(tensor);
  }

  SymbolicIteratorConfig& set_check_mem_overlap(bool check) {
    layout_.check_mem_overlap = check;
    return *this;
  }
  SymbolicIteratorConfig& is_reduction(bool is) {
    layout_.is_reduction = is;
    types_.is_reduction(is);
    return *this;
  }
  SymbolicIteratorConfig& resize_outputs(bool resize) {
    layout_.resize_outputs = resize;
    types_.resize_outputs(resize);
    return *this;
  }
  SymbolicIteratorConfig& enforce_linear_iteration(bool linear = true) {
    layout_.linear = linear;
    return *this;
  }
  SymbolicIteratorConfig& declare_static_shape(SymIntArrayRef shape) {
    OPGEN_CHECK(!layout_.resize_outputs,
                "resize_outputs() must be called before declare_static_shape(...)");
    layout_.static_shape.emplace(shape.begin(), shape.end());
    return *this;
  }

// Dtypes and devices are determined by the iterator for known sizes.
#define OPGEN_FORWARD(name)                  \
  SymbolicIteratorConfig& name(bool value) { \
    types_.name(value);                      \
    return *this;                            \
  }
  OPGEN_FORWARD(check_all_same_dtype)
  OPGEN_FORWARD(check_all_same_device)
  OPGEN_FORWARD(enforce_safe_casting_to_output)
  OPGEN_FORWARD(promote_inputs_to_common_dtype)
  OPGEN_FORWARD(promote_integer_inputs_to_float)
  OPGEN_FORWARD(cast_common_dtype_to_outputs)
  OPGEN_FORWARD(allow_cpu_scalars)
#undef OPGEN_FORWARD
  SymbolicIteratorConfig& declare_static_dtype_and_device(ScalarType dtype, Device device) {
    types_.declare_static_dtype_and_device(dtype, device);
    return *this;
  }
  SymbolicIteratorConfig& declare_static_dtype(ScalarType dtype) {
    types_.declare_static_dtype(dtype);
    return *this;
  }
  SymbolicIteratorConfig& declare_static_device(Device device) {
    types_.declare_static_device(device);
    return *this;
  }

 private:
  friend struct SymbolicIteratorBase;
  SymbolicIteratorConfig& output(const SymbolicTensor& tensor) {
    outputs_.push_back(tensor);
    return *this;
  }
  SymbolicIteratorConfig& input(const SymbolicTensor& tensor) {
    inputs_.push_back(tensor);
    return *this;
  }

  std::vector<SymbolicTensor> outputs_, inputs_;
  detail::IterationLayout layout_;
  TensorIteratorConfig types_;
};

// Computes the outputs' sizes, strides and dtypes as TensorIteratorBase does. If it is undecided
// which of two strides is larger, their order is kept.
struct SymbolicIteratorBase : SymbolicMetaBase {
  SymbolicIteratorBase();
  SymbolicIteratorBase(const SymbolicIteratorBase&) = delete;
  SymbolicIteratorBase& operator=(const SymbolicIteratorBase&) = delete;
  ~SymbolicIteratorBase() override;

  void build(SymbolicIteratorConfig& config);

#define OPGEN_BUILD_UNARY(name) void name(const SymbolicTensor& out, const SymbolicTensor& a)
#define OPGEN_BUILD_BINARY(name) \
  void name(const SymbolicTensor& out, const SymbolicTensor& a, const SymbolicTensor& b)
  OPGEN_BUILD_UNARY(build_unary_op);
  OPGEN_BUILD_UNARY(build_borrowing_unary_op);
  OPGEN_BUILD_UNARY(build_output_borrowing_argument_owning_unary_op);
  OPGEN_BUILD_UNARY(build_unary_float_op);
  OPGEN_BUILD_UNARY(build_borrowing_unary_float_op);
  OPGEN_BUILD_UNARY(build_borrowing_unary_force_boolean_op);
  OPGEN_BUILD_BINARY(build_binary_op);
  OPGEN_BUILD_BINARY(build_borrowing_binary_op);
  OPGEN_BUILD_BINARY(build_binary_float_op);
  OPGEN_BUILD_BINARY(build_borrowing_binary_float_op);
  OPGEN_BUILD_BINARY(build_comparison_op);
  OPGEN_BUILD_BINARY(build_borrowing_comparison_op);
  OPGEN_BUILD_BINARY(build_borrowing_except_last_argument_comparison_op);
#undef OPGEN_BUILD_UNARY
#undef OPGEN_BUILD_BINARY
  void build_ternary_op(const SymbolicTensor& out, const SymbolicTensor& a, const SymbolicTensor& b,
                        const SymbolicTensor& c);

  // Valid after build.
  [[nodiscard]] ScalarType dtype(std::int64_t i = 0) const;
  [[nodiscard]] ScalarType input_dtype(std::int64_t i = 0) const;
  [[nodiscard]] ScalarType common_dtype() const;
  [[nodiscard]] Device device(std::int64_t i = 0) const;
  [[nodiscard]] DeviceType device_type(std::int64_t i = 0) const {
    return device(i).type();
  }
  [[nodiscard]] int ntensors() const {
    return static_cast<int>(operands_.size());
  }
  [[nodiscard]] int noutputs() const {
    return noutputs_;
  }
  [[nodiscard]] int ninputs() const {
    return ntensors() - noutputs_;
  }
  [[nodiscard]] const SymbolicTensor& tensor(std::int64_t i) const {
    return operands_.at(static_cast<std::size_t>(i));
  }
  [[nodiscard]] const SymbolicTensor& output(std::int64_t i = 0) const {
    return tensor(i);
  }
  [[nodiscard]] const SymbolicTensor& input(std::int64_t i = 0) const {
    return tensor(noutputs_ + i);
  }

 private:
  using BuildTypes = FunctionRef<void(detail::DtypeIterator&, const Tensor*)>;
  void iterate(std::vector<SymbolicTensor> operands, int noutputs,
               const detail::IterationLayout& layout, BuildTypes build_types);

  std::vector<SymbolicTensor> operands_;
  int noutputs_ = 0;
  detail::DtypeIterator* types_ = nullptr;  // owned; without <memory>, which takes long to read
};

}  // namespace opgen
