// hooks.h: functions that backward() calls: with the gradient of a tensor, before and after a node,
// and after a gradient was added to a leaf.
//
// The order at one node: the hooks of its outputs' tensors in the order of their registration, then
// retained gradients are kept, then hooks before the node, the node, post-accumulate hooks of a
// leaf, and hooks after the node. grad() runs the hooks on its way, too. Undefined gradients run no
// hooks.
#pragma once

#include <functional>
#include <memory>

#include "opgen/autograd/autograd.h"

namespace opgen::autograd {

namespace internal {
struct HookTable;
}

// Takes a gradient and returns its replacement; undefined keeps the gradient.
using TensorHook = std::function<TensorBase(const TensorBase&)>;
// Takes the gradients of a node's outputs and returns replacements; an empty list keeps them.
using NodePreHook = std::function<Gradients(const Gradients&)>;
// Takes the gradients of a node's inputs, and those of its outputs; returns replacements for those
// of its inputs.
using NodePostHook = std::function<Gradients(const Gradients& inputs, const Gradients& outputs)>;
// Takes the leaf.
using LeafHook = std::function<void(const TensorBase&)>;

// Refers to a registered hook, but does not own it.
class OPGEN_API HookHandle {
 public:
  HookHandle() = default;
  HookHandle(std::weak_ptr<internal::HookTable> table, std::uint64_t id) noexcept
      : table_(std::move(table)), id_(id) {}
  // Has no effect if the hook no longer exists.
  void remove();

 private:
  std::weak_ptr<internal::HookTable> table_;
  std::uint64_t id_ = 0;
};

// Throws Error if the tensor does not require a gradient. A hook stays with the value that the
// tensor has now: after an in-place change it still sees the gradient of the old value.
OPGEN_API HookHandle register_hook(const TensorBase& tensor, TensorHook hook);
OPGEN_API HookHandle register_pre_hook(Node& node, NodePreHook hook);
OPGEN_API HookHandle register_post_hook(Node& node, NodePostHook hook);
// Throws Error unless the tensor is a leaf that requires a gradient.
OPGEN_API HookHandle register_post_accumulate_grad_hook(const TensorBase& leaf, LeafHook hook);
// Makes backward() keep the gradient of a non-leaf tensor for grad_of(). After an in-place change,
// the gradient of the new value is kept. Has no effect on a leaf.
OPGEN_API void retain_grad(const TensorBase& tensor);
[[nodiscard]] OPGEN_API bool retains_grad(const TensorBase& tensor) noexcept;

}  // namespace opgen::autograd
