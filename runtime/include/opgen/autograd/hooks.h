// hooks.h: functions that backward() calls with gradients on their way: of tensors, before and
// after nodes, and after the gradient of a leaf has grown.
//
// The order at one node: the hooks of its outputs' tensors in the order of their registration, then
// retained gradients are kept, then hooks before the node, the node, post-accumulate hooks of a
// leaf, and hooks after the node. Hooks that grad() needs run, too. Undefined gradients run none.
#pragma once

#include <functional>
#include <memory>

#include "opgen/autograd/autograd.h"

namespace opgen::autograd {

namespace internal {
struct HookTable;
}

// Takes a gradient and returns the one to go on with; undefined: the same.
using TensorHook = std::function<TensorBase(const TensorBase&)>;
// Takes the gradients of a node's outputs and returns others; none: the same.
using NodePreHook = std::function<Gradients(const Gradients&)>;
// Takes the gradients of a node's inputs, and those of its outputs; returns others for its inputs.
using NodePostHook = std::function<Gradients(const Gradients& inputs, const Gradients& outputs)>;
// Takes the leaf.
using LeafHook = std::function<void(const TensorBase&)>;

// Names a registered hook; does not own it.
class OPGEN_API HookHandle {
 public:
  HookHandle() = default;
  HookHandle(std::weak_ptr<internal::HookTable> table, std::uint64_t id) noexcept
      : table_(std::move(table)), id_(id) {}
  // Has no effect if the hook is gone already.
  void remove();

 private:
  std::weak_ptr<internal::HookTable> table_;
  std::uint64_t id_ = 0;
};

// Throws Error if the tensor requires no gradient. A hook stays with the value that the tensor has
// now: after an in-place change it still sees the gradient of the old value.
OPGEN_API HookHandle register_hook(const TensorBase& tensor, TensorHook hook);
OPGEN_API HookHandle register_pre_hook(Node& node, NodePreHook hook);
OPGEN_API HookHandle register_post_hook(Node& node, NodePostHook hook);
// Throws Error unless the tensor is a leaf that requires a gradient.
OPGEN_API HookHandle register_post_accumulate_grad_hook(const TensorBase& leaf, LeafHook hook);
// Makes backward() keep the gradient of a tensor that is no leaf, for grad_of(). In-place changes
// of the tensor take it along. Has no effect on a leaf.
OPGEN_API void retain_grad(const TensorBase& tensor);
[[nodiscard]] OPGEN_API bool retains_grad(const TensorBase& tensor) noexcept;

}  // namespace opgen::autograd
