// structured.h: the class templates that turn a meta and an impl into the functional, out= and
// in-place operators.
//
//   Functional<K, Impl, Op>
//       allocates the outputs that meta declares, runs impl, and returns the outputs
//   Out<K, Impl, Op>
//       checks dtype and device of the given tensors and whether they share memory (Aliasing), and
//       resizes them
//   Inplace<K, Impl, Op, SelfPos>
//       throws Error if shape, dtype or device would change
//
// If K is Meta, only meta runs. These templates are instantiated for every operator, so code that
// does not depend on an operator's types is compiled into the runtime.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/device/device_guard.h"
#include "opgen/dispatch/operator.h"
#include "opgen/dispatch/own_tensor.h"
#include "opgen/registration/common_device.h"
#include "opgen/registration/concrete.h"
#include "opgen/registration/types.h"
#include "opgen/structured/meta_base.h"
#include "opgen/structured/output_sinks.h"

namespace opgen {

namespace detail {

template <std::size_t N>
struct OutputTensors {
  Tensor tensors[N];
};

// New tensors, to which the sink points.
template <std::size_t N>
class FunctionalOutputs final : private OutputTensors<N>, public OutputSink {
 public:
  explicit FunctionalOutputs(DispatchKey key) noexcept : OutputSink(this->tensors, key) {}
  [[nodiscard]] Tensor& tensor(std::size_t i) noexcept { return this->tensors[i]; }
};

// The caller's tensors.
template <std::size_t N, class Sink = OutputSink>
class WrittenOutputs final : private OutputTensors<N>, public Sink {
 public:
  template <class... O>
  WrittenOutputs(DispatchKey key, OutputSink::Kind kind, O&... outputs) noexcept
      : Sink(given_, this->tensors, key, kind), given_{const_cast<Tensor*>(&outputs)...} {}
  [[nodiscard]] Tensor& tensor(std::size_t i) noexcept {
    return OPGEN_UNLIKELY(this->tensors[i].defined()) ? this->tensors[i]
                                                      : static_cast<Tensor&>(*given_[i]);
  }
  void finish() { OutputSink::finish(N); }

 private:
  TensorBase* given_[N];
};

// Returns a tensor as a `T`, a list of tensors as one of `T`, and any other argument itself.
template <class T, class A>
[[nodiscard]] OPGEN_ALWAYS_INLINE constexpr decltype(auto) passed(A&& argument) noexcept {
  if constexpr (std::is_same_v<std::remove_cvref_t<A>, Tensor>) {
    static_assert(sizeof(T) == sizeof(Tensor) && std::is_base_of_v<Tensor, T>);
    using Given = std::remove_reference_t<A>;
    return static_cast<std::conditional_t<std::is_const_v<Given>, const T&, T&>>(argument);
  } else if constexpr (std::is_same_v<std::remove_cvref_t<A>, ArrayRef<Tensor>>) {
    return ArrayRef<T>(static_cast<const T*>(argument.data()), argument.size());
  } else {
    return static_cast<A>(argument);
  }
}

template <class A>
void visit_argument(const A& argument, std::size_t position, VisitTensor* visit, void* context) {
  if constexpr (requires { argument.is_alias_of(argument); }) {
    visit(context, argument, position);
  } else if constexpr (!TensorsOf<A>::value || requires { argument.defined(); }) {
    return;  // not a tensor or a list of tensors
  } else if constexpr (requires { argument.has_value(); }) {
    if (argument.has_value()) visit_argument(*argument, position, visit, context);
  } else if constexpr (requires { argument.begin(); }) {
    for (const auto& element : argument) visit_argument(element, position, visit, context);
  }
}

// Visits the tensors at given positions of a tuple.
template <class Arguments, class Positions>
struct TensorsAmong;
template <class Arguments, std::size_t... P>
struct TensorsAmong<Arguments, std::index_sequence<P...>> {
  static void visit([[maybe_unused]] const void* arguments, [[maybe_unused]] VisitTensor* visit,
                    [[maybe_unused]] void* context) {
    [[maybe_unused]] const Arguments& all = *static_cast<const Arguments*>(arguments);
    (visit_argument(std::get<P>(all), P, visit, context), ...);
  }
};

template <class Op>
constexpr const char* schema_of() noexcept {
  if constexpr (requires { Op::schema_str; }) {
    return Op::schema_str;
  } else {
    return nullptr;
  }
}

// The sink for the caller's tensors of Impl's operators. If the class does not itself check for
// shared memory, the sink receives the other arguments.
template <class Impl>
inline constexpr bool kIsChecked = Impl::opgen_aliasing != Aliasing::Checked;
template <class Impl>
using WrittenSink = std::conditional_t<kIsChecked<Impl>, CheckedSink, OutputSink>;
template <class Impl>
inline constexpr OutputSink::Kind kOutKind =
    kIsChecked<Impl> ? OutputSink::Kind::CheckedOut : OutputSink::Kind::Out;
template <class Impl>
inline constexpr OutputSink::Kind kInplaceKind =
    kIsChecked<Impl> ? OutputSink::Kind::CheckedInplace : OutputSink::Kind::Inplace;

// Of the first `visited` arguments, all are inputs but the one at `skipped`.
template <class Impl, class Op, std::size_t visited, std::size_t first_out, std::size_t skipped,
          class Outputs, class Arguments>
void set_call(Outputs& outputs, const Arguments& arguments) noexcept {
  if constexpr (kIsChecked<Impl>) {
    using Visited = TensorsAmong<Arguments, std::make_index_sequence<visited>>;
    static constexpr WrittenCall call{schema_of<Op>(), &Visited::visit, first_out, skipped,
                                      Impl::opgen_aliasing};
    outputs.set_call(call, &arguments);
  }
}

template <class Op, class A>
void check_input_device(std::optional<Device>& common, const A& argument, std::size_t position) {
  constexpr bool is_generator =
      std::is_same_v<A, Generator> || std::is_same_v<A, std::optional<Generator>>;
  if constexpr (TensorsOf<A>::value && !is_generator) {
    check_common_device<Op>(common, argument, position);
  }
}

// Checks that all inputs are on the same device. Not needed for an iterator, which makes a check
// that allows numbers on the CPU.
template <DispatchKey K, class Impl, class Op, class... A>
inline void check_input_devices(const A&... arguments) {
  if constexpr (K != DispatchKey::CPU && K != DispatchKey::Meta &&
                !std::is_base_of_v<TensorIteratorBase, Impl>) {
    std::optional<Device> common;
    std::size_t position = 0;
    (check_input_device<Op>(common, arguments, position++), ...);
  }
}

// Called after meta: throws Error unless every output is set and, if impl runs, an iterator is
// built. (A template, so that TensorIteratorBase may be incomplete if it is not used.)
template <class Op, bool runs_impl, class Impl, class Outputs>
inline void check_meta([[maybe_unused]] const Impl& op, const Outputs& outputs, std::size_t count) {
  if constexpr (requires { op.opgen_is_built(); }) {
    if (count == 1 && OPGEN_LIKELY(op.opgen_has_its_output())) return;
    if (runs_impl && OPGEN_UNLIKELY(!op.opgen_is_built())) throw_not_built(Op::name);
  }
  outputs.check_set(count, Op::name);
}

template <DispatchKey K, class Op, class Impl, class Outputs, std::size_t... O, class... A>
inline void run_structured(Impl& op, Outputs& outputs, std::index_sequence<O...>,
                           const A&... arguments) {
  using T = typename Impl::Tensor;  // the class Tensor of the kernel's library
  op.opgen_bind(outputs);
  if constexpr (K == DispatchKey::Meta) {
    static_cast<void>(op.meta(passed<T>(concrete(arguments))...));
    check_meta<Op, false>(op, outputs, sizeof...(O));
  } else if constexpr (requires { typename Impl::meta_return_ty; }) {
    auto precomputed = op.meta(passed<T>(concrete(arguments))...);
    check_meta<Op, true>(op, outputs, sizeof...(O));
    op.opgen_impl(precomputed, passed<T>(concrete(arguments))..., passed<T>(outputs.tensor(O))...);
    if constexpr (std::is_base_of_v<TensorIteratorBase, Impl>) op.cast_outputs();
  } else {
    op.meta(passed<T>(concrete(arguments))...);
    check_meta<Op, true>(op, outputs, sizeof...(O));
    op.impl(passed<T>(concrete(arguments))..., passed<T>(outputs.tensor(O))...);
    if constexpr (std::is_base_of_v<TensorIteratorBase, Impl>) op.cast_outputs();
  }
}

template <class R, class Outputs, std::size_t... O>
inline R take_outputs(Outputs& outputs, std::index_sequence<O...>) {
  return R(std::move(outputs.tensor(O))...);
}

// Returns what an out= operator returns: its out arguments, or nothing.
template <class R, class... T>
inline R return_outputs(T&... outputs) {
  if constexpr (std::is_void_v<R>) {
    return;
  } else if constexpr (sizeof...(T) == 1) {
    return (outputs, ...);
  } else {
    return R(outputs...);
  }
}

}  // namespace detail

template <DispatchKey K, class Impl, class Op, class Signature = typename Op::schema>
struct Functional;
template <DispatchKey K, class Impl, class Op, class R, class... A>
struct Functional<K, Impl, Op, R(A...)> {
  static R call(A... arguments) {
    detail::check_input_devices<K, Impl, Op>(arguments...);
    constexpr std::make_index_sequence<Impl::opgen_outputs> all{};
    detail::FunctionalOutputs<Impl::opgen_outputs> outputs(K);
    Impl op;
    detail::run_structured<K, Op>(op, outputs, all, arguments...);
    return detail::take_outputs<R>(outputs, all);
  }
};

// The last Impl::opgen_outputs arguments are the outputs.
template <DispatchKey K, class Impl, class Op, class Signature = typename Op::schema>
struct Out;
template <DispatchKey K, class Impl, class Op, class R, class... A>
struct Out<K, Impl, Op, R(A...)> {
  static R call(A... arguments) {
    return run(std::tuple<A&...>(arguments...),
               std::make_index_sequence<sizeof...(A) - Impl::opgen_outputs>{},
               std::make_index_sequence<Impl::opgen_outputs>{});
  }

 private:
  template <std::size_t... I, std::size_t... O>
  static R run(const std::tuple<A&...>& arguments, std::index_sequence<I...>,
               std::index_sequence<O...> all) {
    detail::check_input_devices<K, Impl, Op>(std::get<I>(arguments)...);
    constexpr std::size_t first = sizeof...(I);
    detail::WrittenOutputs<sizeof...(O), detail::WrittenSink<Impl>> outputs(
        K, detail::kOutKind<Impl>, std::get<first + O>(arguments)...);
    detail::set_call<Impl, Op, first, first, detail::kNoPosition>(outputs, arguments);
    Impl op;
    detail::run_structured<K, Op>(op, outputs, all, std::get<I>(arguments)...);
    outputs.finish();
    return detail::return_outputs<R>(std::get<first + O>(arguments)...);
  }
};

template <DispatchKey K, class Impl, class Op, std::size_t SelfPos,
          class Signature = typename Op::schema>
struct Inplace;
template <DispatchKey K, class Impl, class Op, std::size_t SelfPos, class R, class... A>
struct Inplace<K, Impl, Op, SelfPos, R(A...)> {
  static R call(A... arguments) {
    detail::check_input_devices<K, Impl, Op>(arguments...);
    const std::tuple<A&...> all(arguments...);
    auto& self = std::get<SelfPos>(all);
    detail::WrittenOutputs<Impl::opgen_outputs, detail::WrittenSink<Impl>> outputs(
        K, detail::kInplaceKind<Impl>, self);
    detail::set_call<Impl, Op, sizeof...(A), SelfPos, SelfPos>(outputs, all);
    Impl op;
    detail::run_structured<K, Op>(op, outputs, std::index_sequence<0>{}, arguments...);
    outputs.finish();
    return detail::return_outputs<R>(self);
  }
};

}  // namespace opgen
