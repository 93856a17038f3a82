// autograd_part.h: AutogradPart, a tensor's record for gradients. Internal.
#pragma once

#include <memory>
#include <mutex>

#include "opgen/autograd/autograd.h"
#include "tensor/tensor_parts.h"

namespace opgen::autograd::internal {

// A gradient that backward() keeps: that of a leaf, or a retained one.
struct GradSlot {
  std::mutex mutex;
  TensorBase grad;
};

struct LeafState;  // defined in autograd.cpp

struct AutogradPart final : TensorPart {
  static constexpr TensorPartKind kKind = TensorPartKind::Autograd;
  ~AutogradPart() override;

  bool requires_grad = false;  // set for a leaf
  std::uint32_t output_nr = 0;
  Ref<Node> grad_fn;
  Atomic<LeafState*> leaf = nullptr;   // owned
  std::shared_ptr<GradSlot> retained;  // for a non-leaf tensor
};

[[nodiscard]] inline AutogradPart* find_autograd(const TensorBase& tensor) noexcept {
  return opgen::detail::find_part<AutogradPart>(tensor.unsafeGetTensorImpl());
}
[[nodiscard]] inline AutogradPart& autograd_of(const TensorBase& tensor) {
  return opgen::detail::part_of<AutogradPart>(tensor.unsafeGetTensorImpl());
}
// Makes operators look at the tensor: for one that gets a gradient, a tangent, or a base.
inline void track(const TensorBase& tensor) noexcept {
  tensor.unsafeGetTensorImpl()->set_tracked(true);
}
[[nodiscard]] inline bool is_differentiable(ScalarType dtype) noexcept {
  return isFloatingType(dtype) || isComplexType(dtype);
}
// Updates the tracking of a tensor that lost its gradient.
void update_tracking(const TensorBase& tensor) noexcept;
// Returns a tensor with the same bytes, sizes and strides, without any part.
[[nodiscard]] inline TensorBase bare_alias(const TensorBase& tensor) {
  return opgen::detail::alias_with_sizes_and_strides(tensor, tensor.sizes(), tensor.strides(),
                                                     tensor.storage_offset());
}
// Returns such a tensor with the same history.
[[nodiscard]] TensorBase alias_with_history(const TensorBase& tensor);

// The node that adds gradients to a leaf. It is part of the leaf and shares its count: an edge to
// it keeps the leaf alive.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(TensorImpl* leaf);
  [[nodiscard]] std::string name() const override { return "AccumulateGrad"; }
  [[nodiscard]] Gradients apply(Gradients gradients) override;
  [[nodiscard]] TensorImpl* leaf() const noexcept { return leaf_; }
  [[nodiscard]] TensorBase tensor() const noexcept {
    leaf_->retain();
    return TensorBase::adopt(leaf_);
  }

 private:
  TensorImpl* leaf_;
};

struct LeafState {
  explicit LeafState(TensorImpl* leaf) : accumulator(leaf) {}
  GradSlot slot;
  AccumulateGrad accumulator;
};
[[nodiscard]] LeafState& leaf_state(const TensorBase& leaf, AutogradPart& part);

// Gives the engine and the hooks access to a node's private members.
struct NodeAccess {
  static bool is_accumulator(const Node& node) noexcept { return node.counted_ != &node.count_; }
  static void share_count(Node& node, const RefCounted* count) noexcept { node.counted_ = count; }
  static Atomic<void*>& claimed_by(Node& node) noexcept { return node.claimed_by_; }
  static std::uint32_t& index(Node& node) noexcept { return node.index_; }
  static NodeExtras* extras(const Node& node) noexcept { return node.extras_.load_acquire(); }
  static Atomic<NodeExtras*>& extras_field(Node& node) noexcept { return node.extras_; }
  static void move_retained(const TensorBase& tensor, AutogradPart& part, Node& to);
};

}  // namespace opgen::autograd::internal
