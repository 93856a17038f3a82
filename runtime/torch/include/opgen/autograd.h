// autograd.h: what autograd does with out= operators, and vmap with those that change a shape in
// place: nothing, and so they refuse to be asked.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>

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

// vmap calls an operator without a rule for batches once for each; what that does to the shape of
// its argument would be lost.
inline void refuse_batches(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK(false, "Batching rule not implemented for ", op.operator_name(),
              "; the fallback path doesn't work on out= or view ops.");
}

}  // namespace opgen
