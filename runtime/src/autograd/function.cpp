// function.cpp: autograd::Function: the node that calls the author's backward().
#include <memory>

#include "autograd/autograd_part.h"
#include "core/text.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/device/blocking.h"
#include "opgen/tensor/factories.h"

namespace opgen::autograd {

// ---- Functions ---------------------------------------------------------------------------------

bool AutogradContext::needs_input_grad(std::size_t i) const {
  const Edges& edges = node_->next_edges();
  OPGEN_CHECK_INDEX(i < edges.size(), "there is no tensor argument ", i, " of ", edges.size());
  return edges[i].is_valid();
}

std::vector<TensorBase> AutogradContext::unpack() const {
  bool released = false;
  const std::vector<SavedTensor> all = node_->saved(released);
  OPGEN_CHECK(!released, node_->name(),
              " runs backward a second time, but its saved tensors were freed; pass retain_graph "
              "the first time");
  std::vector<TensorBase> tensors;
  for (const SavedTensor& saved : all) {
    tensors.push_back(saved.unpack(*node_));
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
  for (const TensorBase& input : inputs) {
    if (has_tangent(input)) throw_no_forward_formula(name_);
  }
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
    OPGEN_CHECK(contains(inputs_, tensor), name_, " marks a tensor dirty that is not an input");
    if (recorded_) check_inplace(tensor, name_);
    OPGEN_CHECK_NOT_IMPLEMENTED(!recorded_ || !is_view(tensor) || tensor.is_same(inputs_[0]), name_,
                                " changes a view in place that is not its first tensor; then the "
                                "view's base would need a new history");
    increment_version(tensor);
  }
  for (TensorBase* output : outputs) {
    if (!recorded_ || !output->defined()) continue;
    // An input that is returned unchanged must keep its history.
    if (contains(inputs_, *output) && !contains(dirty, *output)) *output = detach(*output);
    const bool is_dirty = contains(dirty, *output);
    if (is_view(*output) && !is_dirty) {
      set_creation_meta(*output, CreationMeta::InCustomFunction);
    }
    if (is_differentiable(output->scalar_type()) &&
        !contains(context.non_differentiable_, *output)) {
      Ref<Node> node = Ref<Node>::share(this);
      is_dirty ? rebase_history(*output, std::move(node)) : set_history(*output, std::move(node));
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
                  i < is_tensor_.size() ? ", which is not a tensor" : ", which does not exist");
    }
  }
  return result;
}

void FunctionNode::release_saved() {
  std::vector<SavedTensor> released;  // destroyed without the lock: it may own other nodes
  const opgen::detail::Lock lock(mutex_);
  released.swap(context.saved_);
  context.released_ = true;
}

std::vector<SavedTensor> FunctionNode::saved(bool& released) {
  const opgen::detail::Lock lock(mutex_);
  released = context.released_;
  return context.saved_;
}

}  // namespace internal
}  // namespace opgen::autograd
