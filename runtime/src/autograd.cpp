// autograd.cpp: histories of tensors, nodes, saved tensors and functions.
#include "opgen/autograd.h"

#include <atomic>
#include <memory>

#include "autograd_part.h"
#include "opgen/copy.h"
#include "opgen/factories.h"
#include "opgen/inplace_or_view.h"
#include "opgen/primitives.h"
#include "text.h"

namespace opgen::autograd {

using internal::autograd_of;
using internal::AutogradPart;
using internal::find_autograd;

namespace {

bool is_differentiable(ScalarType dtype) noexcept {
  return isFloatingType(dtype) || isComplexType(dtype);
}

// The node that adds gradients to a leaf. It owns the leaf; the leaf knows it weakly.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(TensorBase leaf) : leaf_(std::move(leaf)) { add_output(leaf_); }
  [[nodiscard]] std::string name() const override { return "AccumulateGrad"; }
  [[nodiscard]] Gradients apply(Gradients gradients) override {
    const TensorBase& gradient = gradients[0];
    if (!gradient.defined()) return {};
    AutogradPart& part = autograd_of(leaf_);
    std::lock_guard lock(part.mutex);
    part.grad = part.grad.defined() ? primitive::add(part.grad, gradient) : own(gradient);
    return {};
  }

 private:
  // Nobody else may see a gradient change when the user changes it in place.
  [[nodiscard]] static TensorBase own(const TensorBase& gradient) {
    if (requires_grad(gradient) || !gradient.has_storage()) return gradient;
    return opgen::detail::clone(gradient);
  }
  TensorBase leaf_;
};

}  // namespace

// ---- Tensors -----------------------------------------------------------------------------------

bool requires_grad(const TensorBase& tensor) noexcept {
  const AutogradPart* part = find_autograd(tensor);
  return part != nullptr && (part->requires_grad || part->grad_fn != nullptr);
}

void set_requires_grad(const TensorBase& tensor, bool value) {
  if (!value && !requires_grad(tensor)) return;
  OPGEN_CHECK(tensor.defined(), "an undefined tensor cannot require a gradient");
  OPGEN_CHECK(is_leaf(tensor), "whether a gradient is required can only be changed for a leaf; ",
              grad_fn(tensor)->name(), " made this tensor: detach() it first");
  OPGEN_CHECK(!value || is_differentiable(tensor.scalar_type()),
              "only tensors of floating-point and complex dtype can require gradients, not ",
              tensor.scalar_type());
  OPGEN_CHECK(!tensor.is_inference() || InferenceMode::is_enabled(),
              "a tensor made in inference mode cannot require a gradient; clone() it outside of "
              "the mode");
  autograd_of(tensor).requires_grad = value;
}

bool is_leaf(const TensorBase& tensor) noexcept {
  const AutogradPart* part = find_autograd(tensor);
  return part == nullptr || part->grad_fn == nullptr;
}

TensorBase grad_of(const TensorBase& tensor) {
  AutogradPart* part = find_autograd(tensor);
  if (part == nullptr) return {};
  std::lock_guard lock(part->mutex);
  return part->grad;
}

void set_grad(const TensorBase& tensor, const TensorBase& gradient) {
  OPGEN_CHECK(!gradient.defined() || gradient.sizes() == tensor.sizes(), "a gradient of sizes ",
              gradient.sizes(), " for a tensor of sizes ", tensor.sizes());
  AutogradPart& part = autograd_of(tensor);
  std::lock_guard lock(part.mutex);
  part.grad = gradient;
}

std::shared_ptr<Node> grad_fn(const TensorBase& tensor) noexcept {
  const AutogradPart* part = find_autograd(tensor);
  return part != nullptr ? part->grad_fn : nullptr;
}

TensorBase detach(const TensorBase& tensor) {
  if (!tensor.has_storage()) {
    OPGEN_CHECK(!requires_grad(tensor), "a tensor without storage cannot be detached");
    return tensor;
  }
  return opgen::detail::alias_with_sizes_and_strides(tensor, tensor.sizes(), tensor.strides(),
                                                     tensor.storage_offset());
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
}

Edge gradient_edge(const TensorBase& tensor) {
  AutogradPart* part = find_autograd(tensor);
  if (part == nullptr) return {};
  if (part->grad_fn != nullptr) return {part->grad_fn, part->output_nr};
  if (!part->requires_grad) return {};
  std::lock_guard lock(part->mutex);
  std::shared_ptr<Node> accumulator = part->accumulator.lock();
  if (accumulator == nullptr) {
    accumulator = make_node<AccumulateGrad>(tensor);
    part->accumulator = accumulator;
  }
  return {accumulator, 0};
}

void check_inplace(const TensorBase& tensor, std::string_view op) {
  if (!GradMode::is_enabled()) return;
  if (is_view(tensor)) {
    TensorBase base = view_base(tensor);
    OPGEN_CHECK(!(requires_grad(base) && is_leaf(base)), op,
                " would change a view of a leaf that requires a gradient in place");
    CreationMeta meta = creation_meta(tensor);
    OPGEN_CHECK(meta == CreationMeta::Default || !(requires_grad(tensor) || requires_grad(base)),
                op, " would change a view in place that was made ", toString(meta),
                ", where autograd cannot follow it; change a clone()");
    return;
  }
  OPGEN_CHECK(!(requires_grad(tensor) && is_leaf(tensor)), op,
              " would change a leaf that requires a gradient in place");
}

// ---- The graph ---------------------------------------------------------------------------------

namespace {

std::atomic<std::uint64_t> next_sequence_nr{0};
thread_local std::vector<Node*>* nodes_to_delete = nullptr;

}  // namespace

Node::Node() : sequence_nr_(next_sequence_nr.fetch_add(1, std::memory_order_relaxed)) {}
Node::~Node() = default;

std::uint32_t Node::add_output(const TensorBase& tensor) {
  outputs_.push_back({DimVector(tensor.sizes()), tensor.scalar_type(), tensor.device()});
  return static_cast<std::uint32_t>(outputs_.size() - 1);
}

void internal::delete_node(Node* node) noexcept {
  if (nodes_to_delete != nullptr) return nodes_to_delete->push_back(node);
  std::vector<Node*> queue{node};
  nodes_to_delete = &queue;
  while (!queue.empty()) {
    Node* next = queue.back();
    queue.pop_back();
    delete next;
  }
  nodes_to_delete = nullptr;
}

bool any_requires_grad(const std::vector<TensorBase>& tensors) noexcept {
  if (!GradMode::is_enabled()) return false;
  for (const TensorBase& tensor : tensors) {
    if (requires_grad(tensor)) return true;
  }
  return false;
}

void set_history(const TensorBase& tensor, const std::shared_ptr<Node>& node) {
  AutogradPart& part = autograd_of(tensor);
  part.output_nr = node->add_output(tensor);
  part.grad_fn = node;
}

SavedTensor::SavedTensor(const TensorBase& tensor, bool is_output) : is_output_(is_output) {
  if (!tensor.defined()) return;
  OPGEN_CHECK(!tensor.is_inference(),
              "a tensor made in inference mode cannot be saved for backward; clone() it outside of "
              "the mode");
  version_ = tensor._version();
  tensor_ = is_output ? detach(tensor) : tensor;
  if (is_output) output_nr_ = autograd_of(tensor).output_nr;
}

TensorBase SavedTensor::unpack(const std::shared_ptr<Node>& owner) const {
  if (!tensor_.defined()) return {};
  OPGEN_CHECK(tensor_._version() == version_, "a tensor of sizes ", tensor_.sizes(), " that ",
              owner->name(), " needs for its gradient was changed in place: it is at version ",
              tensor_._version(), ", it was saved at version ", version_);
  if (!is_output_) return tensor_;
  TensorBase output = detach(tensor_);
  AutogradPart& part = autograd_of(output);
  part.grad_fn = owner;
  part.output_nr = output_nr_;
  return output;
}

// ---- Functions ---------------------------------------------------------------------------------

bool AutogradContext::needs_input_grad(std::size_t i) const {
  const std::vector<Edge>& edges = node_->next_edges();
  OPGEN_CHECK_INDEX(i < edges.size(), "there is no tensor argument ", i, " of ", edges.size());
  return edges[i].is_valid();
}

std::vector<TensorBase> AutogradContext::unpack() const {
  bool released = false;
  const std::vector<SavedTensor> all = node_->saved(released);
  OPGEN_CHECK(!released, node_->name(),
              " runs backward a second time: what it saved is gone; say retain_graph the first "
              "time");
  std::vector<TensorBase> tensors;
  for (const SavedTensor& saved : all) {
    tensors.push_back(saved.unpack(node_->shared_from_this()));
  }
  return tensors;
}

namespace internal {

std::string function_name(const std::type_info& type) {
  std::string name = readable(type);
  return name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1) + "Backward";
}

FunctionNode::FunctionNode(std::string name) : name_(std::move(name)) {
  context.node_ = this;
}
FunctionNode::~FunctionNode() = default;

void FunctionNode::begin(const std::vector<TensorBase>& inputs, std::vector<bool> is_tensor) {
  is_tensor_ = std::move(is_tensor);
  inputs_ = inputs;
  recorded_ = any_requires_grad(inputs);
  for (const TensorBase& input : inputs) {
    add_next_edge(recorded_ ? gradient_edge(input) : Edge());
  }
}

namespace {

bool contains(const std::vector<TensorBase>& tensors, const TensorBase& tensor) noexcept {
  for (const TensorBase& each : tensors) {
    if (each.is_same(tensor)) return true;
  }
  return false;
}

}  // namespace

void FunctionNode::finish(const std::vector<TensorBase*>& outputs) {
  std::vector<TensorBase> dirty = std::move(context.dirty_);
  for (const TensorBase& tensor : dirty) {
    OPGEN_CHECK(contains(inputs_, tensor), name_, " marks a tensor dirty that is no input");
    if (recorded_) check_inplace(tensor, name_);
    OPGEN_CHECK_NOT_IMPLEMENTED(!recorded_ || !is_view(tensor), name_,
                                " changes a view in place: its base would need a new history");
    increment_version(tensor);
  }
  for (TensorBase* output : outputs) {
    if (!recorded_ || !output->defined()) continue;
    // An input that is handed on must not get another history.
    if (contains(inputs_, *output) && !contains(dirty, *output)) *output = detach(*output);
    if (is_view(*output)) set_creation_meta(*output, CreationMeta::InCustomFunction);
    if (is_differentiable(output->scalar_type()) &&
        !contains(context.non_differentiable_, *output)) {
      set_history(*output, shared_from_this());
    } else {
      add_output(*output);
    }
  }
  if (recorded_) {
    for (const TensorBase& tensor : context.to_save_) {
      bool is_output = tensor.defined() && grad_fn(tensor).get() == this;
      context.saved_.emplace_back(tensor, is_output);
    }
  }
  context.to_save_.clear();
  inputs_.clear();
}

Gradients FunctionNode::apply(Gradients gradients) {
  for (std::size_t i = 0; context.materialize_grads_ && i < gradients.size(); ++i) {
    if (gradients[i].defined()) continue;
    const Output& output = outputs()[i];
    gradients[i] = opgen::detail::full(output.sizes, 0,
                                       TensorOptions().dtype(output.dtype).device(output.device));
  }
  Gradients given = call_backward(std::move(gradients));
  OPGEN_CHECK(given.size() >= is_tensor_.size(), name_, " returned ", given.size(),
              " gradients for ", is_tensor_.size(), " arguments");
  Gradients result;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (i < is_tensor_.size() && is_tensor_[i]) {
      result.push_back(std::move(given[i]));
    } else {
      OPGEN_CHECK(!given[i].defined(), name_, " returned a gradient for argument ", i,
                  i < is_tensor_.size() ? ", which is no tensor" : ", which does not exist");
    }
  }
  return result;
}

void FunctionNode::release_saved() {
  std::vector<SavedTensor> released;  // goes without the lock: it may own other nodes
  std::lock_guard lock(mutex_);
  released.swap(context.saved_);
  context.released_ = true;
}

std::vector<SavedTensor> FunctionNode::saved(bool& released) {
  std::lock_guard lock(mutex_);
  released = context.released_;
  return context.saved_;
}

}  // namespace internal
}  // namespace opgen::autograd
