// stable_by_hand.cpp: two operators of stable.yaml, written by hand with PyTorch's C++ functions.
// In namespace `hand`, a backward pass is an error; in `hand_constant`, no gradient is recorded.
#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

namespace {

using at::Tensor;
using at::TensorIterator;

Tensor add32(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.sizes() == other.sizes(), "add32: expected tensors of equal sizes");
  TORCH_CHECK(self.is_contiguous() && other.is_contiguous(), "add32: expected contiguous tensors");
  Tensor out = at::empty_like(self);
  const float* a = self.const_data_ptr<float>();
  const float* b = other.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); ++i) to[i] = a[i] + b[i];
  return out;
}

void compute(TensorIterator& iterator) {
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(
      at::kHalf, at::kBFloat16, iterator.common_dtype(), "add", [&] {
        at::native::cpu_kernel(iterator, [](scalar_t a, scalar_t b) -> scalar_t { return a + b; });
      });
}
Tensor add(const Tensor& self, const Tensor& other) {
  Tensor out;
  auto iterator = TensorIterator::borrowing_binary_op(out, self, other);
  compute(iterator);
  return iterator.output();
}
Tensor& add_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iterator = TensorIterator::borrowing_binary_op(out, self, other);
  compute(iterator);
  return out;
}
Tensor& add_(Tensor& self, const Tensor& other) {
  return add_out(self, other, self);
}

constexpr const char* kNames[] = {"add32", "add", "add_", "add.out"};

void define(torch::Library& m) {
  m.def("add32(Tensor self, Tensor other) -> Tensor");
  m.def("add(Tensor self, Tensor other) -> Tensor");
  m.def("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  m.def("add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)");
}

void implement(torch::Library& m) {
  m.impl("add32", TORCH_FN(add32));
  m.impl("add", TORCH_FN(add));
  m.impl("add_", TORCH_FN(add_));
  m.impl("add.out", TORCH_FN(add_out));
}

}  // namespace

TORCH_LIBRARY(hand, m) {
  define(m);
}
TORCH_LIBRARY(hand_constant, m) {
  define(m);
}
TORCH_LIBRARY_IMPL(hand, CPU, m) {
  implement(m);
}
TORCH_LIBRARY_IMPL(hand_constant, CPU, m) {
  implement(m);
}
TORCH_LIBRARY_IMPL(hand, Autograd, m) {
  for (const char* name : kNames) m.impl(name, torch::autograd::autogradNotImplementedFallback());
}
TORCH_LIBRARY_IMPL(hand_constant, Autograd, m) {
  for (const char* name : kNames) m.impl(name, torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(hand, ADInplaceOrView, m) {
  for (const char* name : {"add_", "add.out"}) {
    m.impl(name, torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  }
}
TORCH_LIBRARY_IMPL(hand_constant, ADInplaceOrView, m) {
  for (const char* name : {"add_", "add.out"}) {
    m.impl(name, torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  }
}
