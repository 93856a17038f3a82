// derived_formulas.h: the functions that formulas of derivatives.yaml may call in addition to
// ATen's.
#pragma once

#include <ATen/TensorGeometry.h>
#include <ATen/ops/real.h>

#include <cmath>  // for formulas that call functions of numbers
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opgen/autograd/derived_saved.h"

namespace opgen::autograd {

namespace detail {

[[noreturn]] inline void fail_not_implemented(std::string_view name, std::string_view reason) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "the derivative for '", name, "' is not implemented.",
                              reason.empty() ? "" : " ", reason);
}

}  // namespace detail

namespace formulas {

using namespace at;  // NOLINT(google-build-using-namespace): formulas call ATen's functions

using opgen::autograd::TypeAndSize;
using torch::autograd::GradMode;
using torch::autograd::isDifferentiableType;
using torch::autograd::to_args_scalartypes;
using torch::autograd::to_args_sizes;
using torch::autograd::to_args_sizes_symint;

inline at::Tensor not_implemented(std::string_view name, std::string_view reason = "") {
  opgen::autograd::detail::fail_not_implemented(name, reason);
}
inline std::vector<at::Tensor> not_implemented_list(std::string_view name,
                                                    std::string_view reason = "") {
  opgen::autograd::detail::fail_not_implemented(name, reason);
}

inline std::optional<at::Tensor> wrap_opt_if(const at::Tensor& tensor, bool condition) {
  return condition ? std::optional<at::Tensor>(tensor) : std::nullopt;
}

inline std::optional<at::Tensor> wrap_opt_if(const OptionalTensor& tensor, bool condition) {
  // std::optional<at::Tensor>(tensor) would hold an undefined tensor: the argument is also a
  // Tensor.
  if (!condition) return std::nullopt;
  return tensor;
}

// Returns the gradient of an input of type `dtype`. A real input has a real gradient.
inline at::Tensor handle_r_to_c(at::ScalarType dtype, const at::Tensor& gradient) {
  return !at::isComplexType(dtype) && gradient.is_complex() ? at::real(gradient) : gradient;
}
inline at::Tensor handle_r_to_c(const at::Tensor& self, const at::Tensor& gradient) {
  return handle_r_to_c(self.scalar_type(), gradient);
}

inline at::Tensor toNonOptTensor(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? *tensor : at::Tensor();
}
inline at::Tensor toNonOptFwGrad(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? tensor->_fw_grad(/*level=*/0) : at::Tensor();
}
inline at::Tensor toNonOptPrimal(const std::optional<at::Tensor>& tensor) {
  if (!tensor.has_value() || !tensor->defined()) return at::Tensor();
  return tensor->unsafeGetTensorImpl()->is_wrapped_number() ? *tensor
                                                            : tensor->_fw_primal(/*level=*/0);
}
inline bool isFwGradDefined(const std::optional<at::Tensor>& tensor) {
  return toNonOptFwGrad(tensor).defined();
}

inline c10::SymIntArrayRef strides_or_error(const at::Tensor& tensor, std::string_view name) {
  TORCH_CHECK(tensor.layout() == at::kStrided, "the strides of '", name,
              "' are needed, but its layout is ", tensor.layout());
  return tensor.sym_strides();
}

}  // namespace formulas

}  // namespace opgen::autograd
