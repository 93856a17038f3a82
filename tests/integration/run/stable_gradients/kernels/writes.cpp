// writes.cpp: the kernels of writes.yaml.
#include <opgen/kernel.h>

#include <graded/ops/multiply_all_native.h>
#include <graded/ops/multiply_both__native.h>
#include <graded/ops/multiply_native.h>
#include <graded/ops/product_native.h>

using namespace opgen::types;

namespace {

// Sets `to` to the products of the elements of `a` and `b`, which are of type double and of one
// shape.
void multiply(const Tensor& to, const Tensor& a, const Tensor& b) {
  if (to.is_meta()) return;
  const Tensor left = opgen::contiguous(a);
  const Tensor right = opgen::contiguous(b);
  Tensor products = opgen::empty_like(left);
  const double* const x = left.data_ptr<double>();
  const double* const y = right.data_ptr<double>();
  double* const z = products.data_ptr<double>();
  for (std::int64_t i = 0; i < left.numel(); ++i) z[i] = x[i] * y[i];
  opgen::copy_(to, products);
}

}  // namespace

OPGEN_KERNEL(product)(const Tensor& self, const Tensor& other) {
  Tensor result = opgen::empty_like(self);
  multiply(result, self, other);
  return result;
}
OPGEN_KERNEL(product_meta)(const Tensor& self, const Tensor&) {
  return opgen::empty_like(self);
}
OPGEN_KERNEL(product_)(Tensor& self, const Tensor& other) {
  multiply(self, self, other);
  return self;
}
OPGEN_KERNEL(multiply_)(Tensor& self, const Tensor& other) {
  multiply(self, self, other);
  return self;
}
// The product goes to `self`, and the square of its old value to `other`.
OPGEN_KERNEL(multiply_both_)(Tensor& self, Tensor& other) {
  Tensor square = opgen::empty_like(self);
  multiply(square, self, self);
  multiply(self, self, other);
  opgen::copy_(other, square);
  return {self, other};
}
OPGEN_KERNEL(multiply_all_)(TensorList self, TensorList others) {
  for (std::size_t i = 0; i < self.size(); ++i) multiply(self[i], self[i], others[i]);
}
