// derived.h: the Autograd kernels of operators with formulas in derivatives.yaml. A generated node
// contains only what differs between operators: the values that it saves, and the formulas. This
// header contains the rest.
//
//   struct MulBackward0 {
//     static constexpr const char* kName = "MulBackward0";
//     using Inputs = std::index_sequence<0, 1>;  // arguments that have a formula
//     using Outputs = std::index_sequence<0>;    // returns that have a gradient
//     opgen::autograd::Saved<Tensor> other_;
//     …
//     void for_each_saved(auto&& f) { f(other_); … }
//     void save(const Recording& call, const auto& self, const auto& other);  // before the
//     operator void save_outputs(const Recording& call, const auto& result);           // after it
//     void backward(BackwardCall& call, const OutputGradients& grads);
//     static void forward(ForwardCall& call, const auto& self, const auto& other,
//                         const auto& result);
//   };
//   opgen::autograd::recorded<MulBackward0, _ops::mul_Tensor, Kind::functional>()
//
// A node may leave out everything but the names, Inputs, Outputs and backward().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/autograd/derived_call.h"
#include "opgen/autograd/formulas.h"
#include "opgen/autograd/given.h"
#include "opgen/dispatch/own_tensor.h"
#include "opgen/registration/registration_tables.h"

namespace opgen::autograd {

namespace internal {

// ---- Nodes -------------------------------------------------------------------------------------

struct Release {
  Released& released;
  void operator()(auto& saved) const { saved.release(released); }
};

template <class D>
class NodeOf final : public DerivedNode {
 public:
  D formulas;

 protected:
  [[nodiscard]] const char* label() const noexcept override { return D::kName; }
  void run(BackwardCall& call, const OutputGradients& gradients) override {
    formulas.backward(call, gradients);
  }
  void release(Released& released) override {
    if constexpr (requires { formulas.for_each_saved(Release{released}); }) {
      formulas.for_each_saved(Release{released});
    } else {
      static_cast<void>(released);
    }
  }
  [[nodiscard]] bool takes_zeros() const noexcept override {
    if constexpr (requires { D::kZeros; }) return D::kZeros;
    return false;
  }
};

template <class D>
inline constexpr bool kReadsSelf = [] {
  if constexpr (requires { D::kReadsSelf; }) return D::kReadsSelf;
  return false;
}();

// ---- Positions ---------------------------------------------------------------------------------

template <std::size_t... i>
constexpr bool contains(std::index_sequence<i...>, std::size_t position) noexcept {
  return (false || ... || (i == position));
}
template <std::size_t... i>
struct Positions {
  static constexpr std::uint8_t values[sizeof...(i) + 1] = {static_cast<std::uint8_t>(i)..., 0};
};
template <std::size_t... i>
constexpr Positions<i...> positions(std::index_sequence<i...>) noexcept {
  return {};
}
template <class D>
constexpr auto without_gradient() noexcept {
  if constexpr (requires { typename D::WithoutGradient; }) {
    return typename D::WithoutGradient();
  } else {
    return std::index_sequence<>();
  }
}

template <std::size_t size>
struct PositionList {
  std::uint8_t values[size + 1] = {};
  std::uint8_t count = 0;
};
// The positions of arguments that contain tensors, have no formula and are not declared
// non_differentiable.
template <class D, class... A>
constexpr auto others() noexcept {
  constexpr bool holds[] = {opgen::detail::HoldsTensors<std::remove_cvref_t<A>>::value..., false};
  PositionList<sizeof...(A)> found;
  for (std::size_t i = 0; i < sizeof...(A); ++i) {
    if (holds[i] && !contains(typename D::Inputs(), i) && !contains(without_gradient<D>(), i)) {
      found.values[found.count++] = static_cast<std::uint8_t>(i);
    }
  }
  return found;
}

// ---- The call ----------------------------------------------------------------------------------

// One call that may be recorded, from before the operator runs until its outputs have a history.
// It contains the code that the hundreds of kernels share, out of line.
class OPGEN_API RecordedCall : public Recording {
 public:
  // Throws Error if an argument without a formula needs a gradient.
  RecordedCall(const DerivedOperator& op, const TensorSpan* arguments);
  ~RecordedCall();
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  // Takes the node, and adds the edges of the inputs.
  void attach(DerivedNode* node);
  // Throws NotImplementedError if an argument has a tangent and the operator no formula for it. Not
  // for calls whose results have no gradient, and so no tangent.
  void check_forward() const;
  // For an in-place operator with tangents: keeps argument 0 as it is before the call.
  void note_before(bool keeps_value);
  [[nodiscard]] bool is_written(std::size_t argument) const;
  // Skips autograd in calls of this thread until leave().
  void enter() noexcept;
  void leave() noexcept;
  // Makes the tensors outputs of the node, and sets their history.
  void set_outputs(const TensorSpan* outputs, std::size_t count);
  // Whether an output has the node as its history.
  [[nodiscard]] bool is_attached() const noexcept { return is_attached_; }
  [[nodiscard]] const Before& before() const noexcept { return before_; }

 private:
  [[nodiscard]] bool is_input(const TensorBase& tensor) const noexcept;

  const DerivedOperator& op_;
  const TensorSpan* arguments_;
  Ref<Node> node_;
  Before before_;
  std::uint64_t kept_keys_ = 0;
  bool is_entered_ = false;
  bool is_attached_ = false;
  bool lacks_forward_ = false;
};

// Copies the tensors of lists of optionals, which are not contiguous in memory.
class OPGEN_API CopiedTensors {
 public:
  CopiedTensors();
  ~CopiedTensors();
  template <class List>
  TensorSpan copy(const List& list) {
    std::vector<TensorBase>& to = add(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      to.push_back(list[i].has_value() ? TensorBase(*list[i]) : TensorBase());
    }
    return {to.data(), to.size(), true};
  }

 private:
  std::vector<TensorBase>& add(std::size_t size);
  std::vector<std::vector<TensorBase>> lists_;
};
template <class T>
inline constexpr bool kCopiesTensors =
    opgen::detail::HoldsTensors<T>::value&& requires(const T& value) {
  value[0].has_value();
};
struct NoCopies {};

template <class T, class Copies>
TensorSpan span_of(const T& value, [[maybe_unused]] Copies& copies) {
  if constexpr (kCopiesTensors<T>) {
    return copies.copy(value);
  } else {
    return opgen::detail::tensors_in(value);
  }
}

[[noreturn]] OPGEN_API OPGEN_COLD void throw_no_forward(const DerivedOperator& op);
// Throws Error if a tensor needs a gradient or has a tangent.
OPGEN_API void check_no_gradient(const OperatorSlot& slot, const TensorSpan* arguments,
                                 std::size_t count);

// Calls an operator through its table. Not inlined, so that operators with the same signature share
// the code.
template <class R, class... A>
struct OPGEN_HIDDEN Redispatch {
  OPGEN_NOINLINE static R call(const OperatorSlot& slot, DispatchKeySet keys,
                               std::remove_reference_t<A>&... arguments) {
    return opgen::detail::dispatch<R, A...>(slot, keys, static_cast<A>(arguments)...);
  }
};

// Calls work(returns…), or work(argument 0) for an operator that returns nothing.
template <class R, class Work>
OPGEN_ALWAYS_INLINE void with_returns(const R& result, const Work& work) {
  if constexpr (requires { std::tuple_size<R>::value; }) {
    std::apply(work, result);
  } else {
    work(result);
  }
}

template <std::size_t... output, class... T>
OPGEN_ALWAYS_INLINE void fill_spans(TensorSpan* spans, std::index_sequence<output...>,
                                    const T&... returns) {
  const TensorSpan all[] = {opgen::detail::tensors_in(returns)...};
  std::size_t k = 0;
  ((spans[k++] = all[output]), ...);
}

// Returns the argument for the call on element `i` of the lists: element `i` of a list, or the
// argument itself.
template <class T>
const T& item_of(const T& argument, std::size_t, std::size_t) noexcept {
  return argument;
}
template <class T>
requires(!std::is_same_v<T, std::int64_t>) const T& item_of(const ArrayRef<T>& list, std::size_t i,
                                                            std::size_t count) {
  OPGEN_CHECK(list.size() == count, "the lists have different lengths: ", count, " and ",
              list.size());
  return list[i];
}

// Whether a node has formulas for tangents (forward mode).
template <class D, class... Values>
concept HasForward = requires(ForwardCall& call, const Values&... values) {
  D::forward(call, values...);
};
template <class D, class R, class... A>
struct ForwardOf : std::bool_constant<HasForward<D, std::remove_cvref_t<A>..., R>> {};
template <class D, class... R, class... A>
struct ForwardOf<D, std::tuple<R...>, A...>
    : std::bool_constant<HasForward<D, std::remove_cvref_t<A>..., std::remove_cvref_t<R>...>> {};
// Returns the tensors that the operator returns. An operator that returns nothing writes argument
// 0.
template <class D, class First, class... A>
struct ForwardOf<D, void, First, A...>
    : std::bool_constant<HasForward<D, std::remove_cvref_t<First>, std::remove_cvref_t<A>...,
                                    std::remove_cvref_t<First>>> {};
template <class T>
struct ItemOf {
  using type = T;
};
template <class T>
requires(!std::is_same_v<T, std::int64_t>) struct ItemOf<ArrayRef<T>> {
  using type = T;
};

// Returns a copy of an argument that the operator is about to write, with its history and its
// tangent; and any other argument itself.
template <class T>
auto kept_before(const RecordedCall& call, std::size_t position, const T& argument) {
  if constexpr (std::is_base_of_v<TensorBase, T>) {
    const bool copies = argument.defined() && call.is_written(position);
    return copies ? T(clone_with_tangent(argument)) : argument;
  } else if constexpr (requires {
                         requires std::is_base_of_v<TensorBase, typename T::value_type>;
                         argument.size();
                       }) {
    std::vector<typename T::value_type> all;
    for (const auto& each : argument) all.push_back(kept_before(call, position, each));
    return all;
  } else if constexpr (requires {
                         requires std::is_base_of_v<TensorBase, typename T::value_type>;
                       }) {
    return argument.has_value() ? T(kept_before(call, position, *argument)) : argument;
  } else {
    return std::cref(argument);
  }
}

// Returns an argument of which a node saves the value before the call.
template <class T>
decltype(auto) before_write([[maybe_unused]] const RecordedCall& call,
                            [[maybe_unused]] std::size_t position, const T& argument) {
  if constexpr (std::is_base_of_v<TensorBase, T>) {
    return Overwritten(argument, call.is_written(position));
  } else if constexpr (requires {
                         requires std::is_base_of_v<TensorBase, typename T::value_type>;
                         argument.size();
                       }) {
    return OverwrittenList<T>(argument, call.is_written(position));
  } else {
    return (argument);
  }
}

// Whether the first argument is a single tensor.
template <class First, class... Rest>
inline constexpr bool kLeadsWithTensor = std::is_base_of_v<TensorBase, std::remove_cvref_t<First>>;

// ---- The kernel --------------------------------------------------------------------------------

template <class D, class Op, Kind kind, class Schema>
struct Recorded;
template <class D, class Op, Kind kind, class R, class... A>
struct OPGEN_HIDDEN Recorded<D, Op, kind, R(A...)> {
  static R call(A... arguments) {
    const DispatchKeySet keys = opgen::detail::with_local_keys(
                                    (std::uint64_t(0) | ... | opgen::detail::keys_of(arguments))) &
                                after_autograd_keyset;
    if constexpr (kind == Kind::foreach_inplace) {
      record_each(keys, arguments...);
    } else {
      return record(keys, arguments...);
    }
  }

 private:
  static constexpr bool kInplace =
      kind == Kind::inplace || kind == Kind::inplace_view || kind == Kind::foreach_inplace;
  static constexpr std::size_t kOutputs = D::Outputs::size();
  static constexpr bool kHasForward = [] {
    if constexpr (kind == Kind::foreach_inplace) {
      return ForwardOf<D, void, typename ItemOf<std::remove_cvref_t<A>>::type...>::value;
    } else {
      return ForwardOf<D, R, A...>::value;
    }
  }();
  // A single tensor that an in-place operator writes is kept by note_before().
  static constexpr bool kCopiesWritten =
      kHasForward && (kind == Kind::writes || (kind == Kind::inplace && !kLeadsWithTensor<A...>));
  static constexpr auto kOthers = others<D, A...>();
  static constexpr DerivedOperator kOperator = {
      &Op::slot,      decltype(positions(typename D::Inputs()))::values,
      kOthers.values, D::Inputs::size(),
      kOthers.count,  kind,
      kHasForward,    kInplace && !contains(typename D::Inputs(), 0),
  };

  OPGEN_ALWAYS_INLINE static R record(DispatchKeySet keys,
                                      std::remove_reference_t<A>&... arguments) {
    using Copies = std::conditional_t<(false || ... || kCopiesTensors<std::remove_cvref_t<A>>),
                                      CopiedTensors, NoCopies>;
    [[maybe_unused]] Copies copies;
    const TensorSpan spans[] = {span_of(arguments, copies)...};
    RecordedCall call(kOperator, spans);
    if (call.is_idle()) return Redispatch<R, A...>::call(Op::slot, keys, arguments...);
    D* const formulas = begin(call, arguments...);
    if constexpr (kCopiesWritten) {
      if (OPGEN_UNLIKELY(call.has_tangents())) {
        return record_from_copies(call, formulas, keys, std::index_sequence_for<A...>(),
                                  arguments...);
      }
    }
    call.enter();
    if constexpr (std::is_void_v<R>) {
      Redispatch<R, A...>::call(Op::slot, keys, arguments...);
      call.leave();
      finish(call, formulas, first(arguments...), arguments...);
    } else {
      R result = Redispatch<R, A...>::call(Op::slot, keys, arguments...);
      call.leave();
      finish(call, formulas, result, arguments...);
      return result;
    }
  }

  // Records a call whose formulas for tangents read values that it overwrites.
  template <std::size_t... position>
  OPGEN_NOINLINE OPGEN_COLD static R record_from_copies(RecordedCall& call, D* formulas,
                                                        DispatchKeySet keys,
                                                        std::index_sequence<position...>,
                                                        std::remove_reference_t<A>&... arguments) {
    const auto before = std::make_tuple(kept_before(call, position, arguments)...);
    const auto finish_from = [&](const auto& result) {
      call.leave();
      std::apply([&](const auto&... each) { finish(call, formulas, result, each...); }, before);
    };
    call.enter();
    if constexpr (std::is_void_v<R>) {
      Redispatch<R, A...>::call(Op::slot, keys, arguments...);
      finish_from(first(arguments...));
    } else {
      R result = Redispatch<R, A...>::call(Op::slot, keys, arguments...);
      finish_from(result);
      return result;
    }
  }

  // Records a call on lists as one call per element of the operator for one tensor.
  static void record_each(DispatchKeySet keys, std::remove_reference_t<A>&... arguments) {
    record_from(0, first(arguments...).size(), keys, arguments...);
  }
  // Each element needs its own objects; recursion keeps them on the stack.
  static void record_from(std::size_t i, std::size_t count, DispatchKeySet keys,
                          std::remove_reference_t<A>&... arguments) {
    if (i == count) {
      AutoDispatchBelowAutograd below;
      Redispatch<R, A...>::call(Op::slot, keys, arguments...);
      return;
    }
    const TensorSpan spans[] = {opgen::detail::tensors_in(item_of(arguments, i, count))...};
    RecordedCall call(kOperator, spans);
    D* const formulas = begin(call, item_of(arguments, i, count)...);
    record_from(i + 1, count, keys, arguments...);
    finish(call, formulas, first(arguments...)[i], item_of(arguments, i, count)...);
  }

  template <class First, class... Rest>
  static First& first(First& one, Rest&...) noexcept {
    return one;
  }

  // Returns the node's formulas; null if the call is not recorded.
  template <class First, class... Rest>
  OPGEN_ALWAYS_INLINE static D* begin(RecordedCall& call, First& one, Rest&... rest) {
    constexpr bool writes_one =
        kInplace && std::is_base_of_v<TensorBase, std::remove_const_t<First>>;
    if constexpr (requires { D::has_gradient(call, one, rest...); }) {
      if (!D::has_gradient(call, one, rest...)) call.ignore_gradients();
    }
    if (OPGEN_UNLIKELY(call.has_tangents())) {
      call.check_forward();
      if constexpr (writes_one) call.note_before(kReadsSelf<D>);
    }
    if (!call.records()) return nullptr;
    auto* const node = new NodeOf<D>;
    call.attach(node);
    if constexpr (requires { node->formulas.save(call, one, rest...); }) {
      if constexpr (writes_one) {
        const Overwritten self(one);
        node->formulas.save(call, self, rest...);
      } else if constexpr (kind == Kind::writes || kind == Kind::inplace) {
        save_before(*node, call, std::index_sequence_for<First, Rest...>(), one, rest...);
      } else {
        node->formulas.save(call, one, rest...);
      }
    }
    return &node->formulas;
  }

  // Saves the values that arguments have before the operator writes them.
  template <std::size_t... position, class... Arguments>
  static void save_before(NodeOf<D>& node, const RecordedCall& call,
                          std::index_sequence<position...>, const Arguments&... arguments) {
    node.formulas.save(call, before_write(call, position, arguments)...);
  }

  template <class Result, class... Arguments>
  OPGEN_ALWAYS_INLINE static void finish(RecordedCall& call, [[maybe_unused]] D* formulas,
                                         const Result& result, Arguments&... arguments) {
    if (!call.records() && !call.has_tangents()) return;
    with_returns(result, [&](const auto&... returns) {
      TensorSpan outputs[kOutputs + 1];
      fill_spans(outputs, typename D::Outputs(), returns...);
      if (call.records()) call.set_outputs(outputs, kOutputs);
      if constexpr (kHasForward) {
        if (OPGEN_UNLIKELY(call.has_tangents())) {
          ForwardCall forward(kind, outputs);
          set_tangents(call, forward, result, arguments...);
        }
      }
      if constexpr (requires { formulas->save_outputs(call, returns...); }) {
        if (call.is_attached()) formulas->save_outputs(call, returns...);
      }
    });
  }

  template <class Result, class First, class... Rest>
  OPGEN_NOINLINE OPGEN_COLD static void set_tangents(const RecordedCall& call, ForwardCall& forward,
                                                     const Result& result, First& one,
                                                     Rest&... rest) {
    with_returns(result, [&](const auto&... returns) {
      if constexpr (kInplace && std::is_base_of_v<TensorBase, std::remove_const_t<First>>) {
        // The result is argument 0, which still has the tangent that it had before the call.
        using T = std::remove_const_t<First>;
        const BeforeAs<T> before{T(call.before().primal), T(call.before().tangent)};
        D::forward(forward, before, rest..., ForwardCall::primal(returns)...);
      } else {
        D::forward(forward, one, rest..., returns...);
      }
      forward.finish();
    });
  }
};

// The Autograd kernel of an out= operator, which has no gradient. It checks the arguments from
// `first`, which is that of the outputs if the results have no gradient anyway.
template <class Op, std::size_t first = 0, class Schema = typename Op::schema>
struct RefusesOut;
template <std::size_t first, class... A>
struct OPGEN_HIDDEN CheckedArguments {
  OPGEN_NOINLINE static void check(const OperatorSlot& slot,
                                   const std::remove_reference_t<A>&... arguments) {
    CopiedTensors copies;
    const TensorSpan spans[] = {span_of(arguments, copies)...};
    check_no_gradient(slot, spans + first, sizeof...(A) - first);
  }
};
template <class Op, std::size_t first, class R, class... A>
struct OPGEN_HIDDEN RefusesOut<Op, first, R(A...)> {
  static R call(A... arguments) {
    const DispatchKeySet keys = opgen::detail::with_local_keys(
                                    (std::uint64_t(0) | ... | opgen::detail::keys_of(arguments))) &
                                after_autograd_keyset;
    CheckedArguments<first, A...>::check(Op::slot, arguments...);
    return opgen::detail::dispatch<R, A...>(Op::slot, keys, std::forward<A>(arguments)...);
  }
};

}  // namespace internal

// Returns the row that registers the autograd kernel of an operator. `D` is its node, and `T` the
// class Tensor of its library.
template <class D, class Op, Kind kind, class T = Tensor>
[[nodiscard]] KernelRow recorded() noexcept {
  using Schema = typename opgen::detail::WithTensor<T, typename Op::schema>::type;
  return {&Op::slot, reinterpret_cast<void*>(&internal::Recorded<D, Op, kind, Schema>::call), false,
          true};
}
// Returns the row for an out= operator. It has no gradient, and a call with a tensor that requires
// one is an error: any of them, or one of the arguments from `first`.
template <class Op, std::size_t first = 0>
[[nodiscard]] KernelRow refuses_out() noexcept {
  return {&Op::slot, reinterpret_cast<void*>(&internal::RefusesOut<Op, first>::call), false, true};
}

}  // namespace opgen::autograd
