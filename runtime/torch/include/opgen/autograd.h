// autograd.h: what autograd does with operators that have no formula, with out= operators and with
// writes, and vmap with operators that change a shape in place: they refuse to be asked.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace opgen {

// An out= operator, boxed. Source: ATen's own refuse tensors that want a gradient while gradients
// are recorded, and forward gradients at any time.
inline void autograd_of_out(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                            torch::jit::Stack* stack) {
  const bool records = at::GradMode::is_enabled();
  const auto check = [&](const at::Tensor& tensor) {
    if (!tensor.defined()) return;
    TORCH_CHECK(!records || !tensor.requires_grad(), op.schema().name(),
                "(): functions with out=... arguments don't support automatic differentiation, but "
                "one of the arguments requires grad.");
    TORCH_CHECK_NOT_IMPLEMENTED(!tensor._fw_grad(/*level=*/0).defined(),
                                "Trying to use forward AD with ", op.schema().name(),
                                " that does not support it because it is an out= function");
  };
  for (const c10::IValue& value : torch::jit::last(*stack, op.schema().arguments().size())) {
    if (value.isTensor()) {
      check(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) check(tensor);
    } else if (value.isOptionalTensorList()) {
      for (const auto& tensor : value.toOptionalTensorVector()) {
        if (tensor.has_value()) check(*tensor);
      }
    }
  }
  const at::AutoDispatchBelowAutograd guard;
  op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
}

namespace detail {

// Calls `f` with every tensor in an argument or a return that is defined.
template <class F>
void for_each_tensor(const c10::IValue& value, const F& f) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) f(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (tensor.defined()) f(tensor);
    }
  } else if (value.isOptionalTensorList()) {
    for (const auto& tensor : value.toOptionalTensorVector()) {
      if (tensor.has_value() && tensor->defined()) f(*tensor);
    }
  }
}

inline bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// The tensors among the arguments, which are the last on the stack, that the operator writes.
inline std::vector<at::Tensor> written_tensors(const c10::FunctionSchema& schema,
                                               const torch::jit::Stack& stack) {
  const auto& arguments = schema.arguments();
  const auto values = torch::jit::last(stack, arguments.size());
  std::vector<at::Tensor> found;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_written(arguments[i])) continue;
    for_each_tensor(values[i], [&](const at::Tensor& tensor) { found.push_back(tensor); });
  }
  return found;
}

}  // namespace detail

namespace detail {

// Whether autograd has something to do for an argument, which are the last on the stack. That a
// gradient is recorded does not count where PyTorch is told to do nothing about missing formulas.
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

// Where the kernel that refuses gradients is kept: a key that no tensor has, before that of
// autograd.
inline constexpr auto kWithoutFormula = c10::DispatchKey::DeferredInit;

// A functional operator, boxed, right above its kernels and below every formula: so the key
// Autograd is free for torch.library.register_autograd, which would warn that it overrides a
// kernel. What asks for a gradient here has found no formula (register_autograd's know no forward
// gradients).
inline void refuse_gradients(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                             torch::jit::Stack* stack) {
  const c10::DispatchKeySet below = keys & c10::after_ADInplaceOrView_keyset;
  if (detail::asks_for_formula(op.schema(), *stack)) {
    op.redispatchBoxed(below.add(kWithoutFormula), stack);
    return;
  }
  const at::AutoDispatchBelowAutograd guard;
  op.redispatchBoxed(below, stack);
}

// Counts a write to every tensor that the operator writes, so that autograd finds what was saved
// for a gradient and then changed. (PyTorch's own fallback counts those alone that are returned.)
inline void count_writes(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                         torch::jit::Stack* stack) {
  const std::vector<at::Tensor> written = detail::written_tensors(op.schema(), *stack);
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  }
  // An inference tensor outside of inference mode refuses.
  for (const at::Tensor& tensor : written) tensor.unsafeGetTensorImpl()->bump_version();
}

// vmap calls an operator without a rule for batches once for each; what that does to an out
// argument's size, or to the shape of an argument, would be lost, and a view would be a copy.
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
