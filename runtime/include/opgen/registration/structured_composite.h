// structured_composite.h: the functional and in-place operators on any device that has a kernel for
// the out= operator: CompositeFunctional<Meta, Op, OutOp>, CompositeInplace<Meta, Op, OutOp,
// SelfPos>.
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
  static R call(A... arguments) {
    constexpr std::make_index_sequence<Meta::opgen_outputs> all{};
    detail::FunctionalOutputs<Meta::opgen_outputs> outputs(
        DispatchKey::CompositeExplicitAutogradNonFunctional);
    Meta op;
    detail::run_structured<DispatchKey::Meta, Op>(op, outputs, all, arguments...);
    const auto fill = [&]<std::size_t... O>(std::index_sequence<O...>) {
      OutOp::call(arguments..., outputs.tensor(O)...);
    };
    fill(all);
    return detail::take_outputs<R>(outputs, all);
  }
};

template <class Meta, class Op, class OutOp, std::size_t SelfPos,
          class Signature = typename Op::schema>
struct CompositeInplace;
template <class Meta, class Op, class OutOp, std::size_t SelfPos, class R, class... A>
struct CompositeInplace<Meta, Op, OutOp, SelfPos, R(A...)> {
  static R call(A... arguments) {
    const std::tuple<A&...> all(arguments...);
    auto& self = std::get<SelfPos>(all);
    detail::WrittenOutputs<Meta::opgen_outputs, detail::WrittenSink<Meta>> outputs(
        DispatchKey::CompositeExplicitAutogradNonFunctional, detail::kInplaceKind<Meta>, self);
    detail::set_call<Meta, Op, sizeof...(A), SelfPos, SelfPos>(outputs, all);
    Meta op;
    detail::run_structured<DispatchKey::Meta, Op>(op, outputs, std::index_sequence<0>{},
                                                  arguments...);
    OutOp::call(arguments..., outputs.tensor(0));
    outputs.finish();
    return detail::return_outputs<R>(self);
  }
};

}  // namespace opgen
