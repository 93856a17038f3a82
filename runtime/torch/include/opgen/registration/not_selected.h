// not_selected.h: replaces an operator that a selective build leaves out. It adds no code unless
// something calls it. A call throws an error with the name to select.
#pragma once

#include "opgen/tensor/tensor.h"

namespace opgen {

namespace detail {

[[noreturn]] inline void throw_not_selected(const char* name, const char* overload) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, name, *overload == '\0' ? "" : ".", overload,
                              " is not part of this build; add it to the selection");
  __builtin_unreachable();
}

}  // namespace detail

// Used instead of Operator<Derived, Signature>.
template <class Derived, class Signature>
struct NotSelected;
template <class Derived, class R, class... A>
struct NotSelected<Derived, R(A...)> {
  using schema = R(A...);
  using ptr_schema = R (*)(A...);

  static R call(A...) { detail::throw_not_selected(Derived::name, Derived::overload_name); }
  static R redispatch(DispatchKeySet, A...) {
    detail::throw_not_selected(Derived::name, Derived::overload_name);
  }
};

}  // namespace opgen
