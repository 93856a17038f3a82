// comparison.cpp: eq ne lt le gt ge, logic, and operations on bits.
#include <opgen/kernel.h>

#include <aten/ops/abs.h>
#include <aten/ops/add.h>
#include <aten/ops/all.h>
#include <aten/ops/allclose_native.h>
#include <aten/ops/and_native.h>
#include <aten/ops/bitwise_and.h>
#include <aten/ops/bitwise_and_native.h>
#include <aten/ops/bitwise_or.h>
#include <aten/ops/bitwise_or_native.h>
#include <aten/ops/bitwise_xor.h>
#include <aten/ops/bitwise_xor_native.h>
#include <aten/ops/eq.h>
#include <aten/ops/eq_native.h>
#include <aten/ops/equal_native.h>
#include <aten/ops/ge_native.h>
#include <aten/ops/gt_native.h>
#include <aten/ops/is_same_size_native.h>
#include <aten/ops/isclose.h>
#include <aten/ops/isclose_native.h>
#include <aten/ops/isfinite.h>
#include <aten/ops/isnan.h>
#include <aten/ops/le.h>
#include <aten/ops/le_native.h>
#include <aten/ops/logical_and.h>
#include <aten/ops/logical_and_native.h>
#include <aten/ops/logical_or.h>
#include <aten/ops/logical_or_native.h>
#include <aten/ops/logical_xor.h>
#include <aten/ops/logical_xor_native.h>
#include <aten/ops/lt_native.h>
#include <aten/ops/mul.h>
#include <aten/ops/ne_native.h>
#include <aten/ops/or_native.h>
#include <aten/ops/sub.h>
#include <aten/ops/xor_native.h>

#include "common.h"

using namespace kernels;

namespace {

// Both operands have the common dtype; the iterator stores the answer in whatever dtype the output
// has.
template <class scalar_t, class F>
void compare_as(TensorIteratorBase& iter, F f) {
  opgen::cpu_kernel(iter, [f](scalar_t a, scalar_t b) -> bool { return f(a, b); });
}

template <class F>
void compare(TensorIteratorBase& iter, const char* name, F f) {
  OPGEN_DISPATCH_ALL(iter.common_dtype(), name, [&] { compare_as<scalar_t>(iter, f); });
}
template <class F>
void compare_ordered(TensorIteratorBase& iter, const char* name, F f) {
  OPGEN_DISPATCH_REAL_AND_BOOL(iter.common_dtype(), name, [&] { compare_as<scalar_t>(iter, f); });
}

}  // namespace

#define OPGEN_COMPARISON(op, compare, function)                                                  \
  OPGEN_META_FUNC2(op, Tensor)(const Tensor& self, const Tensor& other) {                        \
    build_borrowing_comparison_op(maybe_get_output(), self, other);                              \
  }                                                                                              \
  OPGEN_META_FUNC2(op, Scalar)(const Tensor& self, const Scalar& other) {                        \
    build_borrowing_except_last_argument_comparison_op(maybe_get_output(), self, number(other)); \
  }                                                                                              \
  OPGEN_IMPL_FUNC(op##_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {        \
    compare(*this, #op, function);                                                               \
  }                                                                                              \
  OPGEN_IMPL_FUNC(op##_Scalar_out)(const Tensor&, const Scalar&, const Tensor& /*out*/) {        \
    compare(*this, #op, function);                                                               \
  }

OPGEN_COMPARISON(eq, compare, [](auto a, auto b) { return a == b; })
OPGEN_COMPARISON(ne, compare, [](auto a, auto b) { return !(a == b); })
OPGEN_COMPARISON(lt, compare_ordered, [](auto a, auto b) { return a < b; })
OPGEN_COMPARISON(le, compare_ordered, [](auto a, auto b) { return a <= b; })
OPGEN_COMPARISON(gt, compare_ordered, [](auto a, auto b) { return a > b; })
OPGEN_COMPARISON(ge, compare_ordered, [](auto a, auto b) { return a >= b; })

#undef OPGEN_COMPARISON

// ---- Logic: zero is false, all else is true ----

namespace {

template <class F>
Tensor& logical(Tensor& out, const Tensor& self, const Tensor& other, const char* name, F f) {
  TensorIterator iter = TensorIterator::comparison_op(out, self, other);
  if (out.is_meta()) return out;
  compare(iter, name,
          [f](auto a, auto b) { return f(!(a == decltype(a)(0)), !(b == decltype(b)(0))); });
  return out;
}

Tensor new_bool(const Tensor& self) {
  return opgen::empty({0}, self.options().dtype(kBool));
}

}  // namespace

#define OPGEN_LOGICAL(op, function)                                              \
  OPGEN_KERNEL(op##_out)(const Tensor& self, const Tensor& other, Tensor& out) { \
    return logical(out, self, other, #op, function);                             \
  }                                                                              \
  OPGEN_KERNEL(op)(const Tensor& self, const Tensor& other) {                    \
    Tensor out = new_bool(self);                                                 \
    return at::op##_out(out, self, other);                                       \
  }                                                                              \
  OPGEN_KERNEL(op##_)(Tensor & self, const Tensor& other) {                      \
    return at::op##_out(self, self, other);                                      \
  }

OPGEN_LOGICAL(logical_and, [](bool a, bool b) { return a && b; })
OPGEN_LOGICAL(logical_or, [](bool a, bool b) { return a || b; })
OPGEN_LOGICAL(logical_xor, [](bool a, bool b) { return a != b; })

#undef OPGEN_LOGICAL

// ---- Bits ----

#define OPGEN_BITWISE(op, dunder, augmented, symbol)                               \
  OPGEN_META_FUNC2(op, Tensor)(const Tensor& self, const Tensor& other) {          \
    build_borrowing_binary_op(maybe_get_output(), self, other);                    \
  }                                                                                \
  OPGEN_IMPL_FUNC(op##_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) { \
    OPGEN_DISPATCH_INTEGRAL_AND_BOOL(common_dtype(), #op, [&] {                    \
      opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t {            \
        return static_cast<scalar_t>(a symbol b);                                  \
      });                                                                          \
    });                                                                            \
  }                                                                                \
  OPGEN_KERNEL(op)(const Tensor& self, const Scalar& other) {                      \
    return at::op(self, number(other));                                            \
  }                                                                                \
  OPGEN_KERNEL(op)(const Scalar& self, const Tensor& other) {                      \
    return at::op(number(self), other);                                            \
  }                                                                                \
  OPGEN_KERNEL(op##_)(Tensor & self, const Scalar& other) {                        \
    return self.op##_(number(other));                                              \
  }                                                                                \
  OPGEN_KERNEL(op##_out)(const Tensor& self, const Scalar& other, Tensor& out) {   \
    return at::op##_out(out, self, number(other));                                 \
  }                                                                                \
  OPGEN_KERNEL(dunder)(const Tensor& self, const Tensor& other) {                  \
    return at::op(self, other);                                                    \
  }                                                                                \
  OPGEN_KERNEL(dunder)(const Tensor& self, const Scalar& other) {                  \
    return at::op(self, other);                                                    \
  }                                                                                \
  OPGEN_KERNEL(augmented)(Tensor & self, const Tensor& other) {                    \
    return self.op##_(other);                                                      \
  }                                                                                \
  OPGEN_KERNEL(augmented)(Tensor & self, const Scalar& other) {                    \
    return self.op##_(other);                                                      \
  }

OPGEN_BITWISE(bitwise_and, __and__, __iand__, &)
OPGEN_BITWISE(bitwise_or, __or__, __ior__, |)
OPGEN_BITWISE(bitwise_xor, __xor__, __ixor__, ^)

#undef OPGEN_BITWISE

// ---- Whole tensors ----

OPGEN_KERNEL(is_same_size)(const Tensor& self, const Tensor& other) {
  return same_sizes(self.sizes(), other.sizes());
}

OPGEN_KERNEL(equal)(const Tensor& self, const Tensor& other) {
  if (!same_sizes(self.sizes(), other.sizes())) return false;
  return at::all(at::eq(self, other)).item().toBool();
}

OPGEN_KERNEL(isclose)
(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  OPGEN_CHECK(self.scalar_type() == other.scalar_type(), self.scalar_type(), " did not match ",
              other.scalar_type());
  OPGEN_CHECK(rtol >= 0, "rtol must be greater than or equal to zero, but got ", rtol);
  OPGEN_CHECK(atol >= 0, "atol must be greater than or equal to zero, but got ", atol);
  Tensor close = at::eq(self, other);
  const bool inexact = self.is_floating_point() || self.is_complex();
  if (equal_nan && inexact)
    close = at::logical_or(close, at::logical_and(at::isnan(self), at::isnan(other)));
  if (rtol == 0 && atol == 0) return close;
  // Integers are compared in the default dtype, so that no difference overflows.
  Tensor a = self, b = other;
  if (!inexact) {
    a = self.to(opgen::get_default_dtype());
    b = other.to(opgen::get_default_dtype());
  }
  const Tensor allowed = at::add(at::abs(at::mul(b, Scalar(rtol))), Scalar(atol));
  const Tensor actual = at::abs(at::sub(a, b));
  return at::logical_or(close, at::logical_and(at::isfinite(actual), at::le(actual, allowed)));
}

OPGEN_KERNEL(allclose)
(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return at::all(at::isclose(self, other, rtol, atol, equal_nan)).item().toBool();
}
