// operators.h: a few hand-registered operators for the tests of keys above the backends: t::add,
// t::mul, t::add_, t::add.out, t::row, t::rows, t::sum, t::item, t::wrap_add (composite).
#pragma once

#include <algorithm>

#include "opgen/boxing.h"
#include "opgen/cpu/loops.h"
#include "opgen/dispatch_macros.h"
#include "opgen/iterator.h"
#include "opgen/library.h"
#include "tensors.h"

namespace ops {

using namespace opgen;

template <class F>
void loop(Tensor& out, const Tensor& a, const Tensor& b, F f) {
  TensorIteratorConfig config;
  config.add_output(out).add_const_input(a).add_const_input(b);
  config.promote_inputs_to_common_dtype(true).cast_common_dtype_to_outputs(true);
  TensorIterator iter = config.build();
  out = Tensor(iter.output());
  if (out.is_meta()) return;
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), "t", [&] {
    cpu_kernel_opmath<scalar_t>(iter, [f](auto x, auto y) { return f(x, y); });
  });
}
inline constexpr auto plus = [](auto x, auto y) { return x + y; };
inline constexpr auto times = [](auto x, auto y) { return x * y; };

inline Tensor add_kernel(const Tensor& a, const Tensor& b) {
  Tensor out;
  loop(out, a, b, plus);
  return out;
}
inline Tensor mul_kernel(const Tensor& a, const Tensor& b) {
  Tensor out;
  loop(out, a, b, times);
  return out;
}
inline Tensor& add_inplace_kernel(Tensor& a, const Tensor& b) {
  loop(a, a, b, plus);
  return a;
}
inline Tensor& add_out_kernel(const Tensor& a, const Tensor& b, Tensor& out) {
  loop(out, a, b, plus);
  return out;
}
inline Tensor row_kernel(const Tensor& self, std::int64_t i) {
  return detail::alias_with_sizes_and_strides(self, self.sizes().slice(1), self.strides().slice(1),
                                              self.storage_offset() + i * self.stride(0));
}
inline std::vector<Tensor> rows_kernel(const Tensor& self) {
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < self.size(0); ++i) rows.push_back(row_kernel(self, i));
  return rows;
}
// Sums over the last dimension.
inline Tensor sum_kernel(const Tensor& self) {
  std::int64_t n = self.size(-1);
  Tensor out = detail::empty(self.sizes().slice(0, self.sizes().size() - 1), self.options());
  if (self.is_meta()) return out;
  std::vector<double> all = tensors::values(self);
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += all[static_cast<std::size_t>(i * n + j)];
    out.mutable_data_ptr<float>()[i] = static_cast<float>(sum);
  }
  return out;
}
inline double item_kernel(const Tensor& self) {
  return opgen::item(self).to<double>();
}

using Binary = Tensor(const Tensor&, const Tensor&);
template <class Signature>
TypedOperatorHandle<Signature> op(const char* name, const char* overload = "") {
  return Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}
inline Tensor add(const Tensor& a, const Tensor& b) {
  static auto f = op<Binary>("t::add");
  return f.call(a, b);
}
inline Tensor mul(const Tensor& a, const Tensor& b) {
  static auto f = op<Binary>("t::mul");
  return f.call(a, b);
}
inline Tensor& add_(Tensor& a, const Tensor& b) {
  static auto f = op<Tensor&(Tensor&, const Tensor&)>("t::add_");
  return f.call(a, b);
}
inline Tensor& add_out(Tensor& out, const Tensor& a, const Tensor& b) {
  static auto f = op<Tensor&(const Tensor&, const Tensor&, Tensor&)>("t::add", "out");
  return f.call(a, b, out);
}
inline Tensor row(const Tensor& self, std::int64_t i) {
  static auto f = op<Tensor(const Tensor&, std::int64_t)>("t::row");
  return f.call(self, i);
}
inline std::vector<Tensor> rows(const Tensor& self) {
  static auto f = op<std::vector<Tensor>(const Tensor&)>("t::rows");
  return f.call(self);
}
inline Tensor sum(const Tensor& self) {
  static auto f = op<Tensor(const Tensor&)>("t::sum");
  return f.call(self);
}
inline double item(const Tensor& self) {
  static auto f = op<double(const Tensor&)>("t::item");
  return f.call(self);
}
inline Tensor add_all(const std::vector<Tensor>& tensors, const std::optional<Tensor>& bias) {
  static auto f = op<Tensor(TensorList, const std::optional<Tensor>&)>("t::add_all");
  return f.call(TensorList(tensors), bias);
}
// A composite: it only calls other operators.
inline Tensor add_all_kernel(TensorList tensors, const std::optional<Tensor>& bias) {
  Tensor total = tensors[0];
  for (std::size_t i = 1; i < tensors.size(); ++i) total = add(total, tensors[i]);
  return bias.has_value() ? add(total, *bias) : total;
}

inline void register_kernels(Library& m) {
  m.impl("add", add_kernel).impl("mul", mul_kernel).impl("add_", add_inplace_kernel);
  m.impl("add.out", add_out_kernel).impl("row", row_kernel).impl("rows", rows_kernel);
  m.impl("sum", sum_kernel).impl("item", item_kernel);
}

}  // namespace ops

OPGEN_LIBRARY(t, m) {
  m.def("add(Tensor self, Tensor other) -> Tensor", std::vector<std::string>{"pointwise"});
  m.def("mul(Tensor self, Tensor other) -> Tensor");
  m.def("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  m.def("add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("row(Tensor(a) self, int i) -> Tensor(a)");
  m.def("rows(Tensor(a -> *) self) -> Tensor(a)[]");
  m.def("sum(Tensor self) -> Tensor");
  m.def("item(Tensor self) -> float");
  m.def("add_all(Tensor[] tensors, Tensor? bias=None) -> Tensor", ops::add_all_kernel);
}
OPGEN_LIBRARY_IMPL(t, CPU, m) {
  ops::register_kernels(m);
}
OPGEN_LIBRARY_IMPL(t, Meta, m) {
  ops::register_kernels(m);
}
