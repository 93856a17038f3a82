// composite.h: helpers for the composite kernels that opgen generates. They copy views, arguments
// that an in-place operator will change, and results to out= arguments.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/registration/list.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

namespace detail {

// Returns a clone; an undefined tensor for an undefined one.
[[nodiscard]] OPGEN_API TensorBase clone_or_undefined(const TensorBase& tensor,
                                                      std::optional<MemoryFormat> format);
// Resizes `out` to the shape of `result` (see resize_output) and copies the elements.
OPGEN_API void assign_output(const TensorBase& out, const TensorBase& result);
OPGEN_API OPGEN_COLD void throw_output_count(std::size_t expected, std::size_t got);

template <class T>
concept TensorLike = std::is_base_of_v<TensorBase, T>;

template <TensorLike R, TensorLike O>
void assign_result(O& out, const R& result) {
  assign_output(out, result);
}
template <TensorLike R, class O>
requires requires(const O& outs) {
  outs[0].defined();
}
void assign_result(const O& outs, const std::vector<R>& results) {
  if (outs.size() != results.size()) throw_output_count(results.size(), outs.size());
  for (std::size_t i = 0; i < results.size(); ++i) assign_output(outs[i], results[i]);
}

}  // namespace detail

// Returns a row-major copy of a view.
template <detail::TensorLike T>
[[nodiscard]] T clone_view(const T& view) {
  return T(detail::clone_or_undefined(view, MemoryFormat::Contiguous));
}
template <detail::TensorLike T>
[[nodiscard]] std::vector<T> clone_view(const std::vector<T>& views) {
  std::vector<T> copies;
  copies.reserve(views.size());
  for (const T& view : views) copies.push_back(clone_view(view));
  return copies;
}

// Returns a copy of an argument, with its strides, for an in-place operator to change.
template <detail::TensorLike T>
[[nodiscard]] T clone_arg(const T& tensor) {
  return T(detail::clone_or_undefined(tensor, std::nullopt));
}
template <detail::TensorLike T>
[[nodiscard]] std::optional<T> clone_arg(const std::optional<T>& tensor) {
  if (!tensor.has_value()) return std::nullopt;
  return clone_arg(*tensor);
}
template <detail::TensorLike T>
[[nodiscard]] std::vector<T> clone_arg(ArrayRef<T> tensors) {
  std::vector<T> copies;
  copies.reserve(tensors.size());
  for (const T& tensor : tensors) copies.push_back(clone_arg(tensor));
  return copies;
}
template <class T>
[[nodiscard]] List<std::optional<T>> clone_arg(const List<std::optional<T>>& tensors) {
  std::vector<std::optional<T>> copies;
  copies.reserve(tensors.size());
  for (const std::optional<T>& tensor : tensors) copies.push_back(clone_arg(tensor));
  return List<std::optional<T>>(std::move(copies));
}

}  // namespace opgen

#include "opgen/registration/assign_outputs.h"  // must follow detail::assign_result
