// autograd_written.h: the Autograd kernels of operators that write arguments, at any position.
// They need PyTorch's headers of graph nodes, so they are not in autograd.h.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstddef>
#include <string>
#include <vector>

#include "opgen/autograd/autograd.h"
#include "opgen/autograd/autograd_nodes.h"
#include "opgen/core/release.h"

namespace opgen {

namespace detail {

using NodePointer = decltype(torch::autograd::Edge::function);

// torch.func does not find the tensors in lists of lists, so their gradients would be zero.
inline bool is_hidden_from_transforms(const c10::IValue& value) {
  return value.isList() && !value.isTensorList() && !value.isOptionalTensorList() &&
         c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerBackMode);
}

// Returns a node that throws when its gradient is computed; the message names the operator `name`.
inline NodePointer node_without_formula(const std::string& name) {
  return make_held<NodePointer, torch::autograd::NotImplemented>(name);
}

inline void autograd_of_written(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                                torch::jit::Stack* stack, bool counts) {
  const c10::FunctionSchema& schema = op.schema();
  const bool records = at::GradMode::is_enabled();
  std::vector<at::Tensor> read;
  for (const c10::IValue& value : torch::jit::last(*stack, schema.arguments().size())) {
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      TORCH_CHECK_NOT_IMPLEMENTED(!tensor._fw_grad(/*level=*/0).defined(),
                                  "Trying to use forward AD with ", schema.name(),
                                  " that does not support it because it has not been implemented "
                                  "yet");
      if (records && tensor.requires_grad()) read.push_back(tensor);
    });
  }
  const WrittenTensors written = written_tensors(schema, *stack);
  NodePointer node;
  if (!read.empty()) {
    for (const at::Tensor& tensor : written) {
      torch::autograd::check_inplace(tensor, /*requires_grad=*/true);
    }
    node = node_without_formula(schema.name());
    node->set_next_edges(torch::autograd::collect_next_edges(read));
  }
  run_below_autograd(op, keys, stack, counts, written);
  if (!node) return;
  const auto records_of = [](const at::Tensor& tensor) {
    return torch::autograd::isDifferentiableType(tensor.scalar_type());
  };
  for (const at::Tensor& tensor : written) {
    if (records_of(tensor)) torch::autograd::rebase_history(tensor, node);
  }
  const auto& returns = schema.returns();
  const auto values = torch::jit::last(*stack, returns.size());
  for (std::size_t i = 0; i < returns.size(); ++i) {
    if (returns[i].alias_info() != nullptr) continue;
    for_each_tensor(values[i], [&](const at::Tensor& tensor) {
      TORCH_CHECK(!is_hidden_from_transforms(values[i]), "derivative for ", schema.name(),
                  " is not implemented");
      if (records_of(tensor)) torch::autograd::set_history(tensor, node);
    });
  }
}

}  // namespace detail

// The Autograd kernel of an operator that writes arguments at any position, or none, boxed: a
// gradient through a written or returned tensor is an error that names the operator. (PyTorch's own
// kernel does not find tensors in lists of optionals or lists.)
inline void autograd_of_written(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                                torch::jit::Stack* stack) {
  detail::autograd_of_written(op, keys, stack, /*counts=*/true);
}
// The same, for operators whose ADInplaceOrView kernel is the author's.
inline void autograd_of_written_uncounted(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                                          torch::jit::Stack* stack) {
  detail::autograd_of_written(op, keys, stack, /*counts=*/false);
}

}  // namespace opgen
