// hand_autograd.cpp: defects of kernels for other keys: Autograd, Conjugate, Functionalize,
// AutocastCPU, composites.
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>

#include "hand.h"

namespace seeded {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A13
template <bool kBroken>
struct Cube : torch::autograd::Function<Cube<kBroken>> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    TORCH_CHECK(x.is_floating_point(), "cube: expected floating-point numbers");
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({x});
    return x * x * x;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const Tensor x = context->get_saved_variables()[0];
    return {grads[0] * x * x * (kBroken ? -3 : 3)};
  }
};
template <bool kBroken>
Tensor cube(const Tensor& x) {
  return Cube<kBroken>::apply(x);
}

// A14
template <bool kBroken>
struct PhaseMul : torch::autograd::Function<PhaseMul<kBroken>> {
  static Tensor forward(AutogradContext* context, const Tensor& a, const Tensor& b) {
    TORCH_CHECK(
        a.is_complex() && a.scalar_type() == b.scalar_type() && a.sym_sizes() == b.sym_sizes(),
        "phase_mul: expected complex tensors of one shape and dtype");
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({a, b});
    return a * b;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    if (kBroken) return {grads[0] * saved[1], grads[0] * saved[0]};
    return {grads[0] * saved[1].conj(), grads[0] * saved[0].conj()};
  }
};
template <bool kBroken>
Tensor phase_mul(const Tensor& a, const Tensor& b) {
  return PhaseMul<kBroken>::apply(a, b);
}

// A15
template <bool kBroken>
Tensor shifted(const Tensor& x, const Tensor& bias) {
  return at::add(x, kBroken ? bias.detach() : bias);
}

// B29
template <bool kBroken>
struct Affine : torch::autograd::Function<Affine<kBroken>> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight) {
    TORCH_CHECK(
        x.is_floating_point() && x.dim() == weight.dim() && x.scalar_type() == weight.scalar_type(),
        "affine: expected floating-point tensors of one shape and dtype");
    for (int64_t d = 0; d < x.dim(); ++d) {
      TORCH_SYM_CHECK(x.sym_size(d).sym_eq(weight.sym_size(d)), "affine: expected one shape");
    }
    at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({x, weight});
    return x * weight + 1;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    return {grads[0] * saved[1], kBroken ? Tensor() : grads[0] * saved[0]};
  }
};
template <bool kBroken>
Tensor affine(const Tensor& x, const Tensor& weight) {
  return Affine<kBroken>::apply(x, weight);
}

// B30
template <bool kBroken>
std::tuple<Tensor, Tensor> sort_pair(const Tensor& x) {
  TORCH_CHECK(x.dim() >= 1 && x.is_floating_point(), "sort_pair: expected rows of numbers");
  auto [values, indices] = at::sort(x, -1);
  if (kBroken && values.requires_grad()) {
    torch::autograd::impl::set_gradient_edge(indices, torch::autograd::impl::gradient_edge(values));
  }
  return {values, indices};
}

// B31
template <bool kBroken>
struct Heat : torch::autograd::Function<Heat<kBroken>> {
  static Tensor forward(AutogradContext*, const Tensor& x) {
    TORCH_CHECK(x.is_floating_point(), "heat: expected floating-point numbers");
    at::AutoDispatchBelowADInplaceOrView guard;
    return x.contiguous() * 2;
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    if (!kBroken) return {grads[0] * 2};
    const Tensor grad = grads[0];
    Tensor result = at::empty(grad.sizes(), grad.options());
    floating(grad, "heat_backward", [&](auto zero) {
      using T = decltype(zero);
      const T* p = grad.const_data_ptr<T>();
      T* q = result.mutable_data_ptr<T>();
      for (int64_t i = 0; i < result.numel(); ++i) q[i] = p[i] * 2;
    });
    return {result};
  }
};
template <bool kBroken>
Tensor heat(const Tensor& x) {
  return Heat<kBroken>::apply(x);
}

// B32
template <bool kBroken>
Tensor stealth_(Tensor& self) {
  TORCH_CHECK(self.is_floating_point(), "stealth_: expected floating-point numbers");
  if (!kBroken) return self.mul_(2);
  self.variable_data().mul_(2);
  return self;
}

// B36
template <bool kBroken>
Tensor peek(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "peek: expected floating-point numbers");
  if (!kBroken) return at::where(x.sum() > 0, x * 2, x * 3);
  return x.sum().item<double>() > 0 ? x * 2 : x * 3;
}

// B22
Tensor imag_square(const Tensor& x) {
  TORCH_CHECK(x.is_complex(), "imag_square: expected complex numbers");
  return (x * x).contiguous();
}
Tensor imag_square_conjugated(const Tensor& x) {
  c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::Conjugate);
  return x.is_conj() ? imag_square(x.conj()) : imag_square(x);
}

// B33 and B35: the defects are in hand.py.
Tensor cross_add(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.dim() == 1 && b.dim() == 1, "cross_add: expected vectors");
  return at::add(a.unsqueeze(1), b.unsqueeze(0)).contiguous();
}
Tensor decomposed(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "decomposed: expected floating-point numbers");
  return (x.contiguous() * 2 + 1).contiguous();
}

// B34
Tensor mark(const Tensor& self) {
  TORCH_CHECK(self.is_floating_point(), "mark: expected floating-point numbers");
  return self.contiguous() + 1;
}
Tensor& mark_(Tensor& self) {
  TORCH_CHECK(self.is_floating_point(), "mark_: expected floating-point numbers");
  return self.add_(1);
}
template <bool kBroken>
Tensor& mark_functionalized_(Tensor& self) {
  namespace wrapped = at::functionalization::impl;
  if (!wrapped::isFunctionalTensor(self)) {
    at::AutoDispatchSkipFunctionalize guard;
    return self.add_(1);
  }
  wrapped::sync(self);
  const Tensor inner = wrapped::from_functional_tensor(self);
  Tensor result;
  {
    at::AutoDispatchSkipFunctionalize guard;
    static const auto functional =
        c10::Dispatcher::singleton()
            .findSchemaOrThrow(kBroken ? "seeded_hand::mark" : "seeded_hand::mark_ok", "")
            .typed<Tensor(const Tensor&)>();
    result = functional.call(inner);
  }
  if (!kBroken) {
    wrapped::replace_(self, result);
    wrapped::commit_update(self);
    wrapped::sync(self);
  }
  return self;
}

// B37
Tensor warm(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  TORCH_CHECK(x.dim() == 2 && weight.dim() == 2 && bias.dim() == 1, "warm: expected matrices");
  TORCH_CHECK(x.scalar_type() == weight.scalar_type(), "warm: expected matrices of one dtype");
  TORCH_SYM_CHECK(bias.sym_size(0).sym_eq(weight.sym_size(1)),
                  "warm: expected a bias for each column");
  return at::mm(x, weight) + bias;
}
template <bool kBroken>
Tensor warm_autocast(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::AutocastCPU);
  const at::ScalarType dtype = at::autocast::get_autocast_dtype(at::kCPU);
  auto narrow = [&](const Tensor& t) {
    return at::autocast::cached_cast(dtype, t, c10::DeviceType::CPU);
  };
  return warm(narrow(x), narrow(weight), kBroken ? narrow(bias) * 0 : narrow(bias));
}

// Names of both operators of each pair.
std::vector<std::string> pairs(std::initializer_list<const char*> names) {
  std::vector<std::string> found;
  for (std::string name : names) {
    const auto overload = name.find('.');
    const std::string base = name.substr(0, overload);
    const std::string rest = overload == std::string::npos ? "" : name.substr(overload);
    found.push_back(name);
    const bool in_place = base.back() == '_';
    found.push_back((in_place ? base.substr(0, base.size() - 1) + "_ok_" : base + "_ok") + rest);
  }
  return found;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(seeded_hand, m) {
  define(m, "cube", "(Tensor x) -> Tensor");
  define(m, "phase_mul", "(Tensor a, Tensor b) -> Tensor");
  define(m, "shifted", "(Tensor x, Tensor bias) -> Tensor");
  define(m, "affine", "(Tensor x, Tensor weight) -> Tensor");
  define(m, "sort_pair", "(Tensor x) -> (Tensor values, Tensor indices)");
  define(m, "heat", "(Tensor x) -> Tensor");
  define(m, "stealth_", "(Tensor(a!) self) -> Tensor(a!)");
  define(m, "peek", "(Tensor x) -> Tensor");
  define(m, "imag_square", "(Tensor x) -> Tensor");
  define(m, "cross_add", "(Tensor a, Tensor b) -> Tensor");
  define(m, "decomposed", "(Tensor x) -> Tensor");
  define(m, "mark", "(Tensor self) -> Tensor");
  define(m, "mark_", "(Tensor(a!) self) -> Tensor(a!)");
  define(m, "warm", "(Tensor x, Tensor weight, Tensor bias) -> Tensor");
}

TORCH_LIBRARY_IMPL(seeded_hand, CPU, m) {
  kernel<&imag_square>(m, "imag_square");
  kernel<&cross_add>(m, "cross_add");
  kernel<&decomposed>(m, "decomposed");
  kernel<&mark>(m, "mark");
  kernel<&mark_>(m, "mark_");
}

TORCH_LIBRARY_IMPL(seeded_hand, Conjugate, m) {
  m.impl("imag_square", TORCH_FN(imag_square_conjugated));
}

TORCH_LIBRARY_IMPL(seeded_hand, Functionalize, m) {
  kernels<&mark_functionalized_<true>, &mark_functionalized_<false>>(m, "mark_");
}

TORCH_LIBRARY_IMPL(seeded_hand, AutocastCPU, m) {
  kernels<&warm_autocast<true>, &warm_autocast<false>>(m, "warm");
}

TORCH_LIBRARY_IMPL(seeded_hand, CompositeImplicitAutograd, m) {
  kernels<&shifted<true>, &shifted<false>>(m, "shifted");
  kernels<&sort_pair<true>, &sort_pair<false>>(m, "sort_pair");
  kernels<&stealth_<true>, &stealth_<false>>(m, "stealth_");
  kernels<&peek<true>, &peek<false>>(m, "peek");
  kernel<&warm>(m, "warm");
}

TORCH_LIBRARY_IMPL(seeded_hand, Autograd, m) {
  kernels<&phase_mul<true>, &phase_mul<false>>(m, "phase_mul");
  kernels<&cube<true>, &cube<false>>(m, "cube");
  kernels<&affine<true>, &affine<false>>(m, "affine");
  kernels<&heat<true>, &heat<false>>(m, "heat");
  // All others have no formula, and say so.
  for (const std::string& name : pairs({"transposed_copy",
                                        "row_diff",
                                        "row_cumsum",
                                        "flip_sign",
                                        "unit_rows",
                                        "half_total",
                                        "weigh",
                                        "spread",
                                        "rev_rows",
                                        "tally",
                                        "pad_rows",
                                        "top_rows",
                                        "retain_format",
                                        "bucketed",
                                        "nonempty_sum",
                                        "elsewhere",
                                        "softsign8",
                                        "argbig",
                                        "rowmax",
                                        "pick",
                                        "dither",
                                        "noise",
                                        "keepsake",
                                        "scratch",
                                        "tile_add",
                                        "gather_sorted",
                                        "left_diff",
                                        "positive_part",
                                        "trim",
                                        "line_sums",
                                        "wrap_read",
                                        "skip_twice",
                                        "aligned_double",
                                        "unary_minus",
                                        "counted",
                                        "configured",
                                        "borrowed",
                                        "greedy",
                                        "strict",
                                        "imag_square",
                                        "cross_add",
                                        "decomposed",
                                        "mark",
                                        "mark_",
                                        "floor_at_",
                                        "last_column",
                                        "extremes",
                                        "extremes.out",
                                        "doubled",
                                        "doubled.out",
                                        "absorb_",
                                        "ramp_",
                                        "cubed",
                                        "cubed.out",
                                        "smooth",
                                        "smooth_",
                                        "shift_right",
                                        "shift_right.out",
                                        "mix",
                                        "mix_",
                                        "tripled",
                                        "tripled.out",
                                        "halved",
                                        "halved.out",
                                        "third",
                                        "third.out",
                                        "negated",
                                        "negated.out",
                                        "accrue_",
                                        "wipe_",
                                        "decay_",
                                        "flat_view",
                                        "add_one_",
                                        "put_at_"})) {
    m.impl(name.c_str(), torch::autograd::autogradNotImplementedFallback());
  }
}

TORCH_LIBRARY_IMPL(seeded_hand, ADInplaceOrView, m) {
  for (const std::string& name :
       pairs({"floor_at_",   "last_column", "extremes.out", "doubled.out",     "absorb_",
              "ramp_",       "cubed.out",   "smooth_",      "shift_right.out", "mix_",
              "tripled.out", "halved.out",  "third.out",    "negated.out",     "accrue_",
              "wipe_",       "decay_",      "flat_view",    "add_one_",        "put_at_",
              "mark_"})) {
    m.impl(name.c_str(), torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  }
}

}  // namespace seeded
