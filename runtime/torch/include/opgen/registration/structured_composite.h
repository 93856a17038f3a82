// structured_composite.h: the functional and in-place operators on any device that has a kernel for
// the out= operator.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "opgen/registration/structured.h"

namespace opgen {

template <class Meta, class Op, class OutOp, class Signature = typename Op::schema>
struct CompositeFunctional;
template <class Meta, class Op, class OutOp, class R, class... A>
struct CompositeFunctional<Meta, Op, OutOp, R(A...)> {
  C10_NOINLINE static R call(A... arguments) {
    return run(std::make_index_sequence<Meta::opgen_outputs>{}, arguments...);
  }

 private:
  template <std::size_t... O>
  static R run(std::index_sequence<O...> all, A... arguments) {
    detail::FreshOutputs<DispatchKey::CompositeExplicitAutogradNonFunctional, Meta> op;
    detail::run_structured<DispatchKey::Meta, Op>(op, all, arguments...);
    OutOp::call(arguments..., op.outputs[O]...);
    return detail::take_outputs<R>(op.outputs, all);
  }
};

template <class Meta, class Op, class OutOp, std::size_t SelfPos,
          class Signature = typename Op::schema>
struct CompositeInplace;
template <class Meta, class Op, class OutOp, std::size_t SelfPos, class R, class... A>
struct CompositeInplace<Meta, Op, OutOp, SelfPos, R(A...)> {
  C10_NOINLINE static R call(A... arguments) {
    auto& self = std::get<SelfPos>(std::tuple<A&...>(arguments...));
    detail::GivenOutputs<DispatchKey::CompositeExplicitAutogradNonFunctional, Meta, true> op(self);
    detail::run_structured<DispatchKey::Meta, Op>(op, std::index_sequence<0>{}, arguments...);
    Tensor output = op.maybe_get_output(0);
    OutOp::call(arguments..., output);
    op.finish();
    return detail::return_outputs<R>(self);
  }
};

}  // namespace opgen
