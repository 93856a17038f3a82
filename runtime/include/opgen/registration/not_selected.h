// not_selected.h: the replacement for operators that a selective build leaves out. It adds no code
// unless something calls it. A call throws an error with the name to select.
#pragma once

#include <string_view>
#include <typeinfo>

#include "opgen/dispatch/operator.h"

namespace opgen {

// Throws for an operator such as "aten::add.out". Ignores the arguments.
template <class... A>
[[noreturn]] OPGEN_COLD void throw_not_selected(std::string_view op, const A&...) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, op, " is not part of this build; add it to the selection");
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
                                " is not part of this build; add it to the selection");
    __builtin_unreachable();
  }
};

}  // namespace detail

// Replaces boxing<Signature>. The operator is not registered, so it is never called from a stack.
template <class Signature>
inline constexpr TypedBoxing<Signature> not_selected{{&typeid(Signature), nullptr},
                                                     &detail::NotSelected<Signature>::slow};

}  // namespace opgen
