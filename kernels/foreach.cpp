// foreach.cpp: operators that apply another operator to each tensor of a list.
#include <opgen/kernel.h>

#include <aten/ops/_foreach_add_native.h>
#include <aten/ops/_foreach_mul_native.h>
#include <aten/ops/_foreach_sqrt_native.h>
#include <aten/ops/add.h>
#include <aten/ops/mul.h>
#include <aten/ops/sqrt.h>

#include "common.h"

using namespace kernels;

namespace {

void check_lists(size_t size, size_t other) {
  OPGEN_CHECK(size > 0, "Tensor list must have at least one tensor.");
  OPGEN_CHECK(size == other, "Tensor lists must have the same number of tensors, got ", size,
              " and ", other);
}

// Returns f(tensor, number) for each tensor of the list.
template <class F>
std::vector<Tensor> map(TensorList self, F f) {
  check_lists(self.size(), self.size());
  std::vector<Tensor> result;
  result.reserve(self.size());
  for (size_t i = 0; i < self.size(); ++i) result.push_back(f(self[i], i));
  return result;
}

template <class F>
void update(TensorList self, F f) {
  check_lists(self.size(), self.size());
  for (size_t i = 0; i < self.size(); ++i) {
    Tensor target = self[i];
    f(target, i);
  }
}

}  // namespace

OPGEN_KERNEL(_foreach_add)(TensorList self, const Scalar& scalar) {
  return map(self, [&](const Tensor& x, size_t) { return at::add(x, scalar); });
}
OPGEN_KERNEL(_foreach_add_)(TensorList self, const Scalar& scalar) {
  update(self, [&](Tensor& x, size_t) { x.add_(scalar); });
}
OPGEN_KERNEL(_foreach_add)(TensorList self, TensorList other, const Scalar& alpha) {
  check_lists(self.size(), other.size());
  return map(self, [&](const Tensor& x, size_t i) { return at::add(x, other[i], alpha); });
}
OPGEN_KERNEL(_foreach_add_)(TensorList self, TensorList other, const Scalar& alpha) {
  check_lists(self.size(), other.size());
  update(self, [&](Tensor& x, size_t i) { x.add_(other[i], alpha); });
}
OPGEN_KERNEL(_foreach_add)(TensorList self, ArrayRef<Scalar> scalars) {
  check_lists(self.size(), scalars.size());
  return map(self, [&](const Tensor& x, size_t i) { return at::add(x, scalars[i]); });
}
OPGEN_KERNEL(_foreach_add_)(TensorList self, ArrayRef<Scalar> scalars) {
  check_lists(self.size(), scalars.size());
  update(self, [&](Tensor& x, size_t i) { x.add_(scalars[i]); });
}

OPGEN_KERNEL(_foreach_mul)(TensorList self, const Scalar& scalar) {
  return map(self, [&](const Tensor& x, size_t) { return at::mul(x, scalar); });
}
OPGEN_KERNEL(_foreach_mul_)(TensorList self, const Scalar& scalar) {
  update(self, [&](Tensor& x, size_t) { x.mul_(scalar); });
}
OPGEN_KERNEL(_foreach_mul)(TensorList self, TensorList other) {
  check_lists(self.size(), other.size());
  return map(self, [&](const Tensor& x, size_t i) { return at::mul(x, other[i]); });
}
OPGEN_KERNEL(_foreach_mul_)(TensorList self, TensorList other) {
  check_lists(self.size(), other.size());
  update(self, [&](Tensor& x, size_t i) { x.mul_(other[i]); });
}
OPGEN_KERNEL(_foreach_mul)(TensorList self, ArrayRef<Scalar> scalars) {
  check_lists(self.size(), scalars.size());
  return map(self, [&](const Tensor& x, size_t i) { return at::mul(x, scalars[i]); });
}
OPGEN_KERNEL(_foreach_mul_)(TensorList self, ArrayRef<Scalar> scalars) {
  check_lists(self.size(), scalars.size());
  update(self, [&](Tensor& x, size_t i) { x.mul_(scalars[i]); });
}

OPGEN_KERNEL(_foreach_sqrt)(TensorList self) {
  return map(self, [](const Tensor& x, size_t) { return at::sqrt(x); });
}
OPGEN_KERNEL(_foreach_sqrt_)(TensorList self) {
  update(self, [](Tensor& x, size_t) { x.sqrt_(); });
}
