// boxing.h: calls of operators through PyTorch's dispatcher, and kernels in the form that its C
// functions take.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/dispatch/operator.h"
#include "opgen/dispatch/schema_text.h"
#include "opgen/dispatch/values.h"

namespace opgen {

namespace detail {

// Throws the exception that is being handled as one of the standard library, which PyTorch turns
// into Python's: IndexError, ValueError or RuntimeError.
[[noreturn]] OPGEN_API OPGEN_COLD void rethrow_as_standard();

// While an operator is called below Autograd, the exception of its kernel is kept: rethrow() throws
// it again, if there was one.
class OPGEN_API BelowScope {
 public:
  BelowScope() noexcept : outer_(active_) { active_ = true; }
  ~BelowScope() { active_ = outer_; }
  BelowScope(const BelowScope&) = delete;
  BelowScope& operator=(const BelowScope&) = delete;
  [[nodiscard]] static bool is_active() noexcept { return active_; }
  OPGEN_COLD static void rethrow();

 private:
  static constinit thread_local bool active_ OPGEN_TLS;
  bool outer_;
};

// While a kernel runs, calls of operators are not recorded by autograd, as below it in PyTorch.
class OPGEN_API KernelScope {
 public:
  explicit KernelScope(bool below_autograd) noexcept : outer_(below_autograd_) {
    below_autograd_ = below_autograd;
  }
  ~KernelScope() { below_autograd_ = outer_; }
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;
  [[nodiscard]] static bool is_below_autograd() noexcept { return below_autograd_; }

 private:
  static constinit thread_local bool below_autograd_ OPGEN_TLS;
  bool outer_;
};

// Copies the elements of a tensor to another one, without autograd, as in a kernel.
OPGEN_API void copy_unrecorded(const TensorBase& to, const TensorBase& from);

// Counts a write for autograd: PyTorch does not count those of other libraries' kernels.
OPGEN_API void count_write(const TensorBase& tensor);
template <class T>
void count_writes(const T& argument) {
  if constexpr (kIsTensor<T>) {
    count_write(argument);
  } else if constexpr (requires { argument.has_value(); }) {
    if (argument.has_value()) count_writes(*argument);
  } else if constexpr (requires { argument.begin(); } && !std::is_same_v<T, std::string>) {
    for (const auto& element : argument) count_writes(element);
  }
}

template <class Op, std::size_t i>
inline constexpr bool kWrites = schema_argument(Op::schema_str, i).is_written();

enum class CalledFor { Backend, DenseCPU, Composite };

// Calls `kernel`, a function of the operator's own signature.
template <class Op, auto kernel>
struct BoxedKernel;
template <class Op, class R, class... A, R (*kernel)(A...)>
struct BoxedKernel<Op, kernel> {
  static void call(Word* stack, std::uint64_t, std::uint64_t) { run(stack, CalledFor::Backend); }
  static void call_on_cpu(Word* stack, std::uint64_t, std::uint64_t) {
    run(stack, CalledFor::DenseCPU);
  }
  static void call_composite(Word* stack, std::uint64_t, std::uint64_t) {
    run(stack, CalledFor::Composite);
  }

 private:
  OPGEN_NOINLINE static void run(Word* stack, CalledFor what) {
    try {
      run_with(stack, what, std::index_sequence_for<A...>{});
    } catch (...) {
      rethrow_as_standard();
    }
  }
  template <std::size_t... I>
  OPGEN_ALWAYS_INLINE static void run_with(Word* stack, CalledFor what, std::index_sequence<I...>) {
    std::tuple<owner_t<A>...> owners{take<A>(stack[I], what)...};
    const KernelScope scope(what != CalledFor::Composite);
    if constexpr (std::is_void_v<R>) {
      kernel(as_parameter<A>(std::get<I>(owners))...);
      count<I...>(owners, what);
    } else {
      R results = kernel(as_parameter<A>(std::get<I>(owners))...);
      count<I...>(owners, what);
      give_results(stack, static_cast<R&&>(results));
    }
  }
  template <class P>
  OPGEN_ALWAYS_INLINE static owner_t<P> take(Word word, CalledFor what) {
    if constexpr (kIsTensor<owner_t<P>>) {
      if (OPGEN_LIKELY(what == CalledFor::DenseCPU)) {
        return TensorBase::adopt(
            TensorImpl::create(reinterpret_cast<AtenTensorHandle>(word), true));
      }
    }
    return Value<owner_t<P>>::take(word);
  }
  template <std::size_t... I>
  OPGEN_ALWAYS_INLINE static void count([[maybe_unused]] const std::tuple<owner_t<A>...>& owners,
                                        CalledFor what) {
    if (what == CalledFor::Composite) return;
    (count_one<I>(std::get<I>(owners)), ...);
  }
  template <std::size_t i>
  OPGEN_ALWAYS_INLINE static void count_one([[maybe_unused]] const auto& owner) {
    if constexpr (kWrites<Op, i>) count_writes(owner);
  }
};

// The name of the operator that is called: another one, if numbers are passed as lists.
template <class Op>
constexpr const char* dispatched_name() noexcept {
  if constexpr (requires { Op::dispatched_name; }) {
    return Op::dispatched_name;
  } else {
    return Op::name;
  }
}
// Calls an operator by its names; arguments and results are on the stack.
OPGEN_API void call_dispatcher(const char* name, const char* overload, Word* stack,
                               bool has_numbers = false);

// What a call may have changed is asked again.
template <class T>
void forget_layout_of(const T& argument) {
  if constexpr (kIsTensor<T>) {
    if (argument.defined()) argument.unsafeGetTensorImpl()->forget_layout();
  } else if constexpr (std::is_same_v<T, ArrayRef<Tensor>>) {
    for (const Tensor& tensor : argument) forget_layout_of(tensor);
  }
}

template <class T>
struct ResultCount : std::integral_constant<std::size_t, 1> {};
template <>
struct ResultCount<void> : std::integral_constant<std::size_t, 0> {};
template <class... T>
struct ResultCount<std::tuple<T...>> : std::integral_constant<std::size_t, sizeof...(T)> {};

template <class R, std::size_t... I>
R take_results(Word* stack, std::index_sequence<I...>) {
  if constexpr (requires { std::tuple_size<R>::value; }) {
    return R{Value<std::tuple_element_t<I, R>>::take(stack[I])...};
  } else {
    return Value<R>::take(stack[0]);
  }
}

// Whether values of this type hold numbers of any kind.
template <class T>
inline constexpr bool kHoldsNumbers = std::is_same_v<T, Scalar>;
template <class T>
inline constexpr bool kHoldsNumbers<std::optional<T>> = kHoldsNumbers<T>;
template <class T>
inline constexpr bool kHoldsNumbers<ArrayRef<T>> = kHoldsNumbers<T>;

template <bool is_wanted, class A>
auto reference_if(A& argument) {
  if constexpr (is_wanted) {
    return std::tuple<A&>(argument);
  } else {
    return std::tuple<>();
  }
}
// The arguments that are returned by reference: the tensors that are written, in their order.
template <class Op, class R, std::size_t... I, class... A>
R written_arguments(std::index_sequence<I...>, A&... arguments) {
  auto written = std::tuple_cat(reference_if < kIsTensor<std::remove_cv_t<A>> && kWrites < Op,
                                I >> (arguments)...);
  if constexpr (std::is_reference_v<R>) {
    return std::get<0>(written);
  } else {
    return std::apply([](auto&... each) { return R(each...); }, written);
  }
}

template <class R>
inline constexpr bool kReturnsReferences = std::is_reference_v<R>;
template <class... R>
inline constexpr bool kReturnsReferences<std::tuple<R...>> = sizeof...(R) != 0 &&
                                                             (std::is_reference_v<R> && ...);

}  // namespace detail

template <class Derived, class R, class... A>
R Operator<Derived, R(A...)>::call(A... arguments) {
  constexpr std::size_t results = detail::ResultCount<R>::value;
  constexpr std::size_t room = sizeof...(A) > results ? sizeof...(A) : results;
  detail::Word stack[room == 0 ? 1 : room] = {
      detail::Value<std::remove_cvref_t<A>>::give(arguments)...};
  // The library's own operators take numbers as lists.
  constexpr bool is_own = requires {
    Derived::dispatched_name;
  };
  detail::call_dispatcher(detail::dispatched_name<Derived>(), Derived::overload_name, stack,
                          !is_own && (detail::kHoldsNumbers<std::remove_cvref_t<A>> || ...));
  (detail::forget_layout_of(arguments), ...);
  if constexpr (std::is_void_v<R>) {
    return;
  } else if constexpr (detail::kReturnsReferences<R>) {
    for (std::size_t i = 0; i < results; ++i) {
      static_cast<void>(detail::Words::take_tensor(stack[i]));
    }
    return detail::written_arguments<Derived, R>(std::index_sequence_for<A...>{}, arguments...);
  } else {
    return detail::take_results<R>(stack, std::make_index_sequence<results>{});
  }
}

}  // namespace opgen
