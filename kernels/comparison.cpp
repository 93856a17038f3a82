// comparison.cpp: eq ne lt le gt ge, logic, and operations on bits.
#include <opgen/kernel.h>

#include <atomic>

#include <aten/ops/abs.h>
#include <aten/ops/add.h>
#include <aten/ops/all.h>
#include <aten/ops/allclose_native.h>
#include <aten/ops/and_native.h>
#include <aten/ops/bitwise_and.h>
#include <aten/ops/bitwise_and_native.h>
#include <aten/ops/bitwise_left_shift.h>
#include <aten/ops/bitwise_left_shift_native.h>
#include <aten/ops/bitwise_or.h>
#include <aten/ops/bitwise_or_native.h>
#include <aten/ops/bitwise_right_shift.h>
#include <aten/ops/bitwise_right_shift_native.h>
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

// Both operands have the common dtype; the iterator converts the result to the output's dtype.
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

constexpr auto kEqual = [](auto a, auto b) { return a == b; };
constexpr auto kNotEqual = [](auto a, auto b) { return !(a == b); };
constexpr auto kLess = [](auto a, auto b) { return a < b; };
constexpr auto kLessEqual = [](auto a, auto b) { return a <= b; };
constexpr auto kGreater = [](auto a, auto b) { return a > b; };
constexpr auto kGreaterEqual = [](auto a, auto b) { return a >= b; };

}  // namespace

OPGEN_META_FUNC2(eq, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_comparison_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC2(eq, Scalar)(const Tensor& self, const Scalar& other) {
  build_borrowing_except_last_argument_comparison_op(maybe_get_output(), self, number(other));
}
OPGEN_IMPL_FUNC(eq_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  compare(*this, "eq", kEqual);
}
OPGEN_IMPL_FUNC(eq_Scalar_out)(const Tensor&, const Scalar&, const Tensor& /*out*/) {
  compare(*this, "eq", kEqual);
}

OPGEN_META_FUNC2(ne, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_comparison_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC2(ne, Scalar)(const Tensor& self, const Scalar& other) {
  build_borrowing_except_last_argument_comparison_op(maybe_get_output(), self, number(other));
}
OPGEN_IMPL_FUNC(ne_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  compare(*this, "ne", kNotEqual);
}
OPGEN_IMPL_FUNC(ne_Scalar_out)(const Tensor&, const Scalar&, const Tensor& /*out*/) {
  compare(*this, "ne", kNotEqual);
}

OPGEN_META_FUNC2(lt, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_comparison_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC2(lt, Scalar)(const Tensor& self, const Scalar& other) {
  build_borrowing_except_last_argument_comparison_op(maybe_get_output(), self, number(other));
}
OPGEN_IMPL_FUNC(lt_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  compare_ordered(*this, "lt", kLess);
}
OPGEN_IMPL_FUNC(lt_Scalar_out)(const Tensor&, const Scalar&, const Tensor& /*out*/) {
  compare_ordered(*this, "lt", kLess);
}

OPGEN_META_FUNC2(le, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_comparison_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC2(le, Scalar)(const Tensor& self, const Scalar& other) {
  build_borrowing_except_last_argument_comparison_op(maybe_get_output(), self, number(other));
}
OPGEN_IMPL_FUNC(le_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  compare_ordered(*this, "le", kLessEqual);
}
OPGEN_IMPL_FUNC(le_Scalar_out)(const Tensor&, const Scalar&, const Tensor& /*out*/) {
  compare_ordered(*this, "le", kLessEqual);
}

OPGEN_META_FUNC2(gt, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_comparison_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC2(gt, Scalar)(const Tensor& self, const Scalar& other) {
  build_borrowing_except_last_argument_comparison_op(maybe_get_output(), self, number(other));
}
OPGEN_IMPL_FUNC(gt_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  compare_ordered(*this, "gt", kGreater);
}
OPGEN_IMPL_FUNC(gt_Scalar_out)(const Tensor&, const Scalar&, const Tensor& /*out*/) {
  compare_ordered(*this, "gt", kGreater);
}

OPGEN_META_FUNC2(ge, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_comparison_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC2(ge, Scalar)(const Tensor& self, const Scalar& other) {
  build_borrowing_except_last_argument_comparison_op(maybe_get_output(), self, number(other));
}
OPGEN_IMPL_FUNC(ge_Tensor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  compare_ordered(*this, "ge", kGreaterEqual);
}
OPGEN_IMPL_FUNC(ge_Scalar_out)(const Tensor&, const Scalar&, const Tensor& /*out*/) {
  compare_ordered(*this, "ge", kGreaterEqual);
}

// ---- Logic: zero is false, everything else is true ----

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

// Without branches, so that compilers vectorise the loops.
constexpr auto kAnd = [](bool a, bool b) { return a & b; };
constexpr auto kOr = [](bool a, bool b) { return a | b; };
constexpr auto kXor = [](bool a, bool b) { return a != b; };

}  // namespace

OPGEN_KERNEL(logical_and_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return logical(out, self, other, "logical_and", kAnd);
}
OPGEN_KERNEL(logical_and)(const Tensor& self, const Tensor& other) {
  Tensor out = new_bool(self);
  return at::logical_and_out(out, self, other);
}
OPGEN_KERNEL(logical_and_)(Tensor& self, const Tensor& other) {
  return at::logical_and_out(self, self, other);
}

OPGEN_KERNEL(logical_or_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return logical(out, self, other, "logical_or", kOr);
}
OPGEN_KERNEL(logical_or)(const Tensor& self, const Tensor& other) {
  Tensor out = new_bool(self);
  return at::logical_or_out(out, self, other);
}
OPGEN_KERNEL(logical_or_)(Tensor& self, const Tensor& other) {
  return at::logical_or_out(self, self, other);
}

OPGEN_KERNEL(logical_xor_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return logical(out, self, other, "logical_xor", kXor);
}
OPGEN_KERNEL(logical_xor)(const Tensor& self, const Tensor& other) {
  Tensor out = new_bool(self);
  return at::logical_xor_out(out, self, other);
}
OPGEN_KERNEL(logical_xor_)(Tensor& self, const Tensor& other) {
  return at::logical_xor_out(self, self, other);
}

// ---- Bits ----

namespace {

template <class F>
void bitwise(TensorIteratorBase& iter, const char* name, F f) {
  OPGEN_DISPATCH_INTEGRAL_AND_BOOL(iter.common_dtype(), name, [&] {
    opgen::cpu_kernel(
        iter, [f](scalar_t a, scalar_t b) -> scalar_t { return static_cast<scalar_t>(f(a, b)); });
  });
}

}  // namespace

OPGEN_META_FUNC2(bitwise_and, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(bitwise_and_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  bitwise(*this, "bitwise_and", [](auto a, auto b) { return a & b; });
}
OPGEN_KERNEL(bitwise_and)(const Tensor& self, const Scalar& other) {
  return at::bitwise_and(self, number(other));
}
OPGEN_KERNEL(bitwise_and)(const Scalar& self, const Tensor& other) {
  return at::bitwise_and(number(self), other);
}
OPGEN_KERNEL(bitwise_and_)(Tensor& self, const Scalar& other) {
  return self.bitwise_and_(number(other));
}
OPGEN_KERNEL(bitwise_and_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::bitwise_and_out(out, self, number(other));
}
OPGEN_KERNEL(__and__)(const Tensor& self, const Tensor& other) {
  return at::bitwise_and(self, other);
}
OPGEN_KERNEL(__and__)(const Tensor& self, const Scalar& other) {
  return at::bitwise_and(self, other);
}
OPGEN_KERNEL(__iand__)(Tensor& self, const Tensor& other) {
  return self.bitwise_and_(other);
}
OPGEN_KERNEL(__iand__)(Tensor& self, const Scalar& other) {
  return self.bitwise_and_(other);
}

OPGEN_META_FUNC2(bitwise_or, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(bitwise_or_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  bitwise(*this, "bitwise_or", [](auto a, auto b) { return a | b; });
}
OPGEN_KERNEL(bitwise_or)(const Tensor& self, const Scalar& other) {
  return at::bitwise_or(self, number(other));
}
OPGEN_KERNEL(bitwise_or)(const Scalar& self, const Tensor& other) {
  return at::bitwise_or(number(self), other);
}
OPGEN_KERNEL(bitwise_or_)(Tensor& self, const Scalar& other) {
  return self.bitwise_or_(number(other));
}
OPGEN_KERNEL(bitwise_or_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::bitwise_or_out(out, self, number(other));
}
OPGEN_KERNEL(__or__)(const Tensor& self, const Tensor& other) {
  return at::bitwise_or(self, other);
}
OPGEN_KERNEL(__or__)(const Tensor& self, const Scalar& other) {
  return at::bitwise_or(self, other);
}
OPGEN_KERNEL(__ior__)(Tensor& self, const Tensor& other) {
  return self.bitwise_or_(other);
}
OPGEN_KERNEL(__ior__)(Tensor& self, const Scalar& other) {
  return self.bitwise_or_(other);
}

OPGEN_META_FUNC2(bitwise_xor, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(bitwise_xor_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  bitwise(*this, "bitwise_xor", [](auto a, auto b) { return a ^ b; });
}
OPGEN_KERNEL(bitwise_xor)(const Tensor& self, const Scalar& other) {
  return at::bitwise_xor(self, number(other));
}
OPGEN_KERNEL(bitwise_xor)(const Scalar& self, const Tensor& other) {
  return at::bitwise_xor(number(self), other);
}
OPGEN_KERNEL(bitwise_xor_)(Tensor& self, const Scalar& other) {
  return self.bitwise_xor_(number(other));
}
OPGEN_KERNEL(bitwise_xor_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::bitwise_xor_out(out, self, number(other));
}
OPGEN_KERNEL(__xor__)(const Tensor& self, const Tensor& other) {
  return at::bitwise_xor(self, other);
}
OPGEN_KERNEL(__xor__)(const Tensor& self, const Scalar& other) {
  return at::bitwise_xor(self, other);
}
OPGEN_KERNEL(__ixor__)(Tensor& self, const Tensor& other) {
  return self.bitwise_xor_(other);
}
OPGEN_KERNEL(__ixor__)(Tensor& self, const Scalar& other) {
  return self.bitwise_xor_(other);
}

// ---- Whole tensors ----

OPGEN_KERNEL(is_same_size)(const Tensor& self, const Tensor& other) {
  return same_sizes(self.sizes(), other.sizes());
}

namespace {

// Returns whether two rows are equal.
template <class T>
bool equal_row(const char* const* data, const int64_t* strides, int64_t n) {
  constexpr int64_t block = 256, item = sizeof(T);
  const char *a = data[0], *b = data[1];
  const bool adjacent = strides[0] == item && strides[1] == item;
  while (n > 0) {
    const int64_t count = std::min(block, n);
    bool same = true;
    if (adjacent) {
      const T* x = reinterpret_cast<const T*>(a);
      const T* y = reinterpret_cast<const T*>(b);
      for (int64_t i = 0; i < count; ++i)
        same &= opgen::element_at(x + i) == opgen::element_at(y + i);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        same &= opgen::element_at(reinterpret_cast<const T*>(a + i * strides[0])) ==
                opgen::element_at(reinterpret_cast<const T*>(b + i * strides[1]));
      }
    }
    if (!same) return false;
    a += count * strides[0];
    b += count * strides[1];
    n -= count;
  }
  return true;
}

}  // namespace

OPGEN_KERNEL(equal)(const Tensor& self, const Tensor& other) {
  if (!same_sizes(self.sizes(), other.sizes())) return false;
  const ScalarType common = opgen::promote_types(self.scalar_type(), other.scalar_type());
  const Tensor a = to_dtype(self, common), b = to_dtype(other, common);
  TensorIterator iter = opgen::TensorIteratorConfig().add_const_input(a).add_const_input(b).build();
  // Threads stop at the first difference.
  std::atomic<bool> same = true;
  OPGEN_DISPATCH_ALL(common, "equal", [&] {
    iter.for_each([&](char** data, const int64_t* strides, int64_t n) {
      if (!same.load(std::memory_order_relaxed)) return;
      if (!equal_row<scalar_t>(data, strides, n)) same.store(false, std::memory_order_relaxed);
    });
  });
  return same.load();
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
  // In place where the dtype stays: each new tensor would take longer than its arithmetic.
  Tensor allowed = at::mul(b, Scalar(rtol)), actual = at::sub(a, b);
  if (self.is_complex()) {
    allowed = at::abs(allowed);
    actual = at::abs(actual);
  } else {
    allowed.abs_();
    actual.abs_();
  }
  Tensor within = at::le(actual, allowed.add_(Scalar(atol)));
  return close.logical_or_(within.logical_and_(at::isfinite(actual)));
}

OPGEN_KERNEL(allclose)
(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return at::all(at::isclose(self, other, rtol, atol, equal_nan)).item().toBool();
}

// ---- Shifts: by the width of the type or more, all bits are shifted out ----

namespace {

template <class T>
bool is_too_far(T count) {
  return count < 0 || count >= T(sizeof(T) * 8);
}

struct LeftShift {
  template <class T>
  T operator()(T a, T b) const {
    if (is_too_far(b)) return 0;
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
  }
};

// Keeps the sign: a negative number becomes -1 if all bits are shifted out.
struct RightShift {
  template <class T>
  T operator()(T a, T b) const {
    constexpr T most = T(sizeof(T) * 8 - (std::is_signed_v<T> ? 1 : 0));
    if (b < 0 || b >= most) return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
    return static_cast<T>(a >> b);
  }
};

template <class F>
void shift(TensorIteratorBase& iter, const char* name, F f) {
  OPGEN_DISPATCH_INTEGRAL(iter.common_dtype(), name, [&] {
    opgen::cpu_kernel(iter, [f](scalar_t a, scalar_t b) -> scalar_t { return f(a, b); });
  });
}

}  // namespace

OPGEN_META_FUNC2(bitwise_left_shift, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(bitwise_left_shift_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  shift(*this, "bitwise_left_shift", LeftShift());
}
OPGEN_KERNEL(bitwise_left_shift)(const Tensor& self, const Scalar& other) {
  return at::bitwise_left_shift(self, number(other));
}
OPGEN_KERNEL(bitwise_left_shift)(const Scalar& self, const Tensor& other) {
  return at::bitwise_left_shift(number(self), other);
}
OPGEN_KERNEL(bitwise_left_shift_)(Tensor& self, const Scalar& other) {
  return self.bitwise_left_shift_(number(other));
}
OPGEN_KERNEL(bitwise_left_shift_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::bitwise_left_shift_out(out, self, number(other));
}

OPGEN_META_FUNC2(bitwise_right_shift, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(bitwise_right_shift_out)(const Tensor&, const Tensor&, const Tensor& /*out*/) {
  shift(*this, "bitwise_right_shift", RightShift());
}
OPGEN_KERNEL(bitwise_right_shift)(const Tensor& self, const Scalar& other) {
  return at::bitwise_right_shift(self, number(other));
}
OPGEN_KERNEL(bitwise_right_shift)(const Scalar& self, const Tensor& other) {
  return at::bitwise_right_shift(number(self), other);
}
OPGEN_KERNEL(bitwise_right_shift_)(Tensor& self, const Scalar& other) {
  return self.bitwise_right_shift_(number(other));
}
OPGEN_KERNEL(bitwise_right_shift_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::bitwise_right_shift_out(out, self, number(other));
}
