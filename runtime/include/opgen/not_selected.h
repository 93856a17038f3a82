// not_selected.h: what stands in for an operator that a selective build leaves out. It costs no
// code until something calls it, and then says what to select.
#pragma once

#include <string_view>
#include <typeinfo>

#include "opgen/operator.h"

namespace opgen {

// "aten::add.out". The arguments are those of the call, and not looked at.
template <class... A>
[[noreturn]] OPGEN_COLD void throw_not_selected(std::string_view op, const A&...) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, op, " is called, and not in this build: select it, too");
  __builtin_unreachable();
}

namespace detail {

template <class Signature>
struct NotSelected;
template <class R, class... A>
struct NotSelected<R(A...)> {
  static R slow(DispatchKeySet, A..., const OperatorSlot& slot, void*) {
    const std::string_view overload = slot.overload_name;
    OPGEN_CHECK_NOT_IMPLEMENTED(false, slot.name, overload.empty() ? "" : ".", overload,
                                " is called, and not in this build: select it, too");
    __builtin_unreachable();
  }
};

}  // namespace detail

// In the place of boxing<Signature>. Nothing is ever called from a stack: nothing is registered.
template <class Signature>
inline constexpr TypedBoxing<Signature> not_selected{{&typeid(Signature), nullptr},
                                                     &detail::NotSelected<Signature>::slow};

}  // namespace opgen
