// composite.h: what the kernels that opgen writes itself are made of: copies of views, copies of
// arguments that an in-place operator will change, results moved into out= arguments.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/copy.h"
#include "opgen/resize.h"
#include "opgen/tensor.h"

namespace opgen {

namespace detail {

// clone() for an undefined tensor gives an undefined tensor.
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

// A view's elements in memory of their own, row-major.
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

// An argument that an in-place operator may change without the caller seeing it. Strides are kept.
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

// Stores the result of a functional operator, a tensor, a list of tensors or a tuple of these, in
// `outs`.
template <class R, class... O>
void assign_outputs(const R& result, O&&... outs) {
  if constexpr (requires { std::tuple_size<R>::value; }) {
    static_assert(std::tuple_size_v<R> == sizeof...(O), "one out argument for each result");
    std::apply([&](const auto&... results) { (detail::assign_result(outs, results), ...); },
               result);
  } else {
    static_assert(sizeof...(O) == 1, "one out argument for one result");
    (detail::assign_result(outs, result), ...);
  }
}

}  // namespace opgen
