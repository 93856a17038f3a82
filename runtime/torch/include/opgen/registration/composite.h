// composite.h: helpers for the composite kernels that opgen generates. They copy views, arguments
// that an in-place operator will change, and results to out= arguments.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/tensor/resize.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

template <class T>
concept TensorLike = std::is_base_of_v<TensorBase, T>;

namespace detail {

[[noreturn]] inline void throw_output_count(std::size_t expected, std::size_t got) {
  TORCH_CHECK(false, "expected ", expected, " out tensors, got ", got);
}

// Assigns a result in the same way as ATen's generated variants: the shape of `out` may change, but
// not its dtype and device.
inline void assign_result(const Tensor& out, const Tensor& result) {
  resize_output(out, result.sym_sizes());
  TORCH_CHECK(result.dtype() == out.dtype(), "Expected out tensor to have dtype ", result.dtype(),
              ", but got ", out.dtype(), " instead");
  TORCH_CHECK(result.device() == out.device(), "Expected out tensor to have device ",
              result.device(), ", but got ", out.device(), " instead");
  out.copy_(result);
}
inline void assign_result(TensorList outs, const std::vector<Tensor>& results) {
  if (outs.size() != results.size()) throw_output_count(results.size(), outs.size());
  for (std::size_t i = 0; i < results.size(); ++i) assign_result(outs[i], results[i]);
}

}  // namespace detail

// Returns a row-major copy of a view.
[[nodiscard]] inline Tensor clone_view(const Tensor& view) {
  return view.defined() ? view.clone(MemoryFormat::Contiguous) : view;
}
[[nodiscard]] inline std::vector<Tensor> clone_view(const std::vector<Tensor>& views) {
  std::vector<Tensor> copies;
  copies.reserve(views.size());
  for (const Tensor& view : views) copies.push_back(clone_view(view));
  return copies;
}

// Returns a copy of an argument, with the same strides, that an in-place operator may change
// without the caller seeing it.
[[nodiscard]] inline Tensor clone_arg(const Tensor& tensor) {
  return tensor.defined() ? tensor.clone() : tensor;
}
[[nodiscard]] inline std::optional<Tensor> clone_arg(const std::optional<Tensor>& tensor) {
  if (!tensor.has_value()) return std::nullopt;
  return clone_arg(*tensor);
}
[[nodiscard]] inline std::vector<Tensor> clone_arg(TensorList tensors) {
  std::vector<Tensor> copies;
  copies.reserve(tensors.size());
  for (const Tensor& tensor : tensors) copies.push_back(clone_arg(tensor));
  return copies;
}
[[nodiscard]] inline std::optional<std::vector<Tensor>> clone_arg(
    const std::optional<TensorList>& tensors) {
  if (!tensors.has_value()) return std::nullopt;
  return clone_arg(*tensors);
}
[[nodiscard]] inline List<std::optional<Tensor>> clone_arg(
    const List<std::optional<Tensor>>& tensors) {
  List<std::optional<Tensor>> copies;
  copies.reserve(tensors.size());
  for (const std::optional<Tensor> tensor : tensors) copies.push_back(clone_arg(tensor));
  return copies;
}

}  // namespace opgen

#include "opgen/registration/assign_outputs.h"  // must follow detail::assign_result
