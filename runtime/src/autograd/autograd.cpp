// autograd.cpp: histories of tensors, nodes and saved tensors.
#include "opgen/autograd/autograd.h"

#include <memory>

#include "autograd/node_extras.h"
#include "autograd/view_history.h"
#include "autograd/view_part.h"
#include "core/pool.h"
#include "opgen/autograd/anomaly.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/autograd/primitives.h"
#include "opgen/device/blocking.h"
#include "opgen/tensor/copy.h"

namespace opgen::autograd {

using internal::autograd_of;
using internal::AutogradPart;
using internal::find_autograd;
using internal::is_differentiable;
using internal::NodeAccess;

// ---- Leaves ------------------------------------------------------------------------------------

namespace internal {

AutogradPart::~AutogradPart() {
  delete leaf.load_relaxed();
}

AccumulateGrad::AccumulateGrad(TensorImpl* leaf) : leaf_(leaf) {
  NodeAccess::share_count(*this, leaf);
  leaf->retain();
  add_output(TensorBase::adopt(leaf));
}

namespace {

// Returns the gradient, or a copy if it has other owners, so that a user who changes the gradient
// in place does not change another tensor.
TensorBase own(TensorBase gradient) {
  if (requires_grad(gradient) || !gradient.has_storage()) return gradient;
  if (primitive::is_unshared(gradient)) return gradient;
  return opgen::detail::clone(gradient);
}

}  // namespace

Gradients AccumulateGrad::apply(Gradients gradients) {
  TensorBase gradient = std::move(gradients[0]);
  if (!gradient.defined()) return {};
  const TensorBase leaf = tensor();
  GradSlot& slot = autograd_of(leaf).leaf.load_acquire()->slot;
  TensorBase replaced;
  const opgen::detail::Lock lock(slot.mutex);
  if (!slot.grad.defined()) {
    slot.grad = own(std::move(gradient));
  } else if (GradMode::is_enabled() || !primitive::add_in_place(slot.grad, gradient)) {
    replaced = primitive::add(slot.grad, gradient);
    std::swap(slot.grad, replaced);
  }
  return {};
}

LeafState& leaf_state(const TensorBase& leaf, AutogradPart& part) {
  if (LeafState* there = part.leaf.load_acquire()) return *there;
  auto made = std::make_unique<LeafState>(leaf.unsafeGetTensorImpl());
  LeafState* there = part.leaf.replace_null(made.get());
  return there == nullptr ? *made.release() : *there;
}

TensorBase alias_with_history(const TensorBase& tensor) {
  TensorBase alias = bare_alias(tensor);
  if (Edge edge = gradient_edge(tensor); edge.is_valid()) {
    AutogradPart& part = autograd_of(alias);
    part.output_nr = edge.input_nr;
    part.grad_fn = std::move(edge.function);
    track(alias);
  }
  mark_view(alias, tensor, CreationMeta::Default);
  ViewPart& view = *find_view(alias);
  view.has_tangent_base = false;
  view.tangent_base.reset();
  return alias;
}

}  // namespace internal

namespace internal {
void update_tracking(const TensorBase& tensor) noexcept {
  tensor.unsafeGetTensorImpl()->set_tracked(find_view(tensor) != nullptr || has_tangent(tensor) ||
                                            requires_grad(tensor));
}
}  // namespace internal

// ---- Tensors -----------------------------------------------------------------------------------

bool requires_grad(const TensorBase& tensor) noexcept {
  if (tensor.unsafeGetTensorImpl()->parts() == nullptr) return false;
  const AutogradPart* part = find_autograd(tensor);
  if (part != nullptr && (part->requires_grad || part->grad_fn.get() != nullptr)) return true;
  const ViewPart* view = find_view(tensor);
  return view != nullptr && internal::follows_base(tensor, *view) && requires_grad(view->base);
}

void set_requires_grad(const TensorBase& tensor, bool value) {
  if (!value && !requires_grad(tensor)) return;
  OPGEN_CHECK(tensor.defined(), "an undefined tensor cannot require a gradient");
  OPGEN_CHECK(is_leaf(tensor), "requires_grad can only be changed for a leaf; ",
              grad_fn(tensor)->name(), " made this tensor: detach() it first");
  OPGEN_CHECK(!value || is_differentiable(tensor.scalar_type()),
              "only tensors of floating-point and complex dtype can require gradients, not ",
              tensor.scalar_type());
  OPGEN_CHECK(!tensor.is_inference() || InferenceMode::is_enabled(),
              "a tensor made in inference mode cannot require a gradient; clone() it outside of "
              "the mode");
  autograd_of(tensor).requires_grad = value;
  internal::update_tracking(tensor);
}

bool is_leaf(const TensorBase& tensor) {
  return grad_fn(tensor).get() == nullptr;
}

TensorBase grad_of(const TensorBase& tensor) {
  AutogradPart* part = find_autograd(tensor);
  if (part == nullptr) return {};
  internal::LeafState* leaf = part->leaf.load_acquire();
  internal::GradSlot* slot = leaf != nullptr ? &leaf->slot : part->retained.get();
  if (slot == nullptr) return {};
  const opgen::detail::Lock lock(slot->mutex);
  return slot->grad;
}

void set_grad(const TensorBase& tensor, const TensorBase& gradient) {
  OPGEN_CHECK(!gradient.defined() || gradient.sizes() == tensor.sizes(),
              "cannot set a gradient of sizes ", gradient.sizes(), " for a tensor of sizes ",
              tensor.sizes());
  AutogradPart& part = autograd_of(tensor);
  internal::GradSlot& slot =
      part.retained != nullptr ? *part.retained : internal::leaf_state(tensor, part).slot;
  TensorBase old = gradient;
  const opgen::detail::Lock lock(slot.mutex);
  std::swap(slot.grad, old);
}

Ref<Node> grad_fn(const TensorBase& tensor) {
  if (tensor.unsafeGetTensorImpl()->parts() == nullptr) return {};
  internal::update_view_history(tensor);
  const AutogradPart* part = find_autograd(tensor);
  return part != nullptr ? part->grad_fn : nullptr;
}

TensorBase detach(const TensorBase& tensor) {
  if (!tensor.has_storage()) {
    OPGEN_CHECK(!requires_grad(tensor), "a tensor without storage cannot be detached");
    return tensor;
  }
  return internal::bare_alias(tensor);
}

void detach_(const TensorBase& tensor) {
  AutogradPart* part = find_autograd(tensor);
  const bool is_followed =
      is_view(tensor) && (requires_grad(tensor) || requires_grad(view_base(tensor)));
  OPGEN_CHECK(!is_followed, "a view cannot be detached in place: use detach()");
  if (part == nullptr) return;
  part->requires_grad = false;
  part->grad_fn = nullptr;
  part->output_nr = 0;
  part->retained = nullptr;
  internal::update_tracking(tensor);
}

Edge gradient_edge(const TensorBase& tensor) {
  if (tensor.unsafeGetTensorImpl()->parts() == nullptr) return {};
  internal::update_view_history(tensor);
  AutogradPart* part = find_autograd(tensor);
  if (part == nullptr) return {};
  if (part->grad_fn.get() != nullptr) return {part->grad_fn, part->output_nr};
  if (!part->requires_grad) return {};
  return {Ref<Node>::share(&internal::leaf_state(tensor, *part).accumulator), 0};
}

void check_inplace(const TensorBase& tensor, std::string_view op) {
  if (!GradMode::is_enabled()) return;
  if (is_view(tensor)) {
    TensorBase base = view_base(tensor);
    OPGEN_CHECK(!(requires_grad(base) && is_leaf(base)), op,
                " would change a view of a leaf that requires a gradient in place");
    CreationMeta meta = creation_meta(tensor);
    OPGEN_CHECK(meta == CreationMeta::Default || !(requires_grad(tensor) || requires_grad(base)),
                op, " would change in place a view that was made ", toString(meta),
                ", where autograd cannot record it; change a clone()");
    return;
  }
  OPGEN_CHECK(!(requires_grad(tensor) && is_leaf(tensor)), op,
              " would change a leaf that requires a gradient in place");
}

// ---- The graph ---------------------------------------------------------------------------------

namespace {

thread_local constinit std::uint64_t next_sequence_nr OPGEN_TLS = 0;

// The nodes that this thread must delete, linked through the field that backward() uses.
struct Deletion {
  bool runs;
  Node* first;
};
thread_local constinit Deletion deletion OPGEN_TLS = {};

}  // namespace

Node::Node() : sequence_nr_(next_sequence_nr++) {
  if (OPGEN_UNLIKELY(is_anomaly_enabled())) internal::note_forward_call(*this);
}
Node::~Node() {
  if (OPGEN_UNLIKELY(extras_.load_relaxed() != nullptr)) delete extras_.load_relaxed();
}
void* Node::operator new(std::size_t size) {
  return opgen::detail::pool_allocate(size);
}
void Node::operator delete(void* block, std::size_t size) noexcept {
  opgen::detail::pool_free(block, size);
}

std::uint32_t Node::add_output(const TensorBase& tensor) {
  outputs_.emplace_back(Output{DimVector(tensor.sizes()), tensor.scalar_type(),
                               tensor.unsafeGetTensorImpl()->device()});
  return static_cast<std::uint32_t>(outputs_.size() - 1);
}

void Node::destroy(Node* node) noexcept {
  if (OPGEN_UNLIKELY(NodeAccess::is_accumulator(*node))) {
    return TensorImpl::destroy(static_cast<internal::AccumulateGrad*>(node)->leaf());
  }
  Deletion& mine = deletion;
  node->claimed_by_.store_relaxed(mine.first);
  mine.first = node;
  if (mine.runs) return;
  mine.runs = true;
  while (mine.first != nullptr) {
    Node* next = mine.first;
    mine.first = static_cast<Node*>(next->claimed_by_.load_relaxed());
    delete next;
  }
  mine.runs = false;
}

bool any_requires_grad(ArrayRef<TensorBase> tensors) noexcept {
  if (!GradMode::is_enabled()) return false;
  for (const TensorBase& tensor : tensors) {
    if (requires_grad(tensor)) return true;
  }
  return false;
}

void set_history(const TensorBase& tensor, Ref<Node> node) {
  AutogradPart& part = autograd_of(tensor);
  part.output_nr = node->add_output(tensor);
  if (OPGEN_UNLIKELY(part.retained != nullptr)) NodeAccess::move_retained(tensor, part, *node);
  part.grad_fn = std::move(node);
  internal::track(tensor);
}

SavedTensor::SavedTensor(const TensorBase& tensor, bool is_output) : is_output_(is_output) {
  if (!tensor.defined()) return;
  OPGEN_CHECK(!tensor.is_inference(),
              "a tensor made in inference mode cannot be saved for backward; clone() it outside of "
              "the mode");
  version_ = tensor.unsafeGetTensorImpl()->version();
  if (!is_output) {
    tensor_ = tensor;
    return;
  }
  tensor_ = detach(tensor);
  output_nr_ = autograd_of(tensor).output_nr;
  if (has_tangent(tensor)) set_tangent(tensor_, tangent_of(tensor));
}

TensorBase SavedTensor::unpack(Node& owner) const {
  if (OPGEN_UNLIKELY(tensor_.unsafeGetTensorImpl()->version() != version_)) throw_changed(owner);
  return OPGEN_LIKELY(!is_output_) || !tensor_.defined() ? tensor_ : unpack_output(owner);
}

void SavedTensor::throw_changed(const Node& owner) const {
  OPGEN_CHECK(false, "a tensor of sizes ", tensor_.sizes(), " that ", owner.name(),
              " needs for its gradient was changed in place: it is at version ", tensor_._version(),
              ", but was saved at version ", version_);
  __builtin_unreachable();
}

TensorBase SavedTensor::unpack_output(Node& owner) const {
  TensorBase output = detach(tensor_);
  AutogradPart& part = autograd_of(output);
  part.grad_fn = Ref<Node>::share(&owner);
  internal::track(output);
  part.output_nr = output_nr_;
  if (has_tangent(tensor_)) set_tangent(output, tangent_of(tensor_));
  return output;
}

}  // namespace opgen::autograd
