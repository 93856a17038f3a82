// Functions whose gradients are what PyTorch makes of a registration by hand: composites with an autograd::Function,
// kernels that call ATen's operators, and functions that write their arguments. Some can be called by this file alone.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

namespace ferry {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Cube : torch::autograd::Function<Cube> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    context->save_for_backward({x});
    return x * x * x;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const at::Tensor x = context->get_saved_variables()[0];
    return {grads[0] * x * x * 3};
  }
};

at::Tensor cube(const at::Tensor& x) { return Cube::apply(x); }

std::tuple<at::Tensor, at::Tensor> cube_and_sum(const at::Tensor& x, const at::Tensor& y) {
  return {Cube::apply(x), x + y};
}

at::Tensor cube_all(const std::vector<at::Tensor>& x) { return Cube::apply(at::stack(x)); }

at::Tensor& cube_(at::Tensor& x) { return x.copy_(Cube::apply(x)); }

static at::Tensor halved(at::Tensor x) { return x / 2; }

template <int factor>
at::Tensor times(const at::Tensor& x) {
  return x * factor;
}

at::Tensor doubled_with_gradient(const at::Tensor& x) { return Cube::apply(x) * 0 + x * 2; }

// What a kernel in CUDA does: autograd sees nothing of it.
at::Tensor raw(const at::Tensor& x) {
  at::Tensor result = at::empty_like(x.detach());
  for (int64_t i = 0; i < x.numel(); ++i) {
    result.data_ptr<float>()[i] = x.data_ptr<float>()[i] + 1;
  }
  return result;
}

namespace {

void add_out(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  for (int64_t i = 0; i < a.numel(); ++i) {
    out.data_ptr<float>()[i] = a.data_ptr<float>()[i] + b.data_ptr<float>()[i];
  }
}

void fill(at::Tensor& x, double value) { x.fill_(value); }

at::Tensor& add_(at::Tensor& x, const at::Tensor& y) { return x.add_(y); }

at::Tensor& raw_(at::Tensor& x) {
  for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<float>()[i] += 1;
  return x;
}

void add_into(at::Tensor out, const at::Tensor& x) { out.add_(x); }

}  // namespace

at::Tensor first(const at::Tensor& x) { return x.select(0, 0); }

int64_t count(const at::Tensor& x) { return x.numel(); }

// Overloads: each registration casts to the type of the one that it means.
at::Tensor scaled(at::Tensor x, int64_t factor) { return x * factor; }
at::Tensor scaled(at::Tensor x, double factor) { return x * factor + 1; }
static at::Tensor scaled(const at::Tensor& x, bool negate) { return negate ? -x : x; }

}  // namespace ferry

TORCH_LIBRARY(ferry, m) {
  m.set_python_module("ferry_fakes");
  m.def("cube(Tensor x) -> Tensor", &ferry::cube);
  m.def("cube_and_sum(Tensor x, Tensor y) -> (Tensor, Tensor)", &ferry::cube_and_sum);
  m.def("cube_all(Tensor[] x) -> Tensor", &ferry::cube_all);
  m.def("cube_(Tensor(a!) x) -> Tensor(a!)", &ferry::cube_);
  m.def("halved(Tensor x) -> Tensor");
  m.def("doubled(Tensor x) -> Tensor");
  m.def("raw(Tensor x) -> Tensor");
  m.def("add_out(Tensor a, Tensor b, Tensor(a!) out) -> ()");
  m.def("fill(Tensor(a!) x, float value) -> ()");
  m.def("add_(Tensor(a!) x, Tensor y) -> Tensor(a!)");
  m.def("raw_(Tensor(a!) x) -> Tensor(a!)");
  m.def("first(Tensor(a) x) -> Tensor(a)");
  m.def("count(Tensor x) -> int");
  // PyTorch infers a schema that does not say what is written.
  m.def("add_into", &ferry::add_into);
  m.def(torch::schema("pure(Tensor x) -> Tensor", c10::AliasAnalysisKind::PURE_FUNCTION),
        &ferry::halved, {at::Tag::pointwise});
  m.set_python_module("ferry_more_fakes");
  m.def("scaled_int(Tensor x, int n) -> Tensor",
        static_cast<at::Tensor (*)(at::Tensor, int64_t)>(&ferry::scaled));
  m.def("scaled_float", (at::Tensor(*)(at::Tensor, double))ferry::scaled);
  m.def("scaled_bool(Tensor x, bool negate) -> Tensor",
        torch::CppFunction(static_cast<at::Tensor (*)(const at::Tensor&, bool)>(ferry::scaled)));
}

TORCH_LIBRARY_IMPL(ferry, CompositeExplicitAutograd, m) { m.impl("halved", &ferry::halved); }

TORCH_LIBRARY_IMPL(ferry, CPU, m) {
  m.impl("doubled", &ferry::times<2>);
  m.impl("raw", &ferry::raw);
  m.impl("add_out", &ferry::add_out);
  m.impl("fill", &ferry::fill);
  m.impl("add_", &ferry::add_);
  m.impl("raw_", &ferry::raw_);
  m.impl("first", &ferry::first);
  m.impl("count", &ferry::count);
}

TORCH_LIBRARY_IMPL(ferry, AutogradCPU, m) { m.impl("doubled", &ferry::doubled_with_gradient); }
