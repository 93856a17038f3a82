// composite_compliance_test.cpp: composite kernels that read memory, resize, call out= or item are
// reported by name; those that only call operators behave the same with and without the guard.
#include "opgen/transforms/composite_compliance.h"

#include "check.h"
#include "operators.h"
#include "opgen/tensor/resize.h"

using namespace opgen;

namespace {

Tensor of(std::initializer_list<float> values, IntArrayRef sizes) {
  Tensor tensor = tensors::empty(sizes);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<float>());
  return tensor;
}

Tensor reads(const Tensor& self) {
  static_cast<void>(self.data_ptr<float>());
  return self;
}
Tensor resizes_memory(const Tensor& self) {
  Tensor out = ops::add(self, self);
  opgen::resize_(out, {100});
  return out;
}
Tensor& resize_kernel(Tensor& self, IntArrayRef size) {
  opgen::resize_(self, size);
  return self;
}
Tensor resizes(const Tensor& self) {
  Tensor out = ops::add(self, self);
  return ops::op<Tensor&(Tensor&, IntArrayRef)>("c::resize_").call(out, {100});
}
Tensor writes_out(const Tensor& self) {
  Tensor out = ops::mul(self, self);
  return ops::add_out(out, self, self);
}
Tensor branches(const Tensor& self) {
  return ops::item(ops::sum(self)) > 0 ? self : ops::mul(self, self);
}
Tensor calls_branches(const Tensor& self) {
  return ops::op<Tensor(const Tensor&)>("c::branches").call(self);
}
// Writes its argument. Two of its results alias arguments, and one is new.
std::tuple<Tensor&, Tensor, Tensor> good(Tensor& self, TensorList others) {
  ops::add_(self, others[0]);
  Tensor row = ops::row(self, 1);
  return {self, ops::add_all({others[0], others[1], row}, std::nullopt), row};
}
Tensor& twice_out(const Tensor& self, Tensor& out) {
  return ops::add_out(out, self, self);
}
Tensor narrowed(const Tensor& self) {
  return self.dim() > 1 && self.size(0) == 2 && self.is_contiguous() ? ops::row(self, 0) : self;
}
bool same(const Tensor& a, const Tensor& b) {
  return a.is_same(b);
}

using Unary = Tensor(const Tensor&);
Tensor call(const char* name, const Tensor& self) {
  return ops::op<Unary>(name).call(self);
}

}  // namespace

OPGEN_LIBRARY(c, m) {
  for (const char* name : {"reads", "resizes_memory", "resizes", "writes_out", "branches",
                           "calls_branches", "narrowed"}) {
    m.def(std::string(name) + "(Tensor self) -> Tensor");
  }
  m.def("resize_(Tensor(a!) self, int[] size) -> Tensor(a!)");
  m.def("good(Tensor(a!) self, Tensor[] others) -> (Tensor(a!), Tensor, Tensor)");
  m.def("twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("same(Tensor a, Tensor b) -> bool");
}
OPGEN_LIBRARY_IMPL(c, CompositeImplicitAutograd, m) {
  m.impl("reads", reads).impl("resizes_memory", resizes_memory).impl("resizes", resizes);
  m.impl("writes_out", writes_out).impl("branches", branches).impl("good", good);
  m.impl("calls_branches", calls_branches).impl("twice.out", twice_out);
  m.impl("narrowed", narrowed).impl("same", same);
}
OPGEN_LIBRARY_IMPL(c, CPU, m) {
  m.impl("resize_", resize_kernel);
}

TEST(the_four_invalid_actions_are_reported) {
  Tensor a = of({1, 2, 3, 4}, {2, 2});
  const char* bad[] = {"c::reads", "c::resizes_memory", "c::resizes", "c::writes_out",
                       "c::branches"};
  for (const char* name : bad)
    call(name, name == bad[4] ? ops::row(a, 0) : a);  // no error without the guard

  CompositeComplianceGuard guard;
  CHECK_THROWS(Error, "c::reads is composite, but its kernel calls data_ptr()",
               call("c::reads", a));
  CHECK_THROWS(Error, "c::resizes_memory is composite, but its kernel calls resize_()",
               call("c::resizes_memory", a));
  CHECK_THROWS(Error, "c::resizes is composite, but its kernel calls c::resize_",
               call("c::resizes", a));
  CHECK_THROWS(Error,
               "c::writes_out is composite, but its kernel calls t::add.out, an out= operator",
               call("c::writes_out", a));
  Tensor row = ops::row(a, 0);
  CHECK_THROWS(Error, "c::branches is composite, but its kernel calls t::item, item()",
               call("c::branches", row));
  // The error names the kernel that made the invalid call, not its caller.
  CHECK_THROWS(Error, "c::branches is composite", call("c::calls_branches", row));
  // Kernels that are not composite may do all of these.
  CHECK_EQ(ops::item(of({7}, {})), 7.0);
  Tensor out = of({0}, {1});
  CHECK_EQ(tensors::values(ops::add_out(out, row, row)), (std::vector<double>{2, 4}));
}

TEST(results_are_the_same_under_the_guard) {
  auto run = [](Tensor& self) {
    Tensor others[] = {of({1, 2}, {2}), of({10, 20}, {2})};
    return ops::op<std::tuple<Tensor&, Tensor, Tensor>(Tensor&, TensorList)>("c::good").call(
        self, others);
  };
  Tensor plain = of({1, 2, 3, 4}, {2, 2}), watched = of({1, 2, 3, 4}, {2, 2});
  auto [p0, p1, p2] = run(plain);
  CompositeComplianceGuard guard;
  auto [w0, w1, w2] = run(watched);
  CHECK(&w0 == &watched);
  CHECK_EQ(tensors::values(w0), tensors::values(p0));
  CHECK_EQ(tensors::values(w1), tensors::values(p1));
  CHECK_EQ(tensors::values(w2), tensors::values(p2));
  CHECK(w2.is_alias_of(watched));
  CHECK(!w1.unsafeGetTensorImpl()->is_stand_in());

  Tensor out = of({0, 0}, {2});
  ops::op<Tensor&(const Tensor&, Tensor&)>("c::twice", "out")
      .call(w2, out);  // an out= operator may pass on its out argument
  CHECK_EQ(tensors::values(out), (std::vector<double>{8, 12}));
  CHECK_EQ(tensors::values(call("c::narrowed", watched)), (std::vector<double>{2, 4}));
  CHECK((ops::op<bool(const Tensor&, const Tensor&)>("c::same").call(out, out)));
}

TEST(the_guard_restores_everything) {
  Tensor a = of({1, 2}, {2});
  std::string before = ops::op<Unary>("c::narrowed").dump_table(true);
  {
    CompositeComplianceGuard outer;
    CompositeComplianceGuard inner;
    CHECK_THROWS(Error, "c::reads is composite", call("c::reads", a));
  }
  CHECK_EQ(ops::op<Unary>("c::narrowed").dump_table(true), before);
  CHECK(call("c::reads", a).is_same(a));
}
