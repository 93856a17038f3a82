// by_hand.cpp: the five operators of five.yaml, written by hand with TORCH_LIBRARY: all variants
// with checks, Meta, Functionalize and Autograd kernels.
#include <ATen/EmptyTensor.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <algorithm>

#include "loops.h"

namespace at::native {
TORCH_API bool resize_output(const Tensor& output, IntArrayRef shape);
}

namespace {

using at::Scalar;
using at::Tensor;
using at::TensorIterator;
namespace functional = at::functionalization::impl;

// For all operators: create and check outputs.
Tensor empty(at::IntArrayRef sizes, const at::TensorOptions& options) {
  if (options.device().is_meta()) return at::detail::empty_meta(sizes, options);
  return at::detail::empty_cpu(sizes, options);
}
void take_out(const Tensor& out, at::IntArrayRef sizes, const at::TensorOptions& options) {
  TORCH_CHECK(options.dtype() == out.dtype(), "Expected out tensor to have dtype ", options.dtype(),
              ", but got ", out.dtype(), " instead");
  TORCH_CHECK(options.device() == out.device(), "Expected out tensor to have device ",
              options.device(), ", but got ", out.device(), " instead");
  at::native::resize_output(out, sizes);
}
// For functionalization: unwrap tensors, and replace written tensors with results.
Tensor inside(const Tensor& tensor) {
  if (!functional::isFunctionalTensor(tensor)) return tensor;
  functional::sync(tensor);
  return functional::from_functional_tensor(tensor);
}
void replace(const Tensor& written, const Tensor& result) {
  functional::replace_(written, result);
  functional::commit_update(written);
  functional::sync(written);
}
template <class Signature>
auto handle(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

// axpy
Tensor axpy(const Tensor& x, const Tensor& y, const Scalar& a) {
  Tensor out;
  auto iterator = TensorIterator::borrowing_binary_op(out, x, y);
  if (!x.is_meta()) loops::axpy(iterator, a);
  return iterator.output();
}
Tensor& axpy_out(const Tensor& x, const Tensor& y, const Scalar& a, Tensor& out) {
  auto iterator = TensorIterator::borrowing_binary_op(out, x, y);
  if (!x.is_meta()) loops::axpy(iterator, a);
  return out;
}
Tensor& axpy_(Tensor& x, const Tensor& y, const Scalar& a) {
  return axpy_out(x, y, a, x);
}
using AxpySignature = Tensor(const Tensor&, const Tensor&, const Scalar&);
Tensor axpy_functional(const Tensor& x, const Tensor& y, const Scalar& a) {
  static const auto op = handle<AxpySignature>("hand::axpy", "");
  at::AutoDispatchSkipFunctionalize guard;
  return op.call(inside(x), inside(y), a);
}
Tensor& axpy_functionalize_out(const Tensor& x, const Tensor& y, const Scalar& a, Tensor& out) {
  if (!functional::isFunctionalTensor(out)) {
    at::AutoDispatchSkipFunctionalize guard;
    return axpy_out(x, y, a, out);
  }
  replace(out, axpy_functional(x, y, a));
  return out;
}
Tensor& axpy_functionalize_(Tensor& x, const Tensor& y, const Scalar& a) {
  return axpy_functionalize_out(x, y, a, x);
}

// softclip
Tensor softclip(const Tensor& self, double limit) {
  Tensor out;
  auto iterator = TensorIterator::unary_float_op(out, self);
  if (!self.is_meta()) loops::softclip(iterator, limit);
  return iterator.output();
}
Tensor& softclip_out(const Tensor& self, double limit, Tensor& out) {
  auto iterator = TensorIterator::unary_float_op(out, self);
  if (!self.is_meta()) loops::softclip(iterator, limit);
  return out;
}
Tensor& softclip_(Tensor& self, double limit) {
  return softclip_out(self, limit, self);
}
using SoftclipSignature = Tensor(const Tensor&, double);
Tensor& softclip_functionalize_out(const Tensor& self, double limit, Tensor& out) {
  static const auto op = handle<SoftclipSignature>("hand::softclip", "");
  at::AutoDispatchSkipFunctionalize guard;
  if (!functional::isFunctionalTensor(out)) return softclip_out(self, limit, out);
  replace(out, op.call(inside(self), limit));
  return out;
}
Tensor& softclip_functionalize_(Tensor& self, double limit) {
  return softclip_functionalize_out(self, limit, self);
}

// exceeds
Tensor exceeds(const Tensor& self, const Tensor& other) {
  Tensor out;
  auto iterator = TensorIterator::comparison_op(out, self, other);
  if (!self.is_meta()) loops::exceeds(iterator);
  return iterator.output();
}
Tensor& exceeds_out(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iterator = TensorIterator::comparison_op(out, self, other);
  if (!self.is_meta()) loops::exceeds(iterator);
  return out;
}
using ExceedsSignature = Tensor(const Tensor&, const Tensor&);
Tensor& exceeds_functionalize_out(const Tensor& self, const Tensor& other, Tensor& out) {
  static const auto op = handle<ExceedsSignature>("hand::exceeds", "");
  at::AutoDispatchSkipFunctionalize guard;
  if (!functional::isFunctionalTensor(out)) return exceeds_out(self, other, out);
  replace(out, op.call(inside(self), inside(other)));
  return out;
}

// span
at::DimVector span_sizes(const Tensor& self, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "span: expected a tensor with at least one dimension");
  const int64_t removed = at::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(self.size(removed) > 0, "span: dimension ", dim, " is empty");
  at::DimVector sizes(self.sizes());
  sizes.erase(sizes.begin() + removed);
  return sizes;
}
Tensor span(const Tensor& self, int64_t dim) {
  Tensor out = empty(span_sizes(self, dim), self.options());
  if (!self.is_meta()) loops::span(self, at::maybe_wrap_dim(dim, self.dim()), out);
  return out;
}
Tensor& span_out(const Tensor& self, int64_t dim, Tensor& out) {
  take_out(out, span_sizes(self, dim), self.options());
  if (!self.is_meta()) loops::span(self, at::maybe_wrap_dim(dim, self.dim()), out);
  return out;
}
using SpanSignature = Tensor(const Tensor&, int64_t);
Tensor& span_functionalize_out(const Tensor& self, int64_t dim, Tensor& out) {
  static const auto op = handle<SpanSignature>("hand::span", "");
  at::AutoDispatchSkipFunctionalize guard;
  if (!functional::isFunctionalTensor(out)) return span_out(self, dim, out);
  replace(out, op.call(inside(self), dim));
  return out;
}

// ends
void check_ends(const Tensor& self) {
  TORCH_CHECK(self.dim() == 1, "ends: expected a vector, got ", self.dim(), " dimensions");
}
std::tuple<Tensor, Tensor> ends(const Tensor& self) {
  check_ends(self);
  Tensor first = empty({}, self.options()), last = empty({}, self.options());
  if (!self.is_meta()) loops::ends(self, first, last);
  return {std::move(first), std::move(last)};
}
std::tuple<Tensor&, Tensor&> ends_out(const Tensor& self, Tensor& first, Tensor& last) {
  check_ends(self);
  take_out(first, {}, self.options());
  take_out(last, {}, self.options());
  if (!self.is_meta()) loops::ends(self, first, last);
  return {first, last};
}
using EndsSignature = std::tuple<Tensor, Tensor>(const Tensor&);
std::tuple<Tensor&, Tensor&> ends_functionalize_out(const Tensor& self, Tensor& first,
                                                    Tensor& last) {
  static const auto op = handle<EndsSignature>("hand::ends", "");
  at::AutoDispatchSkipFunctionalize guard;
  if (!functional::isFunctionalTensor(first)) return ends_out(self, first, last);
  const auto results = op.call(inside(self));
  replace(first, std::get<0>(results));
  replace(last, std::get<1>(results));
  return {first, last};
}

}  // namespace

TORCH_LIBRARY(hand, m) {
  m.def("axpy(Tensor self, Tensor other, *, Scalar a=1) -> Tensor");
  m.def("axpy_(Tensor(a!) self, Tensor other, *, Scalar a=1) -> Tensor(a!)");
  m.def("axpy.out(Tensor self, Tensor other, *, Scalar a=1, Tensor(a!) out) -> Tensor(a!)");
  m.def("softclip(Tensor self, float limit=1.0) -> Tensor");
  m.def("softclip_(Tensor(a!) self, float limit=1.0) -> Tensor(a!)");
  m.def("softclip.out(Tensor self, float limit=1.0, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("exceeds(Tensor self, Tensor other) -> Tensor");
  m.def("exceeds.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("span(Tensor self, int dim) -> Tensor");
  m.def("span.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("ends(Tensor self) -> (Tensor first, Tensor last)");
  m.def(
      "ends.out(Tensor self, *, Tensor(a!) first, Tensor(b!) last)"
      " -> (Tensor(a!) first, Tensor(b!) last)");
}

TORCH_LIBRARY_IMPL(hand, CPU, m) {
  m.impl("axpy", TORCH_FN(axpy));
  m.impl("axpy_", TORCH_FN(axpy_));
  m.impl("axpy.out", TORCH_FN(axpy_out));
  m.impl("softclip", TORCH_FN(softclip));
  m.impl("softclip_", TORCH_FN(softclip_));
  m.impl("softclip.out", TORCH_FN(softclip_out));
  m.impl("exceeds", TORCH_FN(exceeds));
  m.impl("exceeds.out", TORCH_FN(exceeds_out));
  m.impl("span", TORCH_FN(span));
  m.impl("span.out", TORCH_FN(span_out));
  m.impl("ends", TORCH_FN(ends));
  m.impl("ends.out", TORCH_FN(ends_out));
}

TORCH_LIBRARY_IMPL(hand, Meta, m) {
  m.impl("axpy", TORCH_FN(axpy));
  m.impl("axpy_", TORCH_FN(axpy_));
  m.impl("axpy.out", TORCH_FN(axpy_out));
  m.impl("softclip", TORCH_FN(softclip));
  m.impl("softclip_", TORCH_FN(softclip_));
  m.impl("softclip.out", TORCH_FN(softclip_out));
  m.impl("exceeds", TORCH_FN(exceeds));
  m.impl("exceeds.out", TORCH_FN(exceeds_out));
  m.impl("span", TORCH_FN(span));
  m.impl("span.out", TORCH_FN(span_out));
  m.impl("ends", TORCH_FN(ends));
  m.impl("ends.out", TORCH_FN(ends_out));
}

TORCH_LIBRARY_IMPL(hand, Functionalize, m) {
  m.impl("axpy_", TORCH_FN(axpy_functionalize_));
  m.impl("axpy.out", TORCH_FN(axpy_functionalize_out));
  m.impl("softclip_", TORCH_FN(softclip_functionalize_));
  m.impl("softclip.out", TORCH_FN(softclip_functionalize_out));
  m.impl("exceeds.out", TORCH_FN(exceeds_functionalize_out));
  m.impl("span.out", TORCH_FN(span_functionalize_out));
  m.impl("ends.out", TORCH_FN(ends_functionalize_out));
}

TORCH_LIBRARY_IMPL(hand, Autograd, m) {
  for (const char* op : {"axpy", "axpy_", "axpy.out", "softclip", "softclip_", "softclip.out",
                         "exceeds", "exceeds.out", "span", "span.out", "ends", "ends.out"}) {
    m.impl(op, torch::autograd::autogradNotImplementedFallback());
  }
}

TORCH_LIBRARY_IMPL(hand, ADInplaceOrView, m) {
  for (const char* op :
       {"axpy_", "axpy.out", "softclip_", "softclip.out", "exceeds.out", "span.out", "ends.out"}) {
    m.impl(op, torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  }
}
