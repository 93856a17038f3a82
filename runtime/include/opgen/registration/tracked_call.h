// tracked_call.h: what autograd does around a call with C++ arguments; TensorSpan, the tensors of
// one argument or result.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>

#include "opgen/dispatch/kernel_function.h"

namespace opgen {

class TensorBase;

namespace detail {

struct TensorSpan {
  // A special value of the count: the tensors are not contiguous in memory, for example in a list
  // of optionals.
  static constexpr std::size_t kElsewhere = ~std::size_t(0);

  const TensorBase* first = nullptr;
  std::size_t count = 0;
  bool list = false;
};

// Excludes generators, which TensorsOf counts because they have keys.
template <class T>
struct HoldsTensors : TensorsOf<T> {};
template <>
struct HoldsTensors<Generator> : std::false_type {};
template <>
struct HoldsTensors<std::optional<Generator>> : std::false_type {};

// Whether a call with C++ arguments is compiled for a signature. It is for signatures that write a
// tensor, and for those with one tensor argument, which may be views. All others use the boxed
// kernel, to save compile time.
template <class R, class... A>
inline constexpr bool kMayTrack =
    ((std::is_lvalue_reference_v<A> && std::is_same_v<A, std::remove_cvref_t<A>&> &&
      HoldsTensors<std::remove_cvref_t<A>>::value) ||
     ...) ||
    (!std::is_void_v<R> && (0 + ... + int(HoldsTensors<std::remove_cvref_t<A>>::value)) == 1);

// Borrows the tensors, so the value must outlive the span. `Tensor` must be complete where this is
// used.
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
    static_assert(sizeof(*value.data()) == sizeof(void*), "a tensor must be one pointer");
    return {value.data(), value.size(), true};
  } else if constexpr (HoldsTensors<T>::value) {
    return {nullptr, TensorSpan::kElsewhere};
  } else {
    return {};
  }
}

// Calls work(spans) with one span for each return of the operator.
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

struct TrackingHooks {
  // Returns whether autograd must record a call on these tensors.
  bool (*needs_recording)(const TensorSpan* arguments, std::size_t count) noexcept;
  // The work of ADInplaceOrView. The first returns false if tensors are not contiguous in memory,
  // so that the boxed kernel must do the work, and throws Error if an argument must not be written
  // to. The second increments the version of written arguments and marks results as views;
  // `results` has one span per return.
  bool (*before)(const OperatorSlot& slot, const KernelFunction& kernel,
                 const TensorSpan* arguments);
  void (*after)(const KernelFunction& kernel, const TensorSpan* arguments,
                const TensorSpan* results);
};
// Autograd sets them, and is what registers kernels that need them. (So calls alone do not link
// it.)
OPGEN_API extern constinit Atomic<const TrackingHooks*> tracking_hooks;

}  // namespace detail
}  // namespace opgen
