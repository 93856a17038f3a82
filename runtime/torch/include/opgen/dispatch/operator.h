// operator.h: Operator, the statically typed handle of a generated operator: call and redispatch.
#pragma once

#include "opgen/registration/direct_kernel.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

// struct add_Tensor : Operator<add_Tensor, at::Tensor(const at::Tensor&, …)> { name, …
// The members are compiled once for each operator, in Operators.cpp (see boxing.h).
template <class Derived, class Signature>
struct Operator;
template <class Derived, class R, class... A>
struct Operator<Derived, R(A...)> {
  using schema = R(A...);
  using ptr_schema = R (*)(A...);

  static R call(A... arguments);
  // Runs the kernel of the highest key in `keys`, regardless of the keys of the arguments and of
  // the thread.
  static R redispatch(DispatchKeySet keys, A... arguments);
};

}  // namespace opgen
