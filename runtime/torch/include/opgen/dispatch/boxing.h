// boxing.h: the definitions of Operator's members: calls through PyTorch's dispatcher.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <utility>

#include "opgen/dispatch/operator.h"

namespace opgen {

namespace detail {

template <class Op>
auto find_operator() {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(Op::name, Op::overload_name)
      .template typed<typename Op::schema>();
}

}  // namespace detail

template <class Derived, class R, class... A>
R Operator<Derived, R(A...)>::call(A... arguments) {
  static const auto handle = detail::find_operator<Derived>();
  return handle.call(std::forward<A>(arguments)...);
}
template <class Derived, class R, class... A>
R Operator<Derived, R(A...)>::redispatch(DispatchKeySet keys, A... arguments) {
  static const auto handle = detail::find_operator<Derived>();
  return handle.redispatch(keys, std::forward<A>(arguments)...);
}

}  // namespace opgen
