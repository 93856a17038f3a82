// autograd_test.cpp: functions with gradients, the tape, and operators without a gradient. The
// operators' kernels contain no autograd code.
#include "opgen/autograd.h"

#include <thread>

#include "check.h"
#include "operators.h"
#include "opgen/autograd/autograd_fallback.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/autograd/primitives.h"

using namespace opgen;
using namespace opgen::autograd;
using tensors::arange;
using tensors::values;
using Values = std::vector<double>;

namespace {

struct MulFunction : Function<MulFunction> {
  static Tensor forward(AutogradContext* ctx, Tensor a, Tensor b) {
    AutoDispatchBelowAutograd below;
    ctx->save_for_backward({a, b});
    return ops::mul(a, b);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    variable_list saved = ctx->get_saved_variables();
    return {ops::mul(gradients[0], saved[1]), ops::mul(gradients[0], saved[0])};
  }
};
struct SumFunction : Function<SumFunction> {
  static Tensor forward(AutogradContext* ctx, const Tensor& self) {
    AutoDispatchBelowAutograd below;
    ctx->saved_data["size"] = self.size(-1);
    return ops::sum(self);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    TensorBase column = primitive::unsqueeze(gradients[0], -1);
    DimVector sizes(column.sizes());
    sizes[sizes.size() - 1] = ctx->saved_data["size"].toInt();
    return {Tensor(primitive::expand(column, sizes))};
  }
};
Tensor mul_autograd(const Tensor& a, const Tensor& b) {
  return MulFunction::apply(a, b);
}
Tensor sum_autograd(const Tensor& self) {
  return SumFunction::apply(self);
}

Tensor leaf(IntArrayRef sizes) {
  Tensor t = arange(sizes);
  set_requires_grad(t, true);
  return t;
}

}  // namespace

OPGEN_LIBRARY_IMPL(t, Autograd, m) {
  m.impl("mul", mul_autograd);
  m.impl("sum", sum_autograd);
  m.impl("add", autogradNotImplementedFallback());
  m.impl("add_", autogradNotImplementedFallback());
  m.impl("row", autogradNotImplementedFallback());
}
OPGEN_LIBRARY_IMPL(t, ADInplaceOrView, m) {
  m.impl("row", autogradNotImplementedInplaceOrViewFallback());
}

TEST(a_function_defines_its_gradient) {
  Tensor a = leaf({3}), b = leaf({3});
  Tensor product = ops::mul(a, b);
  CHECK(requires_grad(product) && !is_leaf(product) && is_leaf(a));
  CHECK_EQ(grad_fn(product)->name(), "MulFunctionBackward");
  backward(ops::sum(product));
  CHECK_EQ(values(grad_of(a)), (Values{0, 1, 2}));
  CHECK_EQ(values(grad_of(b)), (Values{0, 1, 2}));
  // Gradients accumulate. backward() records no graph by default.
  backward(ops::sum(ops::mul(a, b)));
  CHECK_EQ(values(grad_of(a)), (Values{0, 2, 4}));
  CHECK(!requires_grad(grad_of(a)));
  set_grad(a, {});
  CHECK(!grad_of(a).defined());
}

TEST(one_tensor_many_times) {
  Tensor a = leaf({2});
  Tensor square = ops::mul(a, a);
  backward(ops::mul(square, square), arange({2}));
  CHECK_EQ(values(grad_of(a)), (Values{0, 4}));
}

TEST(broadcast_arguments_get_the_sum) {
  Tensor a = leaf({2, 3}), row = leaf({3});
  backward(ops::mul(a, row), tensors::full({2, 3}, 1));
  CHECK_EQ(values(grad_of(row)), (Values{3, 5, 7}));
  CHECK_EQ(values(grad_of(a)), (Values{0, 1, 2, 0, 1, 2}));
}

TEST(grad_of_chosen_inputs) {
  Tensor a = leaf({2}), b = leaf({2}), unused = leaf({2});
  Tensor middle = ops::mul(a, b);
  Tensor out = ops::sum(ops::mul(middle, middle));
  Gradients found = grad({out}, {middle, b}, {}, true);
  CHECK_EQ(values(found[0]), (Values{0, 2}));
  CHECK_EQ(values(found[1]), (Values{0, 2}));
  CHECK(!grad_of(a).defined() && !grad_of(b).defined());
  CHECK_THROWS(Error, "do not depend on input 0", grad({out}, {unused}, {}, true));
  CHECK(!grad({out}, {unused}, {}, true, false, true)[0].defined());
}

TEST(second_derivatives) {
  Tensor x = tensors::full({1}, 3);
  set_requires_grad(x, true);
  Tensor cube = ops::mul(ops::mul(x, x), x);
  TensorBase first = grad({cube}, {x}, {}, false, true)[0];
  CHECK_EQ(values(first), (Values{27}));
  CHECK_EQ(values(grad({first}, {x})[0]), (Values{18}));
}

TEST(grad_mode_and_inference) {
  Tensor a = leaf({2});
  {
    NoGradGuard no_grad;
    CHECK(!requires_grad(ops::mul(a, a)));
  }
  {
    InferenceMode mode;
    Tensor out = ops::mul(a, a);
    CHECK(!requires_grad(out) && out.is_inference());
    set_requires_grad(out, true);
  }
  Tensor made;
  {
    InferenceMode mode;
    made = arange({2});
  }
  CHECK_THROWS(Error, "made in inference mode", set_requires_grad(made, true));
  CHECK_THROWS(Error, "cannot be saved for backward", ops::mul(a, made));
  CHECK(!requires_grad(ops::mul(arange({2}), arange({2}))));
}

TEST(invalid_calls_are_errors) {
  Tensor a = leaf({2});
  CHECK_THROWS(Error, "not Long", set_requires_grad(arange({2}, kLong), true));
  CHECK_THROWS(Error, "needs a weight", backward(ops::mul(a, a)));
  CHECK_THROWS(Error, "does not require a gradient", backward(arange({1})));
  CHECK_THROWS(Error, "MulFunctionBackward made this tensor",
               set_requires_grad(ops::mul(a, a), false));
  Tensor out = ops::sum(ops::mul(a, a));
  backward(out);
  CHECK_THROWS(Error, "MulFunctionBackward runs backward a second time", backward(out));
}

TEST(detached_in_place) {
  Tensor a = leaf({2}), out = ops::mul(a, a);
  detach_(out);
  CHECK(!requires_grad(out) && is_leaf(out) && grad_fn(out) == nullptr);
  CHECK(requires_grad(a));
  detach_(a);
  CHECK(!requires_grad(a) && !requires_grad(ops::mul(a, a)));
  detach_(arange({2}));
  // A graph recorded earlier is unchanged.
  Tensor b = leaf({2}), sum = ops::sum(ops::mul(b, b));
  detach_(b);
  backward(sum);
  CHECK_EQ(values(grad_of(b)), (Values{0, 2}));
}

TEST(a_saved_tensor_was_changed) {
  Tensor a = leaf({2}), b = arange({2});
  Tensor out = ops::sum(ops::mul(a, b));
  ops::add_(b, b);
  CHECK_THROWS(Error, "it is at version 1, but was saved at version 0", backward(out));
}

TEST(a_missing_formula_is_an_error_with_the_name) {
  Tensor a = leaf({2});
  Tensor sum = ops::add(a, a);
  CHECK(requires_grad(sum) && grad_fn(sum)->name() == "NotImplemented(t::add)");
  CHECK_THROWS(Error, "the derivative for 't::add' is not implemented",
               backward(ops::sum(ops::mul(sum, sum))));
  CHECK(!requires_grad(ops::add(arange({2}), arange({2}))));
  // An input whose gradient is not requested may have no gradient.
  Tensor b = leaf({2});
  CHECK_EQ(values(grad({ops::mul(ops::add(a, a), b)}, {b}, {arange({2})})[0]), (Values{0, 2}));
}

TEST(out_without_a_formula) {
  Library definitions(Library::Kind::Fragment, "t", DispatchKey::Undefined, "x.cpp", 1);
  definitions.def("count.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  Library kernels(Library::Kind::Impl, "t", DispatchKey::CPU, "x.cpp", 2);
  kernels.impl(
      "count.out", +[](const Tensor& self, Tensor& out) -> Tensor& {
        opgen::copy_(out, tensors::full({}, double(self.numel())));
        return out;
      });
  auto count = Dispatcher::singleton()
                   .findSchemaOrThrow("t::count", "out")
                   .typed<Tensor&(const Tensor&, Tensor&)>();
  Tensor a = leaf({3}), integer = tensors::full({}, 0, kLong), real = tensors::full({}, 0);
  CHECK_EQ(values(count.call(a, integer)), (Values{3}));
  CHECK(!requires_grad(integer));
  CHECK_THROWS(Error, "functions with out=... arguments don't support automatic differentiation",
               count.call(a, real));
}

namespace {
std::string warning;
void keep(const char* text) {
  warning = text;
}
}  // namespace

TEST(in_place_without_a_formula) {
  Tensor a = leaf({2});
  CHECK_THROWS(Error, "t::add_ would change a leaf", ops::add_(a, a));
  CHECK_EQ(a._version(), 0);
  Tensor middle = ops::mul(a, a);
  ops::add_(middle, middle);
  CHECK(grad_fn(middle)->name() == "NotImplemented(t::add_)" && middle._version() == 1);
  CHECK_THROWS(Error, "a view of a leaf", [&] {
    Tensor view = ops::row(a, 0);
    ops::add_(view, view);
  }());
  Tensor base = ops::mul(a, a);
  Tensor view = ops::row(base, 0);
  WarningHandler old = set_warning_handler(&keep);
  ops::add_(view, view);
  set_warning_handler(old);
  CHECK(warning.find("t::add_ changes a view in place") != std::string::npos);
  CHECK_EQ(grad_fn(base)->name(), "CopySlices");
  CHECK_THROWS(Error, "the derivative for 't::add_' is not implemented",
               backward(base, arange({2})));
  NoGradGuard no_grad;
  ops::add_(a, a);
  CHECK_EQ(a._version(), 1);
}

namespace {

struct InPlace : Function<InPlace> {
  static Tensor forward(AutogradContext* ctx, Tensor self, double factor) {
    ctx->saved_data["factor"] = factor;
    opgen::copy_(self, ops::mul(self, tensors::full({}, factor)));
    ctx->mark_dirty({self});
    return self;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {ops::mul(g[0], tensors::full({}, ctx->saved_data["factor"].toDouble())), Tensor()};
  }
};
// Saves its output, and returns an input as a second output.
struct Square : Function<Square> {
  static std::tuple<Tensor, Tensor> forward(AutogradContext* ctx, Tensor self,
                                            std::optional<Tensor> other) {
    CHECK(!other.has_value());
    AutoDispatchBelowAutograd below;
    Tensor square = ops::mul(self, self);
    Tensor count = tensors::full({}, 2);
    ctx->save_for_backward({self, square});
    ctx->mark_non_differentiable({count});
    return {square, count};
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    CHECK(ctx->needs_input_grad(0) && !ctx->needs_input_grad(1));
    variable_list saved = ctx->get_saved_variables();
    CHECK(grad_fn(saved[1]) != nullptr);
    return {ops::mul(g[0], ops::mul(saved[0], tensors::full({}, 2))), Tensor()};
  }
};
struct HandsOn : Function<HandsOn> {
  static Tensor forward(AutogradContext*, Tensor self) { return self; }
  static variable_list backward(AutogradContext*, variable_list g) { return g; }
};
struct Wrong : Function<Wrong> {
  static Tensor forward(AutogradContext*, Tensor self, double) { return detail::clone(self); }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0], g[0]}; }
};

}  // namespace

TEST(in_place_functions) {
  Tensor a = leaf({2});
  CHECK_THROWS(Error, "would change a leaf", InPlace::apply(leaf({2}), 3.0));
  Tensor b = ops::mul(a, a);
  InPlace::apply(b, 3.0);
  CHECK_EQ(grad_fn(b)->name(), "InPlaceBackward");
  backward(b, tensors::full({2}, 1));
  CHECK_EQ(values(grad_of(a)), (Values{0, 6}));
}

TEST(outputs_of_functions) {
  Tensor a = leaf({2});
  std::optional<Tensor> none;
  auto [square, count] = Square::apply(a, none);
  CHECK(requires_grad(square) && !requires_grad(count));
  backward(square, tensors::full({2}, 1));
  CHECK_EQ(values(grad_of(a)), (Values{0, 2}));
  Tensor same = HandsOn::apply(a);
  CHECK(!same.is_same(a) && same.is_alias_of(a) && !is_leaf(same) && is_leaf(a));
  CHECK_THROWS(Error, "returned a gradient for argument 1, which is not a tensor",
               backward(Wrong::apply(a, 1.0), arange({2})));
}

TEST(primitives_have_gradients) {
  Tensor a = leaf({2, 3});
  Tensor rows = primitive::stack({primitive::select(a, 0, 1), primitive::select(a, 0, -2)}, 1);
  CHECK_EQ(values(rows), (Values{3, 0, 4, 1, 5, 2}));
  Tensor moved = primitive::movedim(primitive::unsqueeze(rows, 0), 1, 2);
  CHECK(moved.sizes().equals({1, 2, 3}));
  Tensor half = primitive::cast(moved, kDouble);
  backward(ops::mul(half, half), tensors::full({1, 2, 3}, 1, kDouble));
  CHECK_EQ(values(grad_of(a)), (Values{0, 2, 4, 6, 8, 10}));
  CHECK_EQ(grad_of(a).scalar_type(), kFloat);
  Tensor b = leaf({3});
  Tensor wide = primitive::add(primitive::expand(b, {2, 3}), primitive::expand(b, {2, 3}));
  backward(primitive::sum_to(wide, {1, 3}), tensors::full({1, 3}, 1));
  CHECK_EQ(values(grad_of(b)), (Values{4, 4, 4}));
}

TEST(a_long_chain_does_not_exhaust_the_stack) {
  Tensor a = leaf({1}), out = a;
  for (int i = 0; i < 100000; ++i) out = HandsOn::apply(out);
  backward(out);
  CHECK_EQ(values(grad_of(a)), (Values{1}));
  // Run it on a thread, whose stack is smaller, and destroy it there, too.
  std::thread([&] {
    CHECK_EQ(values(grad({out}, {a}, {tensors::full({1}, 2)})[0]), (Values{2}));
    out.reset();
  }).join();
}

TEST(threads_share_a_leaf) {
  Tensor weight = leaf({4});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([weight] {
      for (int j = 0; j < 50; ++j) backward(ops::mul(weight, tensors::full({4}, 1)), arange({4}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(values(grad_of(weight)), (Values{0, 200, 400, 600}));
}

namespace {

// Recomputes its intermediate values, as checkpoints do, and runs backward() on that graph; `again`
// runs it on the outer graph.
struct Recomputes : Function<Recomputes> {
  static inline thread_local std::vector<TensorBase> again;
  static Tensor forward(AutogradContext* ctx, const Tensor& self) {
    AutoDispatchBelowAutograd below;
    ctx->save_for_backward({self});
    return ops::mul(self, self);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    std::vector<TensorBase> outer;
    outer.swap(again);
    if (!outer.empty()) autograd::backward(outer[0], {}, true);
    Tensor self = ctx->get_saved_variables()[0];
    AutoGradMode recording(true);
    Tensor input = detach(self);
    set_requires_grad(input, true);
    Tensor output = ops::mul(input, input);
    return {Tensor(autograd::grad({output}, {input}, {gradients[0]})[0])};
  }
};

struct Endless : Function<Endless> {
  static Tensor forward(AutogradContext*, const Tensor& self) {
    AutoDispatchBelowAutograd below;
    return ops::mul(self, self);
  }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    AutoGradMode recording(true);
    autograd::backward(Endless::apply(leaf({1})));
    return gradients;
  }
};

}  // namespace

TEST(backward_inside_of_backward) {
  Tensor a = leaf({1});
  set_requires_grad(a, false);
  opgen::fill_(a, 3);
  set_requires_grad(a, true);
  Tensor out = Recomputes::apply(a);
  backward(out, {}, true);
  CHECK_EQ(values(grad_of(a)), (Values{6}));
  // backward() on the same node while it runs: both add to the leaf.
  Recomputes::again = {out};
  backward(out, {}, true);
  CHECK_EQ(values(grad_of(a)), (Values{18}));
  CHECK_THROWS(Error, "100 deep", backward(Endless::apply(leaf({1}))));
  backward(out);
  CHECK_THROWS(Error, "a second time", backward(out));
}

TEST(threads_share_a_function) {
  Tensor weight = leaf({4});
  Tensor out = Recomputes::apply(weight);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([out] {
      for (int j = 0; j < 20; ++j) backward(out, tensors::full({4}, 1), true);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(values(grad_of(weight)), (Values{0, 160, 320, 480}));
}
