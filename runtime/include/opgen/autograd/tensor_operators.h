// tensor_operators.h: C++ operators on tensors for formulas: of the library, or else of the
// runtime.
//
// A library with an operator add.Tensor declares `a + b` itself, in its TensorBody.h, which the
// compiler prefers to these templates.
#pragma once

#include <concepts>

#include "opgen/autograd/arithmetic.h"
#include "opgen/autograd/primitives.h"
#include "opgen/core/scalar.h"
#include "opgen/tensor/factories.h"

namespace opgen {

namespace detail {

template <class T>
concept AnyTensor = std::is_base_of_v<TensorBase, T>;

// A number, as a tensor that gives way to other tensors in type promotion.
[[nodiscard]] inline TensorBase number(const Scalar& value) {
  return wrapped_scalar_tensor(value, kCPU);
}

}  // namespace detail

template <detail::AnyTensor T>
[[nodiscard]] T operator-(const T& a) {
  return T(primitive::neg(a));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator~(const T& a) {
  return T(primitive::bitwise_not(a));
}

template <detail::AnyTensor T>
[[nodiscard]] T operator+(const T& a, const T& b) {
  return T(primitive::add(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator+(const T& a, const Scalar& b) {
  return T(primitive::add(a, detail::number(b)));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator+(const Scalar& a, const T& b) {
  return T(primitive::add(detail::number(a), b));
}

template <detail::AnyTensor T>
[[nodiscard]] T operator-(const T& a, const T& b) {
  return T(primitive::sub(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator-(const T& a, const Scalar& b) {
  return T(primitive::sub(a, detail::number(b)));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator-(const Scalar& a, const T& b) {
  return T(primitive::sub(detail::number(a), b));
}

template <detail::AnyTensor T>
[[nodiscard]] T operator*(const T& a, const T& b) {
  return T(primitive::mul(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator*(const T& a, const Scalar& b) {
  return T(primitive::mul(a, detail::number(b)));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator*(const Scalar& a, const T& b) {
  return T(primitive::mul(detail::number(a), b));
}

template <detail::AnyTensor T>
[[nodiscard]] T operator/(const T& a, const T& b) {
  return T(primitive::div(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator/(const T& a, const Scalar& b) {
  return T(primitive::div(a, detail::number(b)));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator/(const Scalar& a, const T& b) {
  return T(primitive::div(detail::number(a), b));
}

template <detail::AnyTensor T>
[[nodiscard]] T operator&(const T& a, const T& b) {
  return T(primitive::bitwise_and(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator|(const T& a, const T& b) {
  return T(primitive::bitwise_or(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator^(const T& a, const T& b) {
  return T(primitive::bitwise_xor(a, b));
}

template <detail::AnyTensor T>
[[nodiscard]] T operator==(const T& a, const T& b) {
  return T(primitive::eq(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator==(const T& a, const Scalar& b) {
  return T(primitive::eq(a, detail::number(b)));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator!=(const T& a, const T& b) {
  return T(primitive::ne(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator!=(const T& a, const Scalar& b) {
  return T(primitive::ne(a, detail::number(b)));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator<(const T& a, const T& b) {
  return T(primitive::lt(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator<(const T& a, const Scalar& b) {
  return T(primitive::lt(a, detail::number(b)));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator<=(const T& a, const T& b) {
  return T(primitive::le(a, b));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator<=(const T& a, const Scalar& b) {
  return T(primitive::le(a, detail::number(b)));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator>(const T& a, const T& b) {
  return T(primitive::lt(b, a));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator>(const T& a, const Scalar& b) {
  return T(primitive::lt(detail::number(b), a));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator>=(const T& a, const T& b) {
  return T(primitive::le(b, a));
}
template <detail::AnyTensor T>
[[nodiscard]] T operator>=(const T& a, const Scalar& b) {
  return T(primitive::le(detail::number(b), a));
}

// These replace the tensor of the handle; those that a library declares change it in place.
template <detail::AnyTensor T>
T& operator+=(T& a, const T& b) {
  return a = a + b;
}
template <detail::AnyTensor T>
T& operator-=(T& a, const T& b) {
  return a = a - b;
}
template <detail::AnyTensor T>
T& operator*=(T& a, const T& b) {
  return a = a * b;
}
template <detail::AnyTensor T>
T& operator/=(T& a, const T& b) {
  return a = a / b;
}
template <detail::AnyTensor T>
T& operator&=(T& a, const T& b) {
  return a = a & b;
}
template <detail::AnyTensor T>
T& operator|=(T& a, const T& b) {
  return a = a | b;
}

}  // namespace opgen
