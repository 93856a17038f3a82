// autograd.h: the Autograd kernels of operators without a formula, of out= operators and of
// operators that write arguments; and the vmap kernel of operators that change a shape in place.
// They throw an error if a gradient, or a batch, is requested.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>

#include <algorithm>
#include <cstddef>

namespace opgen {

namespace detail {

// Calls `f` with every defined tensor in an argument or a return, at any depth.
template <class F>
void for_each_tensor(const c10::IValue& value, const F& f) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) f(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) for_each_tensor(element, f);
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) for_each_tensor(element, f);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) for_each_tensor(entry.value(), f);
  }
}

inline bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

using WrittenTensors = c10::SmallVector<at::Tensor, 4>;

// Returns the tensors that the operator writes, from its arguments, which are the last values on
// the stack.
inline WrittenTensors written_tensors(const c10::FunctionSchema& schema,
                                      const torch::jit::Stack& stack) {
  const auto& arguments = schema.arguments();
  const auto values = torch::jit::last(stack, arguments.size());
  WrittenTensors found;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_written(arguments[i])) continue;
    for_each_tensor(values[i], [&](const at::Tensor& tensor) { found.push_back(tensor); });
  }
  return found;
}

// Runs the kernel below ADInplaceOrView, then counts a write to each tensor in `written`.
inline void run_and_count(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                          torch::jit::Stack* stack, const WrittenTensors& written) {
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  }
  // Throws for an inference tensor outside of inference mode.
  for (const at::Tensor& tensor : written) tensor.unsafeGetTensorImpl()->bump_version();
}

// Runs the kernels below autograd. ADInplaceOrView is the next key, and most calls have both: if
// its kernel is count_writes (`counts`), this function does its work. That saves a call through the
// dispatcher, which takes a quarter of the time of an in-place operator on 16 elements.
inline void run_below_autograd(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                               torch::jit::Stack* stack, bool counts,
                               const WrittenTensors& written) {
  if (counts && keys.has(c10::DispatchKey::ADInplaceOrView)) {
    run_and_count(op, keys, stack, written);
    return;
  }
  const at::AutoDispatchBelowAutograd guard;
  op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
}

inline void autograd_of_out(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                            torch::jit::Stack* stack, bool counts) {
  const c10::FunctionSchema& schema = op.schema();
  const bool records = at::GradMode::is_enabled();
  for (const c10::IValue& value : torch::jit::last(*stack, schema.arguments().size())) {
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      TORCH_CHECK(!records || !tensor.requires_grad(), schema.name(),
                  "(): functions with out=... arguments don't support automatic differentiation, "
                  "but one of the arguments requires grad.");
      TORCH_CHECK_NOT_IMPLEMENTED(!tensor._fw_grad(/*level=*/0).defined(),
                                  "Trying to use forward AD with ", schema.name(),
                                  " that does not support it because it is an out= function");
    });
  }
  run_below_autograd(op, keys, stack, counts, written_tensors(schema, *stack));
}

}  // namespace detail

// The Autograd kernel of an out= operator, boxed. Like ATen's own, it rejects tensors that require
// a gradient while gradients are recorded, and tensors with a forward gradient at any time.
inline void autograd_of_out(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                            torch::jit::Stack* stack) {
  detail::autograd_of_out(op, keys, stack, /*counts=*/true);
}
// The same, for operators whose ADInplaceOrView kernel is the author's.
inline void autograd_of_out_uncounted(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                                      torch::jit::Stack* stack) {
  detail::autograd_of_out(op, keys, stack, /*counts=*/false);
}

// The Autograd kernel of a functional operator whose formulas declare that it has no gradient. The
// operators that its kernels call are not recorded either.
inline void call_without_gradient(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                                  torch::jit::Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
}

// Counts a write to every tensor that the operator writes, so that autograd detects tensors that
// were saved for a gradient and changed later. (PyTorch's own fallback counts only the tensors
// that are returned.)
inline void count_writes(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                         torch::jit::Stack* stack) {
  detail::run_and_count(op, keys, stack, detail::written_tensors(op.schema(), *stack));
}

namespace detail {

// Returns whether an argument (the last values on the stack) requires a gradient or has a forward
// gradient. Recorded gradients do not count if PyTorch is set to ignore missing formulas.
inline bool asks_for_formula(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  using torch::autograd::AutogradFallbackMode;
  const bool records = at::GradMode::is_enabled() &&
                       torch::autograd::getAutogradFallbackMode() != AutogradFallbackMode::Nothing;
  bool asks = false;
  for (const c10::IValue& value : torch::jit::last(stack, schema.arguments().size())) {
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      asks = asks || (records && tensor.requires_grad()) || tensor._fw_grad(/*level=*/0).defined();
    });
  }
  return asks;
}

}  // namespace detail

// The key of the kernel that rejects gradients: no tensor has it, and it comes before that of
// autograd.
inline constexpr auto kWithoutFormula = c10::DispatchKey::DeferredInit;

// The boxed kernel of a functional operator that is directly above its other kernels and below
// every formula. The key Autograd stays free for torch.library.register_autograd, which would warn
// about an overridden kernel. If a gradient is still requested here, there is no formula for it.
// (Formulas of register_autograd have no forward gradients.)
inline void refuse_gradients(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                             torch::jit::Stack* stack) {
  const c10::DispatchKeySet below = keys & c10::after_ADInplaceOrView_keyset;
  if (detail::asks_for_formula(op.schema(), *stack)) {
    op.redispatchBoxed(below.add(kWithoutFormula), stack);
    return;
  }
  const at::AutoDispatchBelowADInplaceOrView guard;  // as in ATen's formulas
  op.redispatchBoxed(below, stack);
}

// vmap calls an operator without a batching rule once for each element. A changed size of an out
// argument, or a changed shape of an argument, would then be lost, and a view would become a copy.
inline void refuse_batches(const c10::OperatorHandle& op, torch::jit::Stack*) {
  const auto& arguments = op.schema().arguments();
  const bool is_out = std::any_of(arguments.begin(), arguments.end(),
                                  [](const c10::Argument& argument) { return argument.is_out(); });
  TORCH_CHECK(false, "Batching rule not implemented for ", op.operator_name(),
              "; the fallback path doesn't work on out= or view ops. ",
              is_out ? "Call the functional variant, and copy what it returns."
                     : "A kernel for CompositeImplicitAutograd, which calls other operators, needs "
                       "no rule; torch.library.register_vmap registers one.");
}

}  // namespace opgen
