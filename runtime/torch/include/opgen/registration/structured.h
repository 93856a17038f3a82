// structured.h: the class templates that turn a meta and an impl into the functional, out= and
// in-place operators, based on ATen's MetaBase and TensorIteratorBase.
//
//   Functional<K, Impl, Op>         allocates the outputs that meta sets, runs impl, and returns
//   the outputs
//   Out<K, Impl, Op>                checks dtype and device of the given tensors, and resizes them
//   Inplace<K, Impl, Op, SelfPos>   throws if shape, dtype or device would change
// For K == Meta only meta runs, with its body for symbolic sizes if the generated class has one.
// The dispatcher and the functions that bypass it use the same instantiation.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/core/release.h"
#include "opgen/iterator/iterator.h"
#include "opgen/kernel_macros.h"
#include "opgen/registration/concrete.h"
#include "opgen/structured/outputs.h"
#include "opgen/structured/sizes.h"
#include "opgen/symbolic/symbolic.h"

namespace opgen {

namespace detail {

template <class Impl>
inline constexpr bool kIterates = std::is_base_of_v<TensorIteratorBase, Impl>;

// Allocates the outputs that meta sets. `Impl` is the author's class, with meta and impl.
template <DispatchKey K, class Impl>
struct FreshOutputs final : TakesOutputs<FreshOutputs<K, Impl>, Impl> {
  void output_strided(std::int64_t i, IntArrayRef sizes, IntArrayRef strides,
                      const TensorOptions& options) {
    guard.use(options.device());
    set.note(i);
    outputs[i] = create_out<K>(sizes, strides, options);
    if constexpr (kIterates<Impl>) {
      // Without operands meta has not set up the iterator; check_meta() reports it.
      if (C10_LIKELY(i < this->ntensors())) this->take_as_iterator(i, sizes, strides, options);
    }
  }
  void output_raw_strided(std::int64_t i, IntArrayRef sizes, IntArrayRef strides,
                          const TensorOptions& options) {
    output_strided(i, sizes, strides, options);
  }
  const Tensor& maybe_get_output(std::int64_t i) override { return outputs[i]; }

  Tensor outputs[Impl::opgen_outputs];
  SetOutputs<Impl::opgen_outputs> set;
  [[no_unique_address]] OutputGuard<K> guard;
};

// Writes to tensors that the caller gave. With `inplace`, a tensor that is written is also read.
template <DispatchKey K, class Impl, bool inplace>
struct GivenOutputs final : TakesOutputs<GivenOutputs<K, Impl, inplace>, Impl> {
  template <class... T>
  explicit GivenOutputs(T&... outputs) : given{&outputs...} {}

  void output_strided(std::int64_t i, IntArrayRef sizes, IntArrayRef strides,
                      const TensorOptions& options) {
    take(i, sizes, strides, options);
    if (given[i]->strides() != strides) proxies[i] = create_out<K>(sizes, strides, options);
    tell(i, sizes, strides, options);
  }
  void output_raw_strided(std::int64_t i, IntArrayRef sizes, IntArrayRef strides,
                          const TensorOptions& options) {
    take(i, sizes, strides, options);
    tell(i, sizes, strides, options);
  }
  const Tensor& maybe_get_output(std::int64_t i) override {
    return proxies[i].defined() ? proxies[i] : *given[i];
  }
  // Copies back the outputs that were computed with strides other than the caller's.
  void finish() {
    for (std::size_t i = 0; i < Impl::opgen_outputs; ++i) {
      if (proxies[i].defined()) given[i]->copy_(proxies[i]);
    }
  }

  const Tensor* given[Impl::opgen_outputs];
  Tensor proxies[Impl::opgen_outputs];
  SetOutputs<Impl::opgen_outputs> set;
  [[no_unique_address]] OutputGuard<K> guard;

 private:
  void take(std::int64_t i, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
    guard.use(options.device());
    set.note(i);
    if constexpr (inplace) {
      check_inplace(*given[i], sizes, options);
    } else {
      resize_out(*given[i], sizes, strides, options);
    }
  }
  void tell(std::int64_t i, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
    if constexpr (kIterates<Impl>) {
      if (C10_UNLIKELY(i >= this->ntensors())) return;  // see check_meta()
      // If the operand exists and keeps its shape, TensorIteratorBase would change nothing else.
      at::OperandInfo& operand = this->operands_[i];
      if (C10_LIKELY(operand.tensor_base().defined() && !operand.will_resize)) {
        operand.current_dtype = operand.tensor_base().scalar_type();
      } else {
        this->take_as_iterator(i, sizes, strides, options);
      }
    }
  }
};

// Checks after meta that every output is set and that the iterator is set up.
template <class Op, class Structured>
void check_meta(const Structured& op) {
  if constexpr (kIterates<Structured>) {
    if (C10_UNLIKELY(op.ntensors() == 0)) throw_not_built(Op::name);
  }
  op.set.check(Op::name);
}

// Runs meta and impl. `Structured` is the author's class with its outputs, for operator `Op`.
template <DispatchKey K, class Op, class Structured, std::size_t... O, class... A>
void run_structured(Structured& op, std::index_sequence<O...>, const A&... arguments) {
  if constexpr (std::is_base_of_v<SymbolicMetaBase, Structured>) {
    static_cast<void>(op.meta(symbolic(arguments)...));
    op.set.check(Op::name);
  } else if constexpr (K == DispatchKey::Meta) {
    static_cast<void>(op.meta(concrete(arguments)...));
    op.set.check(Op::name);
  } else if constexpr (requires { typename Structured::meta_return_ty; }) {
    auto precomputed = op.meta(concrete(arguments)...);
    check_meta<Op>(op);
    op.opgen_impl(precomputed, concrete(arguments)..., op.maybe_get_output(O)...);
  } else {
    op.meta(concrete(arguments)...);
    check_meta<Op>(op);
    op.impl(concrete(arguments)..., op.maybe_get_output(O)...);
  }
}

template <class R, class T, std::size_t... O>
R take_outputs(T (&outputs)[sizeof...(O)], std::index_sequence<O...>) {
  return R(static_cast<Tensor&&>(outputs[O])...);
}

// Returns what an out= operator returns: its out arguments, or nothing.
template <class R, class... T>
R return_outputs(T&... outputs) {
  if constexpr (std::is_void_v<R>) {
    return;
  } else if constexpr (sizeof...(T) == 1) {
    return (outputs, ...);
  } else {
    return R(outputs...);
  }
}

// The class that serves Meta tensors. If `Impl` has a body for symbolic sizes, it is used for all
// Meta tensors, so that tracing with and without symbols gives the same result.
template <DispatchKey K, class Impl>
concept RunsSymbolically = K == DispatchKey::Meta&& requires {
  typename Impl::opgen_symbolic;
};

template <DispatchKey K, class Impl>
struct OutputsOf {
  using Fresh = FreshOutputs<K, Impl>;
  template <bool inplace>
  using Given = GivenOutputs<K, Impl, inplace>;
};
template <DispatchKey K, class Impl>
requires RunsSymbolically<K, Impl>
struct OutputsOf<K, Impl> {
  using Fresh = SymbolicFreshOutputs<typename Impl::opgen_symbolic>;
  template <bool inplace>
  using Given = SymbolicGivenOutputs<typename Impl::opgen_symbolic, inplace>;
};

}  // namespace detail

template <DispatchKey K, class Impl, class Op, class Signature = typename Op::schema>
struct Functional;
template <DispatchKey K, class Impl, class Op, class R, class... A>
struct Functional<K, Impl, Op, R(A...)> {
  C10_NOINLINE static R call(A... arguments) {
    constexpr std::make_index_sequence<Impl::opgen_outputs> all{};
    detail::check_devices<K, Impl, Op>(arguments...);
    typename detail::OutputsOf<K, Impl>::Fresh op;
    detail::run_structured<K, Op>(op, all, arguments...);
    return detail::take_outputs<R>(op.outputs, all);
  }
};

// The last Impl::opgen_outputs arguments are the outputs.
template <DispatchKey K, class Impl, class Op, class Signature = typename Op::schema>
struct Out;
template <DispatchKey K, class Impl, class Op, class R, class... A>
struct Out<K, Impl, Op, R(A...)> {
  C10_NOINLINE static R call(A... arguments) {
    return run(std::tuple<A&...>(arguments...),
               std::make_index_sequence<sizeof...(A) - Impl::opgen_outputs>{},
               std::make_index_sequence<Impl::opgen_outputs>{});
  }

 private:
  template <std::size_t... I, std::size_t... O>
  static R run(const std::tuple<A&...>& arguments, std::index_sequence<I...>,
               std::index_sequence<O...> all) {
    constexpr std::size_t first = sizeof...(I);
    detail::check_devices<K, Impl, Op>(std::get<I>(arguments)...);
    typename detail::OutputsOf<K, Impl>::template Given<false> op(
        std::get<first + O>(arguments)...);
    detail::run_structured<K, Op>(op, all, std::get<I>(arguments)...);
    op.finish();
    return detail::return_outputs<R>(std::get<first + O>(arguments)...);
  }
};

template <DispatchKey K, class Impl, class Op, std::size_t SelfPos,
          class Signature = typename Op::schema>
struct Inplace;
template <DispatchKey K, class Impl, class Op, std::size_t SelfPos, class R, class... A>
struct Inplace<K, Impl, Op, SelfPos, R(A...)> {
  C10_NOINLINE static R call(A... arguments) {
    detail::check_devices<K, Impl, Op>(arguments...);
    auto& self = std::get<SelfPos>(std::tuple<A&...>(arguments...));
    typename detail::OutputsOf<K, Impl>::template Given<true> op(self);
    detail::run_structured<K, Op>(op, std::index_sequence<0>{}, arguments...);
    op.finish();
    return detail::return_outputs<R>(self);
  }
};

}  // namespace opgen
