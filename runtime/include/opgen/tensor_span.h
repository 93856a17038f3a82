// tensor_span.h: TensorSpan, the tensors of one argument or result of an operator where they lie,
// and what ADInplaceOrView does before and after a call with C++ arguments.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>

#include "opgen/kernel_function.h"

namespace opgen {

class TensorBase;

namespace detail {

struct TensorSpan {
  // As a count: not one behind the other, such as optionals in a list.
  static constexpr std::size_t kElsewhere = ~std::size_t(0);

  const TensorBase* first = nullptr;
  std::size_t count = 0;
  bool list = false;
};

// TensorsOf also counts generators, which have keys.
template <class T>
struct HoldsTensors : TensorsOf<T> {};
template <>
struct HoldsTensors<Generator> : std::false_type {};
template <>
struct HoldsTensors<std::optional<Generator>> : std::false_type {};

// Whether operators of a signature are worth a call around their own arguments: those that take a
// tensor to write to, and those of one tensor, among which are the views. All others compile less.
template <class R, class... A>
inline constexpr bool kMayTrack =
    ((std::is_lvalue_reference_v<A> && std::is_same_v<A, std::remove_cvref_t<A>&> &&
      HoldsTensors<std::remove_cvref_t<A>>::value) ||
     ...) ||
    (!std::is_void_v<R> && (0 + ... + int(HoldsTensors<std::remove_cvref_t<A>>::value)) == 1);

// No tensor is copied or counted: the value must outlive the span. `Tensor` is complete here.
template <class T>
TensorSpan tensors_in(const T& value) noexcept {
  if constexpr (std::is_base_of_v<TensorBase, T>) {
    return {&value, 1};
  } else if constexpr (requires { value.has_value(); }) {
    return value.has_value() ? tensors_in(*value) : TensorSpan();
  } else if constexpr (requires {
                         requires std::is_base_of_v<TensorBase,
                                                    std::remove_cvref_t<decltype(*value.data())>>;
                       }) {
    static_assert(sizeof(*value.data()) == sizeof(void*), "a tensor is one pointer");
    return {value.data(), value.size(), true};
  } else if constexpr (HoldsTensors<T>::value) {
    return {nullptr, TensorSpan::kElsewhere};
  } else {
    return {};
  }
}

// Calls work(spans), one span for each return of the operator.
template <class R, class Work>
void with_result_spans(const R& result, Work&& work) {
  const TensorSpan spans[] = {tensors_in(result)};
  work(spans);
}
template <class... T, class Work>
void with_result_spans(const std::tuple<T...>& results, Work&& work) {
  std::apply(
      [&](const auto&... result) {
        const TensorSpan spans[] = {tensors_in(result)..., TensorSpan()};
        work(spans);
      },
      results);
}

// False: a tensor that matters lies elsewhere, and the boxed kernel has to do it. Error if an
// argument may not be written to.
[[nodiscard]] OPGEN_API bool before_tracked_call(const OperatorSlot& slot,
                                                 const KernelFunction& kernel,
                                                 const TensorSpan* arguments);
// Counts the change of written arguments, and marks results as views. `results`: one per return.
OPGEN_API void after_tracked_call(const KernelFunction& kernel, const TensorSpan* arguments,
                                  const TensorSpan* results);

}  // namespace detail
}  // namespace opgen
