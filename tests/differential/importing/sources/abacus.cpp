// abacus.cpp: three operators in the manner of a tutorial, with an out argument and with autograd
// by hand.
#include <ATen/Operators.h>
#include <Python.h>
#include <torch/all.h>
#include <torch/library.h>

#include <vector>

extern "C" {
/* Importing the module loads the library, and so runs the registrations below. */
PyObject* PyInit__abacus(void) {
  static struct PyModuleDef module_def = {
      PyModuleDef_HEAD_INIT, "_abacus", NULL, -1, NULL,
  };
  return PyModule_Create(&module_def);
}
}

namespace abacus {

at::Tensor carry_cpu(const at::Tensor& a, const at::Tensor& b, double c) {
  TORCH_CHECK(a.sizes() == b.sizes());
  TORCH_CHECK(a.dtype() == at::kFloat, "carry(a, b): floats { are \" taken");
  return a * b + c;
}

at::Tensor times_cpu(const at::Tensor& a, const at::Tensor& b) {
  return a * b;
}

// The result is written into `out`.
void sum_out_cpu(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  out.copy_(a + b);
}

at::Tensor carry_meta(const at::Tensor& a, const at::Tensor& b, double c) {
  return at::empty_like(a);
}

class Carry : public torch::autograd::Function<Carry> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& a,
                            const at::Tensor& b, double c) {
    ctx->save_for_backward({a, b});
    at::AutoDispatchBelowADInplaceOrView guard;
    return carry_cpu(a, b, c);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    auto saved = ctx->get_saved_variables();
    return {grads[0] * saved[1], grads[0] * saved[0], at::Tensor()};
  }
  static at::Tensor call(const at::Tensor& a, const at::Tensor& b, double c) {
    return apply(a, b, c);
  }
};

at::Tensor carry_autograd(const at::Tensor& a, const at::Tensor& b, double c) {
  return Carry::apply(a, b, c);
}

// Defines the operators
TORCH_LIBRARY(abacus, m) {
  m.def("carry(Tensor a, Tensor b, float c) -> Tensor");
  m.def("times(Tensor a, Tensor b) -> Tensor");
  m.def("sum_out(Tensor a, Tensor b, Tensor(a!) out) -> ()");
  m.def("scatter(Tensor a, int[] index) -> Tensor[]");
  // No kernels yet.
  m.def("later(Tensor a) -> (Tensor)");
}

// Registers the kernels for CPU
TORCH_LIBRARY_IMPL(abacus, CPU, m) {
  m.impl("carry", &carry_cpu);
  m.impl("times", &times_cpu);
  m.impl("sum_out", &sum_out_cpu);
}

TORCH_LIBRARY_IMPL(abacus, Meta, m) {
  m.impl("carry", &carry_meta);
}
TORCH_LIBRARY_IMPL(abacus, AutogradCUDA, m) {
  m.impl("carry", &carry_autograd);
}
TORCH_LIBRARY_IMPL(abacus, AutogradCPU, m) {
  m.impl("carry", &Carry::call);
}
TORCH_LIBRARY_IMPL(abacus, Autograd, m) {
  m.impl("times", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace abacus
