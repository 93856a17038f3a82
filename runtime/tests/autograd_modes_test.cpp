// autograd_modes_test.cpp: hooks, anomaly mode, forward mode, and in-place changes of views, with
// hand-written nodes.
#include <cmath>
#include <thread>

#include "check.h"
#include "operators.h"
#include "opgen/autograd.h"
#include "opgen/autograd/anomaly.h"
#include "opgen/autograd/autograd_fallback.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/hooks.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/autograd/primitives.h"

using namespace opgen;
using namespace opgen::autograd;
using tensors::arange;
using tensors::full;
using tensors::values;
using Values = std::vector<double>;

namespace {

struct MulNode final : Node {
  [[nodiscard]] std::string name() const override { return "MulBackward"; }
  [[nodiscard]] Gradients apply(Gradients g) override {
    ++ran;
    Gradients result(2);
    if (computes(0)) result[0] = ops::mul(g[0], other.unpack(*this));
    if (computes(1)) result[1] = ops::mul(g[0], self.unpack(*this));
    return result;
  }
  void release_saved() override {
    self.reset();
    other.reset();
  }
  static inline int ran = 0;
  SavedTensor self, other;
};
Tensor mul_autograd(const Tensor& a, const Tensor& b) {
  Ref<MulNode> node;
  const TensorBase both[] = {a, b};
  if (any_requires_grad(both)) {
    node = make_node<MulNode>();
    node->add_next_edge(gradient_edge(a));
    node->add_next_edge(gradient_edge(b));
    if (node->computes(0)) node->other = SavedTensor(b, false);
    if (node->computes(1)) node->self = SavedTensor(a, false);
  }
  Tensor out;
  {
    AutoDispatchBelowAutograd below;
    out = ops::mul(a, b);
  }
  if (node) set_history(out, std::move(node));
  if (has_tangent(a) || has_tangent(b)) {
    TensorBase tangent;
    const Tensor a_p = primal_of(a), b_p = primal_of(b);
    if (has_tangent(a)) tangent = ops::mul(tangent_of(a), b_p);
    if (has_tangent(b)) {
      const TensorBase more = ops::mul(a_p, tangent_of(b));
      tangent = tangent.defined() ? primitive::add(tangent, more) : more;
    }
    set_tangent(out, tangent);
  }
  return out;
}

struct AddInPlaceNode final : Node {
  [[nodiscard]] std::string name() const override { return "AddBackward"; }
  [[nodiscard]] Gradients apply(Gradients g) override { return {g[0], g[0]}; }
};
Tensor& add_inplace_autograd(Tensor& a, const Tensor& b) {
  Ref<AddInPlaceNode> node;
  const TensorBase both[] = {a, b};
  if (any_requires_grad(both)) {
    check_inplace(a, "t::add_");
    node = make_node<AddInPlaceNode>();
    node->add_next_edge(gradient_edge(a));
    node->add_next_edge(gradient_edge(b));
  }
  {
    AutoDispatchBelowAutograd below;
    ops::add_(a, b);
  }
  if (node) rebase_history(a, std::move(node));
  if (has_tangent(a) || has_tangent(b)) {
    const TensorBase old = tangent_of(a), more = tangent_of(b);
    if (old.defined() && more.defined()) {
      opgen::copy_(old, primitive::add(old, more));
    } else if (more.defined()) {
      set_tangent(a, more);
    }
  }
  return a;
}

struct RowNode final : Node {
  RowNode(DimVector all, std::int64_t row) : sizes(std::move(all)), i(row) {}
  [[nodiscard]] std::string name() const override { return "RowBackward"; }
  [[nodiscard]] Gradients apply(Gradients g) override {
    Tensor whole = full(sizes, 0);
    opgen::copy_(ops::row_kernel(whole, i), g[0]);
    return {whole};
  }
  DimVector sizes;
  std::int64_t i;
};
Tensor row_autograd(const Tensor& self, std::int64_t i) {
  Ref<RowNode> node;
  if (any_requires_grad({&self, 1})) {
    node = make_node<RowNode>(DimVector(self.sizes()), i);
    node->add_next_edge(gradient_edge(self));
  }
  Tensor out;
  {
    AutoDispatchBelowAutograd below;
    out = ops::row(self, i);
  }
  if (node) set_history(out, std::move(node));
  if (has_tangent(self)) set_tangent(out, ops::row(tangent_of(self), i));
  return out;
}

// Its backward() throws, or returns NaN.
struct Bad : Function<Bad> {
  static inline bool throws = true;
  static Tensor forward(AutogradContext*, Tensor self) { return detail::clone(self); }
  static variable_list backward(AutogradContext*, variable_list g) {
    if (throws) throw IndexError("it is bad");
    return {full(g[0].sizes(), std::nan(""))};
  }
};
double sum_of_bad = 0;
Tensor sum_autograd(const Tensor& self) {
  Tensor out = Bad::apply(self);
  sum_of_bad += 1;  // not a tail call: anomaly mode looks for this frame
  return out;
}

Tensor leaf(IntArrayRef sizes) {
  Tensor t = arange(sizes);
  set_requires_grad(t, true);
  return t;
}
Tensor twos(IntArrayRef sizes) {
  return full(sizes, 2);
}

}  // namespace

OPGEN_LIBRARY_IMPL(t, Autograd, m) {
  m.impl("mul", mul_autograd);
  m.impl("add_", add_inplace_autograd);
  m.impl("row", row_autograd);
  m.impl("sum", sum_autograd);
  m.impl("add", autogradNotImplementedFallback());
  m.impl("rows", autogradNotImplementedFallback());
  m.impl("item", autogradNotImplementedFallback());
}

// ---- Hooks -------------------------------------------------------------------------------------

TEST(hooks_of_tensors_run_in_order_and_can_be_removed) {
  Tensor a = leaf({2});
  Tensor middle = ops::mul(a, twos({2}));
  std::string order;
  register_hook(middle, [&](const TensorBase& g) {
    order += "1";
    return ops::mul(g, full({2}, 10));
  });
  HookHandle second = register_hook(middle, [&](const TensorBase& g) {
    order += "2";
    CHECK_EQ(values(g), (Values{10, 10}));
    return TensorBase();  // keeps the gradient
  });
  register_hook(a, [&](const TensorBase& g) {
    order += "a";
    CHECK_EQ(values(g), (Values{20, 20}));
    return ops::mul(g, twos({2}));
  });
  backward(middle, full({2}, 1), true);
  CHECK_EQ(order, "12a");
  CHECK_EQ(values(grad_of(a)), (Values{40, 40}));
  second.remove();
  second.remove();
  order.clear();
  CHECK_EQ(values(grad({middle}, {a}, {full({2}, 1)}, true)[0]), (Values{40, 40}));
  CHECK_EQ(order, "1a");
  // The gradient of another input does not run this tensor's hooks.
  CHECK_EQ(values(grad({middle}, {middle}, {full({2}, 1)})[0]), (Values{10, 10}));
  CHECK_EQ(order, "1a1");
  CHECK_THROWS(Error, "does not require a gradient cannot have a hook",
               register_hook(arange({2}), [](const TensorBase& g) { return g; }));
}

TEST(a_hook_must_not_change_the_shape_or_dtype_of_a_gradient) {
  Tensor a = leaf({2});
  Tensor out = ops::mul(a, a);
  HookHandle sizes = register_hook(out, [](const TensorBase&) { return full({3}, 1); });
  CHECK_THROWS(Error, "changed the sizes of a gradient from [2] to [3]",
               backward(out, arange({2}), true));
  sizes.remove();
  register_hook(out, [](const TensorBase&) { return full({2}, 1, kDouble); });
  CHECK_THROWS(Error, "changed the dtype of a gradient from Float to Double",
               backward(out, arange({2}), true));
}

TEST(hooks_of_nodes_run_before_and_after_the_node) {
  Tensor a = leaf({2});
  Tensor out = ops::mul(a, twos({2}));
  std::string order;
  Ref<Node> node = grad_fn(out);
  register_post_hook(*node, [&](const Gradients& in, const Gradients& of_out) {
    order += "post";
    CHECK_EQ(values(in[0]), (Values{6, 6}));
    CHECK_EQ(values(of_out[0]), (Values{3, 3}));
    return Gradients{full({2}, 7), TensorBase()};
  });
  register_pre_hook(*node, [&](const Gradients& g) {
    order += "pre ";
    CHECK_EQ(values(g[0]), (Values{1, 1}));
    return Gradients{full({2}, 3)};
  });
  register_hook(out, [&](const TensorBase& g) {
    order += "tensor ";
    return g;
  });
  retain_grad(out);
  backward(out, full({2}, 1), true);
  CHECK_EQ(order, "tensor pre post");
  CHECK_EQ(values(grad_of(a)), (Values{7, 7}));
  CHECK_EQ(values(grad_of(out)), (Values{1, 1}));
  register_pre_hook(*node, [](const Gradients&) { return Gradients{TensorBase(), TensorBase()}; });
  CHECK_THROWS(Error, "returned 2 gradients instead of 1", backward(out, full({2}, 1)));
}

TEST(retained_gradients) {
  Tensor a = leaf({2});
  Tensor middle = ops::mul(a, a);
  CHECK(!retains_grad(middle));
  // The gradient is retained after all hooks, although retain_grad() was called first.
  retain_grad(middle);
  retain_grad(middle);
  register_hook(middle, [](const TensorBase& g) { return ops::mul(g, twos({2})); });
  CHECK(retains_grad(middle));
  backward(ops::mul(middle, twos({2})), full({2}, 1));
  CHECK_EQ(values(grad_of(middle)), (Values{4, 4}));
  CHECK_EQ(values(grad_of(a)), (Values{0, 8}));
  retain_grad(a);
  CHECK(!retains_grad(a));
  CHECK_THROWS(Error, "cannot retain one", retain_grad(arange({2})));
}

TEST(an_in_place_change_moves_the_retained_gradient_but_not_the_hooks) {
  Tensor a = leaf({2});
  Tensor middle = ops::mul(a, twos({2}));
  retain_grad(middle);
  Values seen;
  register_hook(middle, [&](const TensorBase& g) {
    seen = values(g);
    return TensorBase();
  });
  Ref<Node> old = grad_fn(middle);
  ops::add_(middle, arange({2}));
  CHECK(!(grad_fn(middle) == old));
  HookHandle late =
      register_hook(middle, [](const TensorBase& g) { return ops::mul(g, twos({2})); });
  backward(middle, full({2}, 5));
  CHECK_EQ(seen, (Values{10, 10}));  // the gradient of the old value
  CHECK_EQ(values(grad_of(middle)), (Values{10, 10}));
  CHECK_EQ(values(grad_of(a)), (Values{20, 20}));
}

TEST(hooks_that_run_after_a_leaf_has_its_gradient) {
  Tensor a = leaf({2});
  int calls = 0;
  HookHandle handle = register_post_accumulate_grad_hook(a, [&](const TensorBase& t) {
    ++calls;
    CHECK_EQ(values(grad_of(t)), (Values{0, 2}));
    set_grad(t, {});
  });
  // The hook runs once for each backward(), with the sum.
  backward(ops::mul(a, a), full({2}, 1));
  CHECK(calls == 1 && !grad_of(a).defined());
  handle.remove();
  backward(ops::mul(a, a), full({2}, 1));
  CHECK(calls == 1 && grad_of(a).defined());
  CHECK_THROWS(Error, "only a leaf",
               register_post_accumulate_grad_hook(ops::mul(a, a), [](auto&) {}));
  CHECK_THROWS(Error, "only a leaf", register_post_accumulate_grad_hook(arange({2}), [](auto&) {}));
}

TEST(an_edge_keeps_its_leaf_alive) {
  Tensor a = leaf({2});
  Values seen;
  register_hook(a, [&](const TensorBase& g) {
    seen = values(g);
    return TensorBase();
  });
  Tensor out = ops::mul(a, twos({2}));
  a.reset();
  backward(out, full({2}, 1));
  CHECK_EQ(seen, (Values{2, 2}));
}

// ---- Which parts of a graph run ----------------------------------------------------------------

TEST(only_requested_gradients_are_computed) {
  Tensor a = leaf({2}), b = leaf({2}), c = leaf({2});
  Tensor left = ops::mul(a, b), right = ops::mul(b, c);
  Tensor out = ops::mul(left, right);
  MulNode::ran = 0;
  CHECK_EQ(values(grad({out}, {a}, {full({2}, 1)}, true)[0]), (Values{0, 1}));
  CHECK_EQ(MulNode::ran, 2);
  MulNode::ran = 0;
  backward(out, full({2}, 1));
  CHECK_EQ(MulNode::ran, 3);
}

TEST(undefined_gradients_pass_through) {
  Tensor a = leaf({2});
  Tensor out = ops::mul(ops::mul(a, twos({2})), twos({2}));
  register_pre_hook(*grad_fn(out), [](const Gradients&) { return Gradients{TensorBase()}; });
  struct Undefined : Function<Undefined> {
    static Tensor forward(AutogradContext* ctx, Tensor self) {
      ctx->set_materialize_grads(false);
      return detail::clone(self);
    }
    static variable_list backward(AutogradContext*, variable_list) { return {Tensor()}; }
  };
  Tensor none = Undefined::apply(ops::mul(a, twos({2})));
  MulNode::ran = 0;
  backward(none, full({2}, 1));
  CHECK(MulNode::ran == 0 && !grad_of(a).defined());
  CHECK(!grad({Undefined::apply(a)}, {a}, {full({2}, 1)}, false, false, true)[0].defined());
}

namespace {

struct SameNode final : Node {
  [[nodiscard]] std::string name() const override { return "SameBackward"; }
  [[nodiscard]] Gradients apply(Gradients g) override { return g; }
};
// Returns the end of a chain of nodes that only own each other, back to the leaf.
Tensor long_chain(const Tensor& from, int length) {
  Edge last = gradient_edge(from);
  for (int i = 0; i < length; ++i) {
    auto node = make_node<SameNode>();
    node->add_next_edge(std::move(last));
    node->add_output(from);
    last = {std::move(node), 0};
  }
  auto node = make_node<SameNode>();
  node->add_next_edge(std::move(last));
  Tensor out = full({1}, 1);
  set_history(out, std::move(node));
  return out;
}

}  // namespace

TEST(a_million_nodes_need_no_deep_stack) {
  Tensor a = leaf({1}), out = long_chain(a, 1000000);
  // The stack of a thread is smaller than that of the main thread.
  std::thread([&] {
    backward(out, {}, true);
    CHECK_EQ(values(grad({out}, {a}, {full({1}, 2)})[0]), (Values{2}));
    out.reset();
  }).join();
  CHECK_EQ(values(grad_of(a)), (Values{1}));
}

// ---- Anomaly mode ------------------------------------------------------------------------------

TEST(anomaly_mode_names_the_forward_call) {
  Tensor a = leaf({2});
  Tensor before = ops::sum(a);
  {
    AnomalyGuard anomaly;
    CHECK(is_anomaly_enabled() && anomaly_checks_nan());
    Tensor out = ops::sum(a);
    CHECK_THROWS(IndexError,
                 "it is bad\nBadBackward was recorded\n  in t::sum(Tensor self) -> Tensor",
                 backward(out, full({2}, 1), true));
    CHECK_THROWS(IndexError, "BadBackward was recorded before anomaly mode was enabled",
                 backward(before, full({2}, 1), true));
    Bad::throws = false;
    CHECK_THROWS(Error, "BadBackward returned NaN in the gradient for input 0\nBadBackward was",
                 backward(out, full({2}, 1), true));
    AnomalyGuard no_nan(true, false);
    backward(out, full({2}, 1), true);
    CHECK(std::isnan(values(grad_of(a))[0]));
  }
  Bad::throws = true;
  CHECK(!is_anomaly_enabled());
  CHECK_THROWS(IndexError, "it is bad", backward(before, full({2}, 1)));
}

// ---- Views -------------------------------------------------------------------------------------

TEST(a_change_through_a_view_changes_the_history_of_its_base) {
  Tensor a = leaf({2, 3}), b = leaf({3});
  Tensor base = ops::mul(a, full({2, 3}, 2));
  Tensor first = ops::row(base, 0), second = ops::row(base, 1);
  ops::add_(first, ops::mul(b, full({3}, 10)));
  CHECK_EQ(grad_fn(base)->name(), "CopySlices");
  CHECK_EQ(grad_fn(first)->name(), "AsStridedBackward");
  CHECK_EQ(grad_fn(second)->name(), "AsStridedBackward");
  backward(base, full({2, 3}, 1), true);
  CHECK_EQ(values(grad_of(a)), (Values(6, 2)));
  CHECK_EQ(values(grad_of(b)), (Values(3, 10)));
  // The gradient of another view does not reach b.
  CHECK(values(grad({second}, {b}, {full({3}, 1)}, true)[0]) == Values(3, 0));
  CHECK_EQ(values(grad({first}, {b}, {full({3}, 1)}, true)[0]), (Values(3, 10)));
  // Change the base twice, and through a view of a view.
  Tensor element = ops::row(first, 1);
  ops::add_(element, full({}, 1));
  CHECK_EQ(values(grad({first}, {b}, {full({3}, 1)}, true)[0]), (Values(3, 10)));
}

TEST(a_base_without_history_gets_one_from_its_view) {
  Tensor base = arange({2, 2}), b = leaf({2});
  Tensor view = ops::row(base, 1), other = ops::row(base, 0);
  CHECK(!requires_grad(base) && !requires_grad(view));
  ops::add_(view, b);
  CHECK(requires_grad(base) && requires_grad(view) && requires_grad(other));
  backward(base, arange({2, 2}));
  CHECK_EQ(values(grad_of(b)), (Values{2, 3}));
}

TEST(a_change_of_the_base_changes_the_history_of_views) {
  Tensor a = leaf({2, 2}), b = leaf({2, 2});
  Tensor base = ops::mul(a, full({2, 2}, 2));
  Tensor view = ops::row(base, 1);
  ops::add_(base, b);
  CHECK_EQ(grad_fn(view)->name(), "AsStridedBackward");
  backward(view, arange({2}));
  CHECK_EQ(values(grad_of(b)), (Values{0, 0, 0, 1}));
  CHECK_EQ(values(grad_of(a)), (Values{0, 0, 0, 2}));
}

TEST(second_derivatives_through_a_changed_view) {
  Tensor a = leaf({2, 2}), x = leaf({2});
  Tensor base = ops::mul(a, full({2, 2}, 1));
  Tensor view = ops::row(base, 0);
  ops::add_(view, ops::mul(x, x));
  Gradients first = grad({base}, {x}, {full({2, 2}, 1)}, false, true);
  CHECK_EQ(values(first[0]), (Values{0, 2}));
  CHECK_EQ(values(grad({first[0]}, {x}, {full({2}, 1)})[0]), (Values{2, 2}));
}

// ---- Forward mode ------------------------------------------------------------------------------

TEST(operators_compute_tangents) {
  Tensor x = arange({2}), seen;
  CHECK(!forward_mode_is_active());
  {
    ForwardLevel level;
    CHECK(forward_mode_is_active());
    Tensor dual = make_dual(x, full({2}, 1));
    CHECK(has_tangent(dual) && !has_tangent(x) && dual.is_alias_of(x));
    Tensor cube = ops::mul(ops::mul(dual, dual), dual);
    CHECK_EQ(values(cube), (Values{0, 1}));
    CHECK_EQ(values(tangent_of(cube)), (Values{0, 3}));
    CHECK(!has_tangent(ops::mul(x, x)) && !tangent_of(x).defined());
    Dual parts = unpack_dual(cube);
    CHECK(!has_tangent(parts.primal) && values(parts.primal) == (Values{0, 1}));
    CHECK_EQ(values(parts.tangent), (Values{0, 3}));
    set_tangent(cube, {});
    CHECK(!has_tangent(cube));
    seen = dual;
  }
  CHECK(!forward_mode_is_active() && !has_tangent(seen) && !tangent_of(seen).defined());
  ForwardLevel another;
  CHECK(!has_tangent(seen));
}

TEST(invalid_tangents_are_errors) {
  Tensor x = arange({2});
  CHECK_THROWS(Error, "no ForwardLevel is open", make_dual(x, full({2}, 1)));
  ForwardLevel level;
  CHECK_THROWS(Error, "a ForwardLevel inside of another", ForwardLevel());
  CHECK_THROWS(Error, "a tangent of sizes [3] for a tensor of sizes [2]",
               make_dual(x, full({3}, 1)));
  CHECK_THROWS(Error, "a tangent of dtype Double", make_dual(x, full({2}, 1, kDouble)));
  CHECK_THROWS(Error, "a tangent on meta for a tensor on cpu", make_dual(x, tensors::meta({2})));
  CHECK_THROWS(Error, "not Long", make_dual(arange({2}, kLong), arange({2}, kLong)));
  CHECK_THROWS(Error, "make_dual() needs a tangent", make_dual(x, {}));
  Tensor dual = make_dual(x, full({2}, 1));
  CHECK_THROWS(Error, "has a tangent", make_dual(dual, full({2}, 1)));
  CHECK_THROWS(Error, "a tangent cannot have a tangent itself", make_dual(x, dual));
  Tensor made;
  {
    InferenceMode mode;
    made = arange({2});
  }
  CHECK_THROWS(Error, "made in inference mode cannot have a tangent",
               make_dual(made, full({2}, 1)));
  // Without a formula, a tangent is an error, never zero.
  CHECK_THROWS(NotImplementedError, "t::add has no forward-mode formula", ops::add(dual, x));
  CHECK_THROWS(NotImplementedError, "BadBackward has no forward-mode formula", Bad::apply(dual));
  CHECK_EQ(values(ops::add(x, x)), (Values{0, 2}));
  CHECK_EQ(ops::item(make_dual(full({}, 3), full({}, 1))), 3);
}

TEST(views_of_duals_have_views_of_the_tangent) {
  ForwardLevel level;
  Tensor dual = make_dual(arange({2, 2}), arange({2, 2}));
  Tensor row = ops::row(dual, 1);
  CHECK_EQ(values(tangent_of(row)), (Values{2, 3}));
  CHECK(tangent_of(row).is_alias_of(tangent_of(dual)));
  // After an in-place change, the tangents of the base and of an earlier view have changed, too.
  Tensor early = ops::row(dual, 1);
  ops::add_(row, make_dual(arange({2}), full({2}, 10)));
  CHECK_EQ(values(tangent_of(dual)), (Values{0, 1, 12, 13}));
  CHECK_EQ(values(tangent_of(early)), (Values{12, 13}));
  // A base without a tangent gets one from its view.
  Tensor base = full({2, 2}, 1);
  Tensor view = ops::row(base, 0), other = ops::row(base, 1), overlapping = ops::row(base, 0);
  CHECK(!has_tangent(view));
  ops::add_(view, make_dual(arange({2}), full({2}, 5)));
  CHECK_EQ(values(tangent_of(base)), (Values{5, 5, 0, 0}));
  CHECK_EQ(values(tangent_of(other)), (Values{0, 0}));
  CHECK_EQ(values(tangent_of(overlapping)), (Values{5, 5}));
}

TEST(the_primitives_are_linear) {
  ForwardLevel level;
  Tensor x = make_dual(arange({2, 2}), full({2, 2}, 1));
  TensorBase y = primitive::add(primitive::select(x, 0, 1), full({2}, 1));
  y = primitive::movedim(primitive::stack({y, arange({2})}, 0), 0, 1);
  CHECK_EQ(values(tangent_of(y)), (Values{1, 0, 1, 0}));
  y = primitive::sum_to(primitive::expand(primitive::unsqueeze(y, 0), {3, 2, 2}), {1, 2, 2});
  y = primitive::cast(y, kDouble);
  CHECK_EQ(values(tangent_of(y)), (Values{3, 0, 3, 0}));
  CHECK_EQ(tangent_of(y).scalar_type(), kDouble);
}

TEST(forward_over_reverse_and_reverse_over_forward) {
  // x^3: the second derivative is 6x.
  Tensor x = full({1}, 3);
  {
    ForwardLevel level;
    Tensor dual = make_dual(x, full({1}, 1));
    Tensor at = detach(dual);
    set_tangent(at, full({1}, 1));
    set_requires_grad(at, true);
    Tensor cube = ops::mul(ops::mul(at, at), at);
    TensorBase first = grad({cube}, {at}, {}, false, true)[0];
    CHECK_EQ(values(first), (Values{27}));
    CHECK_EQ(values(tangent_of(first)), (Values{18}));
  }
  set_requires_grad(x, true);
  ForwardLevel level;
  Tensor dual = make_dual(x, full({1}, 1));
  CHECK(requires_grad(dual));
  Tensor cube = ops::mul(ops::mul(dual, dual), dual);
  TensorBase tangent = tangent_of(cube);
  CHECK_EQ(values(tangent), (Values{27}));
  CHECK_EQ(values(grad({tangent}, {x})[0]), (Values{18}));
}

TEST(levels_belong_to_threads) {
  Tensor x = arange({2});
  std::vector<std::thread> threads;
  for (int i = 1; i < 5; ++i) {
    threads.emplace_back([x, i] {
      for (int j = 0; j < 20; ++j) {
        ForwardLevel level;
        Tensor dual = make_dual(x, full({2}, i));
        CHECK_EQ(values(tangent_of(ops::mul(dual, dual))), (Values{0, 2.0 * i}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- Sums of gradients -------------------------------------------------------------------------

TEST(a_gradient_is_accumulated_in_place_unless_it_is_shared) {
  Tensor a = leaf({2}), weight = full({2}, 1);
  backward(ops::mul(a, twos({2})), weight);
  TensorBase first = grad_of(a);
  CHECK(!first.is_alias_of(weight));
  backward(ops::mul(a, twos({2})), weight);
  CHECK(grad_of(a).is_same(first) && values(first) == (Values{4, 4}));
  // Returns the weight itself as the gradient of two leaves.
  struct Same : Function<Same> {
    static Tensor forward(AutogradContext*, Tensor x, Tensor) { return detail::clone(x); }
    static variable_list backward(AutogradContext*, variable_list g) { return {g[0], g[0]}; }
  };
  Tensor x = leaf({2}), y = leaf({2});
  backward(Same::apply(x, y), weight);
  CHECK(!grad_of(x).is_alias_of(weight) && !grad_of(x).is_alias_of(grad_of(y)));
}
