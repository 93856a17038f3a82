// kernels.cpp: a kernel name with two return types, a kernel for two operators, an inner loop, a
// keyword.
#include <opgen/kernel.h>

#include <aten/Functions.h>
#include <aten/NativeFunctions.h>

OPGEN_KERNEL2(spread, default)(const Tensor& self) {
  return self;
}
OPGEN_KERNEL2(spread, dim)(const Tensor& self, int64_t dim) {
  return {self, opgen::full({dim}, dim, self.options())};
}

OPGEN_KERNEL(shared)(const Tensor& self) {
  return self;
}

OPGEN_META_FUNC(shifted)(const Tensor& self, const Tensor& other, const Scalar&) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_UFUNC(shifted)(T self, T other, T alpha) {
  return static_cast<T>(self + alpha * other);
}

OPGEN_KERNEL(union_cpu)(const Tensor& self, int64_t default_) {
  return opgen::full({default_}, self.size(0), self.options());
}

OPGEN_META_FUNC(polynomial)(int64_t n, const Tensor& self) {
  OPGEN_CHECK_VALUE(n >= 0, "polynomial of degree ", n);
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(polynomial_out_cpu)(int64_t n, const Tensor&, const Tensor&) {
  opgen::cpu_kernel(*this, [n](float x) -> float {
    float value = 1;
    for (int64_t i = 0; i < n; ++i) value = value * x + 1;
    return value;
  });
}
OPGEN_KERNEL(polynomial_)(Tensor& self, int64_t n) {
  return at::polynomial_out(self, n, self);
}
