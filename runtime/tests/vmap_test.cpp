// vmap_test.cpp: functions of one example on batches: with rules, with the loop over examples,
// nested, in place, with gradients; and invalid calls.
#include "opgen/transforms/vmap.h"

#include <thread>

#include "check.h"
#include "operators.h"
#include "opgen/autograd.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/autograd/primitives.h"

using namespace opgen;
using tensors::arange;
using tensors::full;
using tensors::values;
using Values = std::vector<double>;

namespace {

int calls = 0;  // number of calls of the kernel of t::count

Tensor count_kernel(const Tensor& self) {
  ++calls;
  return detail::clone(self);
}
Tensor count(const Tensor& self) {
  return ops::op<Tensor(const Tensor&)>("t::count").call(self);
}
// A rule written by hand: t::ruled does what t::count does.
Tensor ruled_rule(const Tensor& self) {
  std::int64_t level = batching::level_of(self);
  batching::Unwrapped whole = batching::unwrap(self, level);
  CHECK(whole.batched);
  return batching::make_batched(
      ops::op<Tensor(const Tensor&)>("t::ruled").call(Tensor(whole.value)), 0, level);
}
Tensor ruled(const Tensor& self) {
  return ops::op<Tensor(const Tensor&)>("t::ruled").call(self);
}
Tensor noise_kernel(const Tensor& self, std::optional<Generator>) {
  return detail::full(self.sizes(), ++calls, self.options());
}
Tensor noise(const Tensor& self) {
  Stack stack{IValue(self), IValue()};
  Dispatcher::singleton().findSchemaOrThrow("t::noise", "").call_boxed(stack);
  return stack[0].toTensor();
}

struct MulFunction : autograd::Function<MulFunction> {
  static Tensor forward(autograd::AutogradContext* ctx, Tensor a, Tensor b) {
    AutoDispatchBelowAutograd below;
    ctx->save_for_backward({a, b});
    return ops::mul(a, b);
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list g) {
    auto saved = ctx->get_saved_variables();
    return {ops::mul(g[0], saved[1]), ops::mul(g[0], saved[0])};
  }
};
Tensor mul_autograd(const Tensor& a, const Tensor& b) {
  return MulFunction::apply(a, b);
}

}  // namespace

OPGEN_LIBRARY_FRAGMENT(t, m) {
  m.def("count(Tensor self) -> Tensor");
  m.def("ruled(Tensor self) -> Tensor");
  m.def("noise(Tensor self, Generator? generator=None) -> Tensor");
}
OPGEN_LIBRARY_IMPL(t, CPU, m) {
  m.impl("count", count_kernel).impl("ruled", count_kernel).impl("noise", noise_kernel);
}
OPGEN_LIBRARY_IMPL(t, Batched, m) {
  m.impl("ruled", ruled_rule);
}
OPGEN_LIBRARY_IMPL(t, Autograd, m) {
  m.impl("mul", mul_autograd);
}

TEST(the_fallback_runs_once_per_example) {
  Tensor batch = arange({3, 2});
  calls = 0;
  Tensor out = vmap([](const Tensor& x) {
    CHECK(x.sizes().equals({2}) && x.scalar_type() == kFloat && !x.has_storage());
    return count(x);
  })(batch);
  CHECK(calls == 3 && out.sizes().equals({3, 2}));
  CHECK_EQ(values(out), values(batch));
}

TEST(a_rule_runs_once) {
  calls = 0;
  CHECK_EQ(values(vmap(ruled)(arange({3, 2}))), values(arange({3, 2})));
  CHECK_EQ(calls, 1);
  CHECK_EQ(values(vmap(vmap(ruled))(arange({3, 2}))), values(arange({3, 2})));
  CHECK_EQ(calls, 2);
}

TEST(dimensions) {
  Tensor a = arange({2, 3});
  // Adds b, which all examples share, to each column of `a`.
  Tensor b = arange({2});
  Tensor out = vmap(ops::mul, {1, std::nullopt})(a, b);
  CHECK(out.sizes().equals({3, 2}));
  CHECK_EQ(values(out), (Values{0, 3, 0, 4, 0, 5}));
  CHECK(vmap(ops::mul, {-1, std::nullopt}, 1)(a, b).sizes().equals({2, 3}));
  // A result that is the same for all examples.
  Tensor same = vmap([&](const Tensor&) { return b; })(a);
  CHECK(same.sizes().equals({2, 2}));
  CHECK_EQ(values(same), (Values{0, 1, 0, 1}));
}

TEST(pointwise_operators_need_no_rule) {
  Tensor a = arange({4, 2, 3}), b = arange({4, 3});
  Tensor expected = vmap(ops::mul)(a, full({4, 3}, 1));
  CHECK_EQ(values(expected), values(a));
  // {2, 3} + {3} per example: the shorter example gets dimensions after the batch.
  Tensor out = vmap(ops::add)(a, b);
  CHECK(out.sizes().equals({4, 2, 3}));
  CHECK_EQ(values(primitive::select(out, 0, 1)), values(ops::add(ops::row(a, 1), ops::row(b, 1))));
  // Zero-dim examples are promoted as zero-dim tensors.
  Tensor half = vmap(ops::add)(arange({3, 2}), arange({3}, kDouble));
  CHECK_EQ(half.scalar_type(), kFloat);
}

TEST(nested) {
  // All pairs: out[i][j] = a[i] * b[j].
  Tensor a = arange({3}), b = arange({2});
  auto row = [&](const Tensor& x) { return vmap(ops::mul, {std::nullopt, 0})(x, b); };
  Tensor out = vmap(row)(a);
  CHECK(out.sizes().equals({3, 2}));
  CHECK_EQ(values(out), (Values{0, 0, 0, 1, 0, 2}));
  Tensor sums = vmap([](const Tensor& m) { return vmap(ops::sum)(m); })(arange({2, 2, 3}));
  CHECK_EQ(values(sums), (Values{3, 12, 21, 30}));
}

TEST(lists_and_several_results) {
  Tensor a = arange({2, 2, 3});
  auto [first, total] = vmap([](const Tensor& m) {
    std::vector<Tensor> rows = ops::rows(m);
    return std::tuple<Tensor, Tensor>(rows[0], ops::add_all(rows, std::nullopt));
  })(a);
  CHECK_EQ(values(first), (Values{0, 1, 2, 6, 7, 8}));
  CHECK_EQ(values(total), (Values{3, 5, 7, 15, 17, 19}));
  std::vector<Tensor> rows = vmap(ops::rows)(a);
  CHECK(rows.size() == 2 && rows[1].sizes().equals({2, 3}));
}

TEST(in_place) {
  Tensor a = arange({3, 2}), b = arange({3, 2});
  vmap([](Tensor x, const Tensor& y) { return ops::add_(x, y); })(a, b);
  CHECK_EQ(values(a), (Values{0, 2, 4, 6, 8, 10}));
  CHECK_EQ(a._version(), 3);
  // Through a view that has no rule, at two levels.
  Tensor c = arange({2, 2, 2});
  auto zero_first = [](Tensor m) {
    Tensor first = ops::row(m, 0);
    return ops::add_(first, full({2}, 10));
  };
  vmap(zero_first)(c);
  CHECK_EQ(values(c), (Values{10, 11, 2, 3, 14, 15, 6, 7}));
  vmap(vmap([](Tensor row) {
    Tensor element = ops::row(row, 1);
    return ops::add_(element, full({}, 100));
  }))(c);
  CHECK_EQ(values(c), (Values{10, 111, 2, 103, 14, 115, 6, 107}));
  Tensor shared = arange({2});
  CHECK_THROWS(Error, "into argument 'self', which all examples share",
               vmap([&](const Tensor& x) { return ops::add_(shared, x); })(arange({3, 2})));
}

TEST(out_arguments) {
  Tensor out = tensors::empty({3, 2});
  vmap([](const Tensor& x, Tensor y) { return ops::add_out(y, x, x); })(arange({3, 2}), out);
  CHECK_EQ(values(out), (Values{0, 2, 4, 6, 8, 10}));
}

TEST(gradients_of_a_batch) {
  Tensor x = arange({3, 2}), w = arange({2});
  autograd::set_requires_grad(x, true);
  autograd::set_requires_grad(w, true);
  Tensor out = vmap(ops::mul, {0, std::nullopt})(x, w);
  autograd::backward(out, full({3, 2}, 1));
  CHECK_EQ(values(autograd::grad_of(w)), (Values{6, 9}));
  CHECK_EQ(values(autograd::grad_of(x)), (Values{0, 1, 0, 1, 0, 1}));
}

TEST(invalid_calls_are_errors) {
  Tensor a = arange({3, 2});
  CHECK_THROWS(Error, "t::item returns float, which may differ between examples",
               vmap([](const Tensor& x) { return full({}, ops::item(x)); })(arange({3})));
  CHECK_THROWS(Error, "disagree on the size of the batch: 3 and 2", vmap(ops::add)(a, arange({2})));
  CHECK_THROWS(Error, "no argument has a batch",
               vmap(ops::add, {std::nullopt, std::nullopt})(a, a));
  CHECK_THROWS(Error, "1 in_dims for 2 arguments", vmap(ops::add, {0})(a, a));
  CHECK_THROWS(IndexError, "out of range", vmap(ops::add, {2, 0})(a, a));
  CHECK_THROWS(Error, "an empty batch", vmap(count)(tensors::empty({0, 2})));
  CHECK_THROWS(Error, "t::noise draws random numbers", vmap(noise)(a));
  calls = 0;
  Tensor drawn = vmap(noise, {}, 0, batching::Randomness::Different)(a);
  CHECK_EQ(values(drawn), (Values{1, 1, 2, 2, 3, 3}));
  // An error leaves no state behind.
  CHECK_EQ(values(vmap(ops::add)(a, a)), (Values{0, 2, 4, 6, 8, 10}));
}

TEST(levels_belong_to_a_thread) {
  vmap([](const Tensor& x) {
    std::thread([] { CHECK_EQ(values(vmap(count)(arange({2}))), (Values{0, 1})); }).join();
    return x;
  })(arange({2}));
}
