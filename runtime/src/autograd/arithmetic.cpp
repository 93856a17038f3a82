// arithmetic.cpp: the operators of arithmetic.h: their kernels, gradients and tangents.
#include "opgen/autograd/arithmetic.h"

#include "autograd/primitive_calls.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/primitives.h"
#include "opgen/cpu/element.h"
#include "opgen/dispatch_macros.h"
#include "opgen/iterator/iterator_config.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/promotion.h"
#include "schema/boxed_kernel.h"

namespace opgen::primitive {

namespace {

// ---- Kernels -----------------------------------------------------------------------------------

// One loop for all strides, to keep the code small.
template <class In, class Out, class F>
void loop(TensorIterator& iter, F f) {
  iter.for_each([f](char** data, const std::int64_t* strides, std::int64_t count) {
    char *out = data[0], *a = data[1], *b = data[2];
    for (std::int64_t i = 0; i < count; ++i) {
      *reinterpret_cast<Out*>(out) =
          static_cast<Out>(f(*reinterpret_cast<const In*>(a), *reinterpret_cast<const In*>(b)));
      out += strides[0];
      a += strides[1];
      b += strides[2];
    }
  });
}
template <class T, class F>
void unary_loop(TensorIterator& iter, F f) {
  iter.for_each([f](char** data, const std::int64_t* strides, std::int64_t count) {
    char *out = data[0], *a = data[1];
    for (std::int64_t i = 0; i < count; ++i) {
      *reinterpret_cast<T*>(out) = static_cast<T>(f(*reinterpret_cast<const T*>(a)));
      out += strides[0];
      a += strides[1];
    }
  });
}

template <class F>
TensorBase arithmetic(const TensorBase& a, const TensorBase& b, const char* name, F f) {
  TensorIterator iter = TensorIterator::binary_op({}, a, b);
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_ALL(iter.common_dtype(), name, [&] { loop<scalar_t, scalar_t>(iter, f); });
  }
  return iter.output();
}
TensorBase sub_kernel(const TensorBase& a, const TensorBase& b) {
  return arithmetic(a, b, "sub", [](auto x, auto y) { return x - y; });
}
TensorBase mul_kernel(const TensorBase& a, const TensorBase& b) {
  return arithmetic(a, b, "mul", [](auto x, auto y) { return x * y; });
}
TensorBase div_kernel(const TensorBase& a, const TensorBase& b) {
  TensorIterator iter = TensorIterator::binary_float_op({}, a, b);
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), "div", [&] {
      loop<scalar_t, scalar_t>(iter, [](scalar_t x, scalar_t y) { return x / y; });
    });
  }
  return iter.output();
}
TensorBase neg_kernel(const TensorBase& a) {
  TensorIterator iter = TensorIterator::unary_op({}, a);
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_ALL_BUT_BOOL(iter.common_dtype(), "neg",
                                [&] { unary_loop<scalar_t>(iter, [](auto x) { return -x; }); });
  }
  return iter.output();
}
TensorBase conj_kernel(const TensorBase& a) {
  TensorIterator iter = TensorIterator::unary_op({}, a);
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_COMPLEX(iter.common_dtype(), "conj", [&] {
      unary_loop<scalar_t>(iter, [](scalar_t x) { return scalar_t(x.real(), -x.imag()); });
    });
  }
  return iter.output();
}

TensorBase equality_kernel(const TensorBase& a, const TensorBase& b, bool equal) {
  TensorIterator iter = TensorIterator::comparison_op({}, a, b);
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_ALL(iter.common_dtype(), equal ? "eq" : "ne", [&] {
      loop<scalar_t, bool>(iter, [equal](auto x, auto y) { return (x == y) == equal; });
    });
  }
  return iter.output();
}
TensorBase order_kernel(const TensorBase& a, const TensorBase& b, bool or_equal) {
  TensorIterator iter = TensorIterator::comparison_op({}, a, b);
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_REAL_AND_BOOL(iter.common_dtype(), or_equal ? "le" : "lt", [&] {
      loop<scalar_t, bool>(iter,
                           [or_equal](auto x, auto y) { return x < y || (or_equal && x == y); });
    });
  }
  return iter.output();
}
template <class F>
TensorBase bits(const TensorBase& a, const TensorBase& b, const char* name, F f) {
  TensorIterator iter = TensorIterator::binary_op({}, a, b);
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_INTEGRAL_AND_BOOL(iter.common_dtype(), name,
                                     [&] { loop<scalar_t, scalar_t>(iter, f); });
  }
  return iter.output();
}
TensorBase bitwise_not_kernel(const TensorBase& a) {
  TensorIterator iter = TensorIterator::unary_op({}, a);
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_INTEGRAL_AND_BOOL(iter.common_dtype(), "bitwise_not", [&] {
      unary_loop<scalar_t>(iter, [](auto x) {
        if constexpr (std::is_same_v<decltype(x), bool>) return !x;
        return static_cast<decltype(x)>(~static_cast<std::int64_t>(x));
      });
    });
  }
  return iter.output();
}
TensorBase where_kernel(const TensorBase& condition, const TensorBase& a, const TensorBase& b) {
  OPGEN_CHECK(condition.scalar_type() == kBool, "where() expects a condition of dtype Bool, not ",
              condition.scalar_type());
  TensorIteratorConfig config;
  config.add_output({}).add_const_input(condition).add_const_input(a).add_const_input(b);
  config.check_all_same_dtype(false).declare_static_dtype(a.scalar_type());
  TensorIterator iter = config.build();
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_ALL(a.scalar_type(), "where", [&] {
      iter.for_each([](char** data, const std::int64_t* strides, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          const bool first = element_at(reinterpret_cast<const bool*>(data[1] + i * strides[1]));
          const int chosen = first ? 2 : 3;
          *reinterpret_cast<scalar_t*>(data[0] + i * strides[0]) =
              *reinterpret_cast<const scalar_t*>(data[chosen] + i * strides[chosen]);
        }
      });
    });
  }
  return iter.output();
}

// ---- Gradients ---------------------------------------------------------------------------------

using autograd::AutogradContext;
using autograd::Gradients;

template <class Derived, TensorBase (*kForward)(const TensorBase&, const TensorBase&)>
struct BinaryFunction : autograd::Function<Derived> {
  static TensorBase forward(AutogradContext* ctx, TensorBase a, TensorBase b) {
    ctx->save_for_backward({a, b});
    AutoDispatchBelowAutograd below;
    return kForward(a, b);
  }
  static std::vector<TensorBase> inputs(const AutogradContext& ctx) {
    return ctx.get_saved_variables<TensorBase>();
  }
};
template <class Derived, TensorBase (*kForward)(const TensorBase&)>
struct LinearFunction : autograd::Function<Derived> {
  static TensorBase forward(AutogradContext*, TensorBase a) {
    AutoDispatchBelowAutograd below;
    return kForward(a);
  }
  static Gradients backward(AutogradContext*, Gradients g) { return {kForward(g[0])}; }
};
struct Sub : autograd::Function<Sub> {
  static TensorBase forward(AutogradContext*, TensorBase a, TensorBase b) {
    AutoDispatchBelowAutograd below;
    return sub(a, b);
  }
  static Gradients backward(AutogradContext*, Gradients g) { return {g[0], neg(g[0])}; }
};
struct Mul : BinaryFunction<Mul, &mul> {
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    const std::vector<TensorBase> in = inputs(*ctx);
    Gradients result(2);
    if (ctx->needs_input_grad(0)) result[0] = mul(g[0], conj(in[1]));
    if (ctx->needs_input_grad(1)) result[1] = mul(g[0], conj(in[0]));
    return result;
  }
};
struct Div : BinaryFunction<Div, &div> {
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    const std::vector<TensorBase> in = inputs(*ctx);
    Gradients result(2);
    if (ctx->needs_input_grad(0)) result[0] = div(g[0], conj(in[1]));
    if (ctx->needs_input_grad(1)) {
      result[1] = neg(mul(g[0], conj(div(div(in[0], in[1]), in[1]))));
    }
    return result;
  }
};
struct Neg : LinearFunction<Neg, &neg> {};
struct Conj : LinearFunction<Conj, &conj> {};
struct Where : autograd::Function<Where> {
  static TensorBase forward(AutogradContext* ctx, TensorBase condition, TensorBase a,
                            TensorBase b) {
    ctx->save_for_backward({condition});
    AutoDispatchBelowAutograd below;
    return where(condition, a, b);
  }
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    const TensorBase condition = ctx->get_saved_variables<TensorBase>()[0];
    const TensorBase zero = opgen::detail::full({}, 0, g[0].options());
    return {{}, where(condition, g[0], zero), where(condition, zero, g[0])};
  }
};

// ---- Tangents ----------------------------------------------------------------------------------

void set_tangent_like(const TensorBase& result, const TensorBase& tangent) {
  autograd::set_tangent(result, cast(expand(tangent, result.sizes()), result.scalar_type()));
}
TensorBase sum_of(const TensorBase& a, const TensorBase& b) {
  return !a.defined() ? b : !b.defined() ? a : add(a, b);
}
template <class F>
TensorBase linear(const TensorBase& a, F f) {
  TensorBase result = f(autograd::primal_of(a));
  if (autograd::has_tangent(a)) set_tangent_like(result, f(autograd::tangent_of(a)));
  return result;
}
TensorBase sub_autograd(const TensorBase& a, const TensorBase& b) {
  TensorBase result = Sub::apply(autograd::primal_of(a), autograd::primal_of(b));
  const TensorBase of_a = autograd::tangent_of(a), of_b = autograd::tangent_of(b);
  if (of_a.defined() || of_b.defined()) {
    set_tangent_like(result, sum_of(of_a, of_b.defined() ? neg(of_b) : of_b));
  }
  return result;
}
TensorBase mul_autograd(const TensorBase& a, const TensorBase& b) {
  const TensorBase pa = autograd::primal_of(a), pb = autograd::primal_of(b);
  TensorBase result = Mul::apply(pa, pb);
  const TensorBase of_a = autograd::tangent_of(a), of_b = autograd::tangent_of(b);
  if (of_a.defined() || of_b.defined()) {
    set_tangent_like(result, sum_of(of_a.defined() ? mul(of_a, pb) : of_a,
                                    of_b.defined() ? mul(pa, of_b) : of_b));
  }
  return result;
}
TensorBase div_autograd(const TensorBase& a, const TensorBase& b) {
  const TensorBase pa = autograd::primal_of(a), pb = autograd::primal_of(b);
  TensorBase result = Div::apply(pa, pb);
  const TensorBase of_a = autograd::tangent_of(a), of_b = autograd::tangent_of(b);
  if (of_a.defined() || of_b.defined()) {
    const TensorBase less = of_b.defined() ? neg(mul(of_b, result)) : of_b;
    set_tangent_like(result, div(sum_of(of_a, less), pb));
  }
  return result;
}
TensorBase where_autograd(const TensorBase& condition, const TensorBase& a, const TensorBase& b) {
  TensorBase result = Where::apply(condition, autograd::primal_of(a), autograd::primal_of(b));
  const TensorBase of_a = autograd::tangent_of(a), of_b = autograd::tangent_of(b);
  if (of_a.defined() || of_b.defined()) {
    const TensorBase zero = opgen::detail::full({}, 0, result.options());
    set_tangent_like(result,
                     where(condition, of_a.defined() ? of_a : zero, of_b.defined() ? of_b : zero));
  }
  return result;
}

// ---- Registration ------------------------------------------------------------------------------

// One kernel for tensors with and without data.
void define_kernels(Library& m) {
  m.impl("sub", OPGEN_BOXED(2, sub_kernel(a[0].toTensor(), a[1].toTensor())));
  m.impl("mul", OPGEN_BOXED(2, mul_kernel(a[0].toTensor(), a[1].toTensor())));
  m.impl("div", OPGEN_BOXED(2, div_kernel(a[0].toTensor(), a[1].toTensor())));
  m.impl("neg", OPGEN_BOXED(1, neg_kernel(a[0].toTensor())));
  m.impl("conj", OPGEN_BOXED(1, conj_kernel(a[0].toTensor())));
  m.impl("eq", OPGEN_BOXED(2, equality_kernel(a[0].toTensor(), a[1].toTensor(), true)));
  m.impl("ne", OPGEN_BOXED(2, equality_kernel(a[0].toTensor(), a[1].toTensor(), false)));
  m.impl("lt", OPGEN_BOXED(2, order_kernel(a[0].toTensor(), a[1].toTensor(), false)));
  m.impl("le", OPGEN_BOXED(2, order_kernel(a[0].toTensor(), a[1].toTensor(), true)));
  m.impl("bitwise_and", OPGEN_BOXED(2, bits(a[0].toTensor(), a[1].toTensor(), "bitwise_and",
                                            [](auto x, auto y) { return x & y; })));
  m.impl("bitwise_or", OPGEN_BOXED(2, bits(a[0].toTensor(), a[1].toTensor(), "bitwise_or",
                                           [](auto x, auto y) { return x | y; })));
  m.impl("bitwise_xor", OPGEN_BOXED(2, bits(a[0].toTensor(), a[1].toTensor(), "bitwise_xor",
                                            [](auto x, auto y) { return x ^ y; })));
  m.impl("bitwise_not", OPGEN_BOXED(1, bitwise_not_kernel(a[0].toTensor())));
  m.impl("where", OPGEN_BOXED(3, where_kernel(a[0].toTensor(), a[1].toTensor(), a[2].toTensor())));
}

OPGEN_LIBRARY_FRAGMENT(opgen, m) {
  const std::vector<std::string> pointwise{"pointwise"};
  for (const char* name :
       {"sub", "mul", "div", "eq", "ne", "lt", "le", "bitwise_and", "bitwise_or", "bitwise_xor"}) {
    m.def(std::string(name) + "(Tensor self, Tensor other) -> Tensor", pointwise);
  }
  for (const char* name : {"neg", "conj", "bitwise_not"}) {
    m.def(std::string(name) + "(Tensor self) -> Tensor", pointwise);
  }
  m.def("where(Tensor condition, Tensor self, Tensor other) -> Tensor", pointwise);
}
OPGEN_LIBRARY_IMPL(opgen, CPU, m) {
  define_kernels(m);
}
OPGEN_LIBRARY_IMPL(opgen, Meta, m) {
  define_kernels(m);
}
OPGEN_LIBRARY_IMPL(opgen, Autograd, m) {
  const auto add = [&](const char* name, const CppFunction& kernel) {
    m.impl(name, kernel.only_for_tracked());
  };
  add("sub", OPGEN_BOXED(2, sub_autograd(a[0].toTensor(), a[1].toTensor())));
  add("mul", OPGEN_BOXED(2, mul_autograd(a[0].toTensor(), a[1].toTensor())));
  add("div", OPGEN_BOXED(2, div_autograd(a[0].toTensor(), a[1].toTensor())));
  add("neg", OPGEN_BOXED(1, linear(a[0].toTensor(), &Neg::apply<TensorBase>)));
  add("conj", OPGEN_BOXED(1, linear(a[0].toTensor(), &Conj::apply<TensorBase>)));
  add("where", OPGEN_BOXED(3, where_autograd(a[0].toTensor(), a[1].toTensor(), a[2].toTensor())));
}

}  // namespace

TensorBase sub(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::sub");
  return call(op, {a, b});
}
TensorBase mul(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::mul");
  return call(op, {a, b});
}
TensorBase div(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::div");
  return call(op, {a, b});
}
TensorBase eq(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::eq");
  return call(op, {a, b});
}
TensorBase ne(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::ne");
  return call(op, {a, b});
}
TensorBase lt(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::lt");
  return call(op, {a, b});
}
TensorBase le(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::le");
  return call(op, {a, b});
}
TensorBase bitwise_and(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::bitwise_and");
  return call(op, {a, b});
}
TensorBase bitwise_or(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::bitwise_or");
  return call(op, {a, b});
}
TensorBase bitwise_xor(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::bitwise_xor");
  return call(op, {a, b});
}
TensorBase neg(const TensorBase& a) {
  static const OperatorHandle op = find("opgen::neg");
  return call(op, {a});
}
TensorBase bitwise_not(const TensorBase& a) {
  static const OperatorHandle op = find("opgen::bitwise_not");
  return call(op, {a});
}
TensorBase conj(const TensorBase& a) {
  if (!a.is_complex()) return a;
  static const OperatorHandle op = find("opgen::conj");
  return call(op, {a});
}
TensorBase real(const TensorBase& a) {
  return a.is_complex() ? cast(a, toRealValueType(a.scalar_type())) : a;
}
TensorBase where(const TensorBase& condition, const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::where");
  const ScalarType dtype = opgen::result_type_of(a, b);
  return call(op, {condition, cast(a, dtype), cast(b, dtype)});
}

}  // namespace opgen::primitive

namespace opgen {

Tensor Tensor::conj() const {
  return Tensor(primitive::conj(*this));
}

}  // namespace opgen
