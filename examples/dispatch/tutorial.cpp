// tutorial.cpp: register an operator by hand with a CPU kernel, a gradient, a wrapper for mixed
// precision and a batching rule.
#include <opgen/autograd.h>
#include <opgen/autograd/primitives.h>
#include <opgen/boxing.h>
#include <opgen/transforms/autocast.h>
#include <opgen/transforms/tracer.h>
#include <opgen/transforms/vmap.h>

#include "say.h"

using opgen::AutoDispatchBelowAutograd;
using opgen::Dispatcher;
using opgen::DispatchKey;
using opgen::ExcludeDispatchKeyGuard;
using opgen::Tensor;
namespace autocast = opgen::autocast;
namespace autograd = opgen::autograd;
namespace batching = opgen::batching;

// The schema.
OPGEN_LIBRARY(tutorial, m) {
  m.def("myadd(Tensor self, Tensor other) -> Tensor");
}

// A kernel for CPU tensors, and one that computes only shapes.
Tensor myadd_cpu(const Tensor& self, const Tensor& other) {
  return opgen::primitive::add(self, other);
}
OPGEN_LIBRARY_IMPL(tutorial, CPU, m) {
  m.impl("myadd", myadd_cpu);
}
OPGEN_LIBRARY_IMPL(tutorial, Meta, m) {
  m.impl("myadd", myadd_cpu);
}

// The function that calls the operator through the dispatcher: its public C++ API.
Tensor myadd(const Tensor& self, const Tensor& other) {
  static auto op =
      Dispatcher::singleton().findSchemaOrThrow("tutorial::myadd", "").typed<decltype(myadd)>();
  return op.call(self, other);
}

// The gradient. forward() calls the operator again, below autograd.
class MyAddFunction : public autograd::Function<MyAddFunction> {
 public:
  static Tensor forward(autograd::AutogradContext*, Tensor self, Tensor other) {
    AutoDispatchBelowAutograd below;
    return myadd(self, other);
  }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list grad_outputs) {
    return {grad_outputs[0], grad_outputs[0]};
  }
};
Tensor myadd_autograd(const Tensor& self, const Tensor& other) {
  return MyAddFunction::apply(self, other);
}
OPGEN_LIBRARY_IMPL(tutorial, Autograd, m) {
  m.impl("myadd", myadd_autograd);
}

// In an autocast scope, convert both arguments to the wider of their dtypes.
Tensor myadd_autocast(const Tensor& self, const Tensor& other) {
  ExcludeDispatchKeyGuard no_autocast(DispatchKey::AutocastCPU);
  auto exec_type = autocast::promote_type(opgen::kBFloat16, opgen::kCPU, self, other);
  return myadd(autocast::cached_cast(exec_type, self), autocast::cached_cast(exec_type, other));
}
OPGEN_LIBRARY_IMPL(tutorial, AutocastCPU, m) {
  m.impl("myadd", myadd_autocast);
}

// With vmap, call the operator once for the whole batch if all examples have the same number of
// dimensions.
Tensor myadd_batched(const Tensor& self, const Tensor& other) {
  std::int64_t level = batching::innermost_level(self, other);
  batching::Unwrapped a = batching::unwrap(self, level), b = batching::unwrap(other, level);
  OPGEN_CHECK(self.dim() == other.dim(),
              "under vmap, both arguments of myadd must have the same number of dimensions");
  return batching::make_batched(myadd(Tensor(a.value), Tensor(b.value)), 0, level);
}
OPGEN_LIBRARY_IMPL(tutorial, Batched, m) {
  m.impl("myadd", myadd_batched);
}

void run_tutorial() {
  say::section("tutorial");
  Tensor a = say::range({3}), b = say::full({3}, 10);
  say::show("myadd(a, b)", myadd(a, b));

  autograd::set_requires_grad(a, true);
  Tensor sum = myadd(a, myadd(a, b));
  std::printf("made by %s\n", autograd::grad_fn(sum)->name().c_str());
  autograd::backward(sum, say::full({3}, 1));
  say::show("gradient of a", autograd::grad_of(a));

  {
    autocast::Mode mode;
    Tensor half = opgen::to_dtype(b, opgen::kBFloat16);
    say::show("autocast, two halves", myadd(half, half));
    say::show("autocast, one half", myadd(half, b));
  }

  Tensor batch = say::range({2, 3});
  say::show("vmap(myadd)", opgen::vmap(myadd)(batch, batch));
  std::printf("%s", opgen::trace(myadd, batch, b).str().c_str());
}
