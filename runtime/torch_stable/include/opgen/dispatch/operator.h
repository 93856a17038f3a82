// operator.h: Operator, the statically typed handle of a generated operator: calls through
// PyTorch's dispatcher.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>

#include "opgen/registration/concrete.h"
#include "opgen/registration/direct_kernel.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

namespace detail {

template <class T>
struct TensorsOf : std::false_type {};  // T holds no tensors
template <class T>
struct TensorsOf<std::optional<T>> : TensorsOf<T> {};
template <class T>
struct TensorsOf<ArrayRef<T>> : TensorsOf<T> {};
template <class T>
struct TensorsOf<List<T>> : TensorsOf<T> {};
template <>
struct TensorsOf<Tensor> : std::true_type {};

}  // namespace detail

// struct add_Tensor : Operator<add_Tensor, Tensor(const Tensor&, ...)> { name, ...
// call() is compiled once for each operator, in Operators.cpp (see boxing.h).
template <class Derived, class Signature>
struct Operator;
template <class Derived, class R, class... A>
struct Operator<Derived, R(A...)> {
  using schema = R(A...);
  using ptr_schema = R (*)(A...);

  static R call(A... arguments);
};

}  // namespace opgen
