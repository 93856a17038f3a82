// structured.h: the runtime's class templates that turn a meta and an impl into the functional,
// out= and in-place operators, and those that run a meta alone, for symbolic sizes.
#pragma once

#include "../../../../include/opgen/registration/structured.h"
#include "opgen/structured/sizes.h"
#include "opgen/symbolic/symbolic.h"

namespace opgen {

template <class Impl, class Op, class R, class... A>
requires requires {
  typename Impl::opgen_symbolic;
}
struct Functional<DispatchKey::Meta, Impl, Op, R(A...)> {
  static R call(A... arguments) {
    detail::SymbolicFreshOutputs<typename Impl::opgen_symbolic> op;
    static_cast<void>(op.meta(detail::symbolic(arguments)...));
    op.set.check(Op::name);
    return take(op.outputs, std::make_index_sequence<Impl::opgen_outputs>{});
  }

 private:
  template <std::size_t... O>
  static R take(SymbolicTensor* outputs, std::index_sequence<O...>) {
    return R(Tensor(static_cast<Tensor&&>(outputs[O]))...);
  }
};

template <class Impl, class Op, class R, class... A>
requires requires {
  typename Impl::opgen_symbolic;
}
struct Out<DispatchKey::Meta, Impl, Op, R(A...)> {
  static R call(A... arguments) {
    return run(std::tuple<A&...>(arguments...),
               std::make_index_sequence<sizeof...(A) - Impl::opgen_outputs>{},
               std::make_index_sequence<Impl::opgen_outputs>{});
  }

 private:
  template <std::size_t... I, std::size_t... O>
  static R run(const std::tuple<A&...>& arguments, std::index_sequence<I...>,
               std::index_sequence<O...>) {
    constexpr std::size_t first = sizeof...(I);
    detail::SymbolicGivenOutputs<typename Impl::opgen_symbolic, false> op(
        std::get<first + O>(arguments)...);
    static_cast<void>(op.meta(detail::symbolic(std::get<I>(arguments))...));
    op.set.check(Op::name);
    return detail::return_outputs<R>(std::get<first + O>(arguments)...);
  }
};

template <class Impl, class Op, std::size_t SelfPos, class R, class... A>
requires requires {
  typename Impl::opgen_symbolic;
}
struct Inplace<DispatchKey::Meta, Impl, Op, SelfPos, R(A...)> {
  static R call(A... arguments) {
    auto& self = std::get<SelfPos>(std::tuple<A&...>(arguments...));
    detail::SymbolicGivenOutputs<typename Impl::opgen_symbolic, true> op(self);
    static_cast<void>(op.meta(detail::symbolic(arguments)...));
    op.set.check(Op::name);
    return detail::return_outputs<R>(self);
  }
};

}  // namespace opgen
