// kernels.cpp: operators whose author wrote their gradients.
#include <opgen/kernel.h>

#include <opgen/autograd.h>
#include <opgen/autograd/forward.h>
#include <opgen/autograd/primitives.h>
#include <opgen/cpu/loops.h>
#include <opgen/dispatch_macros.h>
#include <opgen/iterator.h>
#include <opgen/library.h>
#include <cmath>

#include <grads/Functions.h>
#include <grads/NativeFunctions.h>

namespace {
using namespace grads::types;
using opgen::AutoDispatchBelowAutograd;
using opgen::DimVector;
using opgen::TensorIterator;
using opgen::autograd::AutogradContext;
using opgen::autograd::Function;
using opgen::autograd::variable_list;

template <class F>
void each(TensorIterator& iter, F f) {
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), "grads",
                          [&] { opgen::cpu_kernel_opmath<scalar_t>(iter, f); });
}
template <class F>
Tensor binary(const Tensor& a, const Tensor& b, F f) {
  Tensor out;
  TensorIterator iter = TensorIterator::binary_op(out, a, b);
  each(iter, f);
  return Tensor(iter.output());
}
template <class F>
Tensor unary(const Tensor& a, F f) {
  Tensor out;
  TensorIterator iter = TensorIterator::unary_op(out, a);
  each(iter, f);
  return Tensor(iter.output());
}

}  // namespace

OPGEN_KERNEL(zeros)
(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device>,
 std::optional<bool>) {
  return opgen::full(size, 0.0, TensorOptions().dtype(dtype.value_or(opgen::kFloat)));
}
OPGEN_KERNEL(mul)(const Tensor& self, const Tensor& other) {
  return binary(self, other, [](auto x, auto y) { return x * y; });
}
OPGEN_KERNEL(mul_)(Tensor& self, const Tensor& other) {
  TensorIterator iter = TensorIterator::binary_op(self, self, other);
  each(iter, [](auto x, auto y) { return x * y; });
  return self;
}
OPGEN_KERNEL(add)(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const double factor = alpha.toDouble();
  return binary(self, other,
                [factor](auto x, auto y) { return x + static_cast<decltype(x)>(factor) * y; });
}
OPGEN_KERNEL(exp)(const Tensor& self) {
  return unary(self, [](auto x) { return std::exp(x); });
}
OPGEN_KERNEL(sum)(const Tensor& self, std::optional<ScalarType>) {
  return Tensor(opgen::primitive::sum_to(self, DimVector()));
}
OPGEN_KERNEL(unsqueeze)(const Tensor& self, int64_t dim) {
  return Tensor(opgen::primitive::unsqueeze(self, dim));
}
OPGEN_KERNEL(wrong)(const Tensor& self) {
  return unary(self, [](auto x) { return x + x; });
}
OPGEN_KERNEL(pair)(const Tensor& self) {
  return std::tuple<Tensor, Tensor>(unary(self, [](auto x) { return x + x; }),
                                    unary(self, [](auto x) { return x * x; }));
}

namespace {

struct Mul : Function<Mul> {
  static Tensor forward(AutogradContext* ctx, Tensor a, Tensor b) {
    ctx->save_for_backward({a, b});
    AutoDispatchBelowAutograd below;
    return at::mul(a, b);
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const variable_list saved = ctx->get_saved_variables();
    return {at::mul(g[0], saved[1]), at::mul(g[0], saved[0])};
  }
};
struct MulInplace : Function<MulInplace> {
  static Tensor forward(AutogradContext* ctx, Tensor a, Tensor b) {
    ctx->mark_dirty({a});
    ctx->save_for_backward({b});
    AutoDispatchBelowAutograd below;
    a.mul_(b);
    return a;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {at::mul(g[0], ctx->get_saved_variables()[0]), {}};
  }
};
struct Add : Function<Add> {
  static Tensor forward(AutogradContext* ctx, Tensor a, Tensor b, Scalar alpha) {
    ctx->saved_data["alpha"] = alpha;
    AutoDispatchBelowAutograd below;
    return at::add(a, b, alpha);
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const Tensor alpha(opgen::full({}, ctx->saved_data["alpha"].toScalar(), g[0].options()));
    return {g[0], at::mul(g[0], alpha), {}};
  }
};
struct Exp : Function<Exp> {
  static Tensor forward(AutogradContext* ctx, Tensor a) {
    AutoDispatchBelowAutograd below;
    Tensor result = at::exp(a);
    ctx->save_for_backward({result});
    return result;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {at::mul(g[0], ctx->get_saved_variables()[0])};
  }
};
struct Wrong : Function<Wrong> {
  static Tensor forward(AutogradContext*, Tensor a) {
    AutoDispatchBelowAutograd below;
    return at::wrong(a);
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0]}; }
};
struct Pair : Function<Pair> {
  static std::tuple<Tensor, Tensor> forward(AutogradContext* ctx, Tensor a) {
    ctx->save_for_backward({a});
    AutoDispatchBelowAutograd below;
    return at::pair(a);
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const Tensor a = ctx->get_saved_variables()[0];
    return {at::add(at::add(g[0], g[0]),
                    at::mul(at::mul(g[1], a), Tensor(opgen::full({}, 2.0, a.options()))))};
  }
};

// The products and the exponential have tangents, too.
Tensor mul_autograd(const Tensor& a, const Tensor& b) {
  using opgen::autograd::tangent_of;
  const Tensor x(opgen::autograd::primal_of(a));
  const Tensor y(opgen::autograd::primal_of(b));
  Tensor result = Mul::apply(x, y);
  Tensor tangent;
  if (opgen::autograd::has_tangent(a)) tangent = at::mul(Tensor(tangent_of(a)), y);
  if (opgen::autograd::has_tangent(b)) {
    const Tensor other = at::mul(Tensor(tangent_of(b)), x);
    tangent = tangent.defined() ? at::add(tangent, other) : other;
  }
  if (tangent.defined()) opgen::autograd::set_tangent(result, tangent);
  return result;
}
Tensor exp_autograd(const Tensor& a) {
  Tensor result = Exp::apply(Tensor(opgen::autograd::primal_of(a)));
  if (opgen::autograd::has_tangent(a)) {
    const Tensor tangent = at::mul(Tensor(opgen::autograd::tangent_of(a)), result);
    opgen::autograd::set_tangent(result, tangent);
  }
  return result;
}

}  // namespace

OPGEN_LIBRARY_IMPL(aten, Autograd, m) {
  m.impl("mul.Tensor", mul_autograd);
  m.impl("mul_.Tensor", [](Tensor& a, const Tensor& b) -> Tensor& {
    MulInplace::apply(a, b);
    return a;
  });
  m.impl("add.Tensor", [](const Tensor& a, const Tensor& b, const Scalar& alpha) {
    return Add::apply(a, b, alpha);
  });
  m.impl("exp", exp_autograd);
  m.impl("sum", [](const Tensor& a, std::optional<ScalarType>) {
    return Tensor(opgen::primitive::sum_to(a, DimVector()));
  });
  m.impl("wrong", [](const Tensor& a) { return Wrong::apply(a); });
  m.impl("pair", [](const Tensor& a) { return Pair::apply(a); });
}
