// noop_ops.cpp: the kernels of noop_ops.h and their registrations with libtorch.
#include "noop_ops.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/library.h>

namespace side {

c10::TypedOperatorHandle<NoopSignature> find_noop(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<NoopSignature>();
}

void noop_direct(const at::Tensor&, const at::Tensor&) {}

namespace {

void noop_boxed(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  stack->resize(stack->size() - 2);
}

// Redispatches in the same way as PyTorch's generated autograd kernels.
void noop_redispatch(c10::DispatchKeySet keys, const at::Tensor& a, const at::Tensor& b) {
  static auto op = find_noop("idle::noop_redispatch");
  at::AutoDispatchBelowADInplaceOrView guard;
  op.redispatch(keys & c10::after_autograd_keyset, a, b);
}

}  // namespace
}  // namespace side

TORCH_LIBRARY(idle, m) {
  m.def("noop(Tensor a, Tensor b) -> ()");
  m.def("noop_boxed(Tensor a, Tensor b) -> ()");
  m.def("noop_redispatch(Tensor a, Tensor b) -> ()");
}
TORCH_LIBRARY_IMPL(idle, CPU, m) {
  m.impl("noop", side::noop_direct);
  m.impl("noop_boxed", torch::CppFunction::makeFromBoxedFunction<&side::noop_boxed>());
  m.impl("noop_redispatch", side::noop_direct);
}
TORCH_LIBRARY_IMPL(idle, Autograd, m) {
  m.impl("noop", torch::CppFunction::makeFallthrough());
  m.impl("noop_boxed", torch::CppFunction::makeFallthrough());
  m.impl("noop_redispatch", side::noop_redispatch);
}
