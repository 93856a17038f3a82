// noop_ops.cpp: kernels that do nothing, one for each kind of call.
#include <idle/ops/noop_redispatch.h>

#include <opgen/library.h>

namespace side {

OPGEN_API void noop_direct(const opgen::Tensor&, const opgen::Tensor&) {}

namespace {

void noop_boxed(const opgen::OperatorHandle&, opgen::DispatchKeySet, opgen::Stack& stack) {
  stack.resize(stack.size() - 2);
}

void noop_redispatch(opgen::DispatchKeySet keys, const opgen::Tensor& a, const opgen::Tensor& b) {
  opgen::AutoDispatchBelowADInplaceOrView guard;
  idle::_ops::noop_redispatch::redispatch(keys & opgen::after_autograd_keyset, a, b);
}

}  // namespace
}  // namespace side

OPGEN_LIBRARY_IMPL(idle, CPU, m) {
  m.impl("noop", side::noop_direct);
  m.impl("noop_redispatch", side::noop_direct);
  m.impl("noop_boxed", opgen::CppFunction::makeFromBoxedFunction<&side::noop_boxed>());
}
OPGEN_LIBRARY_IMPL(idle, AutogradCPU, m) {
  m.impl("noop_redispatch", side::noop_redispatch);
}
