// formulas.h: names that the formulas of a derivatives.yaml may use, on both targets.
#pragma once

#include <cmath>  // for formulas that call functions of numbers
#include <cstdint>
#include <optional>
#include <vector>

#include "opgen/autograd/grad_mode.h"
#include "opgen/autograd/optional_of.h"
#include "opgen/autograd/primitives.h"
#include "opgen/autograd/tensor_operators.h"
#include "opgen/tensor_functions.h"

namespace opgen::autograd {

namespace internal {
[[noreturn]] OPGEN_API OPGEN_COLD void throw_not_implemented(std::string_view name,
                                                             std::string_view reason);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_no_strides(std::string_view name);
[[nodiscard]] OPGEN_API bool is_zero_tangent(const TensorBase& tangent) noexcept;
}  // namespace internal

namespace formulas {

using opgen::AutoGradMode;
using opgen::GradMode;
using opgen::NoGradGuard;

// Stands for the gradient of an input that has no formula. Throws NotImplementedError.
template <class T = Tensor>
[[noreturn]] T not_implemented(std::string_view name, std::string_view reason = "") {
  internal::throw_not_implemented(name, reason);
}
template <class T = Tensor>
[[noreturn]] std::vector<T> not_implemented_list(std::string_view name,
                                                 std::string_view reason = "") {
  internal::throw_not_implemented(name, reason);
}

// Returns the tensor for an operator that takes it only if its value is needed.
template <class T>
[[nodiscard]] std::optional<T> wrap_opt_if(const T& tensor, bool condition) {
  return condition ? std::optional<T>(tensor) : std::nullopt;
}
template <class T>
[[nodiscard]] std::optional<T> wrap_opt_if(const internal::OptionalOf<T>& tensor, bool condition) {
  // std::optional<T>(tensor) would hold an undefined tensor: the argument is also a T.
  if (!condition) return std::nullopt;
  return tensor;
}
template <class T>
requires std::is_base_of_v<TensorBase, T>
[[nodiscard]] const T& toNonOptTensor(const T& tensor) noexcept {
  return tensor;
}
template <class T>
[[nodiscard]] T toNonOptTensor(const std::optional<T>& tensor) {
  return tensor.has_value() ? *tensor : T();
}
template <class List>
[[nodiscard]] bool any_variable_defined(const List& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) return true;
  }
  return false;
}

// Returns whether a tangent in a forward formula is that of an argument without one. Its products
// need not be computed, and with an infinite or undefined factor they would not be zero.
[[nodiscard]] inline bool is_zero_tangent(const TensorBase& tangent) noexcept {
  return internal::is_zero_tangent(tangent);
}

// Returns the real part of a complex gradient if the input (or its dtype) is real, else the
// gradient.
template <class T>
[[nodiscard]] T handle_r_to_c(ScalarType dtype, const T& gradient) {
  if (!gradient.defined() || isComplexType(dtype) || !gradient.is_complex()) return gradient;
  return T(primitive::cast(gradient, toRealValueType(gradient.scalar_type())));
}
template <class T>
[[nodiscard]] T handle_r_to_c(const TensorBase& input, const T& gradient) {
  return handle_r_to_c(input.scalar_type(), gradient);
}

// Return the sizes and dtypes of the tensors of a list.
template <class List>
[[nodiscard]] std::vector<std::vector<std::int64_t>> to_args_sizes(const List& tensors) {
  std::vector<std::vector<std::int64_t>> sizes;
  for (std::size_t i = 0; i < tensors.size(); ++i) sizes.push_back(tensors[i].sizes().vec());
  return sizes;
}
template <class List>
[[nodiscard]] std::vector<std::vector<SymInt>> to_args_sizes_symint(const List& tensors) {
  return to_args_sizes(tensors);
}
template <class List>
[[nodiscard]] std::vector<ScalarType> to_args_scalartypes(const List& tensors) {
  std::vector<ScalarType> dtypes;
  for (std::size_t i = 0; i < tensors.size(); ++i) dtypes.push_back(tensors[i].scalar_type());
  return dtypes;
}
[[nodiscard]] inline IntArrayRef strides_or_error(const TensorBase& tensor, std::string_view name) {
  if (tensor.defined() && tensor.layout() != kStrided) internal::throw_no_strides(name);
  return tensor.strides();
}

// The properties of a tensor that zeros_like() needs.
struct TypeAndSize {
  TypeAndSize() = default;
  TypeAndSize(const TensorBase& tensor)  // NOLINT
      : sizes(tensor.sizes()), options(tensor.defined() ? tensor.options() : TensorOptions()) {}
  template <class T = Tensor>
  [[nodiscard]] T zeros() const {
    return T(opgen::detail::full(sizes, 0, options));
  }
  DimVector sizes;
  TensorOptions options;
};

// Sizes, strides and offset of a tensor, without its bytes.
class TensorGeometry {
 public:
  TensorGeometry() = default;
  explicit TensorGeometry(const TensorBase& tensor)
      : sizes_(tensor.sizes()),
        strides_(tensor.strides()),
        storage_offset_(tensor.storage_offset()),
        numel_(tensor.numel()) {}

  [[nodiscard]] std::int64_t dim() const noexcept {
    return static_cast<std::int64_t>(sizes_.size());
  }
  [[nodiscard]] IntArrayRef sizes() const noexcept { return sizes_; }
  [[nodiscard]] IntArrayRef strides() const noexcept { return strides_; }
  [[nodiscard]] std::int64_t size(std::int64_t d) const {
    return sizes_[std::size_t(maybe_wrap_dim(d, dim(), false))];
  }
  [[nodiscard]] std::int64_t stride(std::int64_t d) const {
    return strides_[std::size_t(maybe_wrap_dim(d, dim(), false))];
  }
  [[nodiscard]] std::int64_t numel() const noexcept { return numel_; }
  [[nodiscard]] std::int64_t storage_offset() const noexcept { return storage_offset_; }
  [[nodiscard]] SymIntArrayRef sym_sizes() const noexcept { return sizes_; }
  [[nodiscard]] SymIntArrayRef sym_strides() const noexcept { return strides_; }
  [[nodiscard]] SymInt sym_numel() const noexcept { return numel_; }
  [[nodiscard]] SymInt sym_storage_offset() const noexcept { return storage_offset_; }

 private:
  DimVector sizes_;
  DimVector strides_;
  std::int64_t storage_offset_ = 0;
  std::int64_t numel_ = 0;
};

// Returns whether tensors of this dtype can have gradients.
[[nodiscard]] inline bool isDifferentiableType(ScalarType dtype) noexcept {
  return isFloatingType(dtype) || isComplexType(dtype);
}

// ---- Functions that formulas call if the library has no operator of this name ----

template <opgen::detail::AnyTensor T>
[[nodiscard]] T zeros_like(const T& tensor) {
  return T(opgen::detail::full(tensor.sizes(), 0, tensor.options()));
}
template <opgen::detail::AnyTensor T>
[[nodiscard]] T conj(const T& tensor) {
  return T(primitive::conj(tensor));
}
// Returns the tensor itself if it is not complex. The result is not a view.
template <opgen::detail::AnyTensor T>
[[nodiscard]] T real(const T& tensor) {
  return T(primitive::real(tensor));
}
template <opgen::detail::AnyTensor T>
[[nodiscard]] T where(const T& condition, const T& self, const T& other) {
  return T(primitive::where(condition, self, other));
}
template <opgen::detail::AnyTensor T>
[[nodiscard]] T where(const T& condition, const T& self, const Scalar& other) {
  return T(primitive::where(condition, self, opgen::detail::number(other)));
}
template <opgen::detail::AnyTensor T>
[[nodiscard]] T where(const T& condition, const Scalar& self, const T& other) {
  return T(primitive::where(condition, opgen::detail::number(self), other));
}
// Returns the sum over the dimensions in which `sizes` was broadcast.
template <opgen::detail::AnyTensor T>
[[nodiscard]] T sum_to(const T& tensor, IntArrayRef sizes) {
  return T(primitive::sum_to(tensor, sizes));
}

}  // namespace formulas
}  // namespace opgen::autograd
