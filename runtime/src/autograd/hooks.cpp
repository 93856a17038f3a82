// hooks.cpp: registration of hooks, and their calls.
#include "opgen/autograd/hooks.h"

#include <algorithm>

#include "autograd/node_extras.h"
#include "opgen/device/blocking.h"

namespace opgen::autograd {

namespace internal {

NodeExtras& extras_of(Node& node) {
  if (NodeExtras* there = NodeAccess::extras(node)) return *there;
  auto made = std::make_unique<NodeExtras>();
  NodeExtras* there = NodeAccess::extras_field(node).replace_null(made.get());
  return there == nullptr ? *made.release() : *there;
}

std::shared_ptr<HookTable> find_hooks(const Node& node) {
  NodeExtras* extras = NodeAccess::extras(node);
  if (extras == nullptr) return nullptr;
  const opgen::detail::Lock lock(extras->mutex);
  return extras->hooks;
}

HookTable& hooks_of(Node& node) {
  NodeExtras& extras = extras_of(node);
  const opgen::detail::Lock lock(extras.mutex);
  if (extras.hooks == nullptr) extras.hooks = std::make_shared<HookTable>();
  return *extras.hooks;
}

namespace {

void check_same_form(const Node& node, const TensorBase& before, const TensorBase& after) {
  OPGEN_CHECK(after.sizes() == before.sizes(), "a hook of ", node.name(),
              " changed the sizes of a gradient from ", before.sizes(), " to ", after.sizes());
  OPGEN_CHECK(after.scalar_type() == before.scalar_type(), "a hook of ", node.name(),
              " changed the dtype of a gradient from ", before.scalar_type(), " to ",
              after.scalar_type());
  OPGEN_CHECK(after.device() == before.device(), "a hook of ", node.name(),
              " changed the device of a gradient from ", before.device(), " to ", after.device());
}

void replace(const Node& node, Gradients& gradients, Gradients given) {
  if (given.empty()) return;
  OPGEN_CHECK(given.size() == gradients.size(), "a hook of ", node.name(), " returned ",
              given.size(), " gradients instead of ", gradients.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].defined() && gradients[i].defined()) {
      check_same_form(node, gradients[i], given[i]);
    }
  }
  gradients = std::move(given);
}

// Hooks run without the lock, because they may register and remove hooks.
template <class List>
List copy_of(std::mutex& mutex, const List& list) {
  const opgen::detail::Lock lock(mutex);
  return list;
}

template <class List, class F>
HookHandle add(Node& node, List HookTable::*list, std::uint32_t output_nr, F hook) {
  OPGEN_CHECK(hook != nullptr, "a hook must be a function");
  static_cast<void>(hooks_of(node));  // makes them
  const std::shared_ptr<HookTable> table = find_hooks(node);
  const opgen::detail::Lock lock(table->mutex);
  ((*table).*list).push_back({table->next_id, output_nr, std::move(hook)});
  return {table, table->next_id++};
}

// Moves the item of which is_meant() is true, if there is one, to `taken`. The caller destroys it
// without the lock, because it may own a Python object.
template <class List, class F>
void take_out(List& list, List& taken, const F& is_meant) {
  const auto found = std::find_if(list.begin(), list.end(), is_meant);
  if (found == list.end()) return;
  taken.push_back(std::move(*found));
  list.erase(found);
}

}  // namespace

void run_tensor_hooks(HookTable& table, const Node& node, Gradients& gradients) {
  for (const auto& hook : copy_of(table.mutex, table.tensor)) {
    TensorBase& gradient = gradients[hook.output_nr];
    if (!gradient.defined()) continue;
    TensorBase given = hook.run(gradient);
    if (!given.defined()) continue;
    check_same_form(node, gradient, given);
    gradient = std::move(given);
  }
  for (const auto& kept : copy_of(table.mutex, table.retained)) {
    if (!gradients[kept.output_nr].defined()) continue;
    TensorBase old = gradients[kept.output_nr];
    const opgen::detail::Lock lock(kept.slot->mutex);
    std::swap(kept.slot->grad, old);
  }
}

void run_pre_hooks(HookTable& table, const Node& node, Gradients& gradients) {
  for (const auto& hook : copy_of(table.mutex, table.pre)) {
    replace(node, gradients, hook.run(gradients));
  }
}

void run_post_hooks(HookTable& table, const Node& node, Gradients& results,
                    const Gradients& gradients) {
  for (const auto& hook : copy_of(table.mutex, table.post)) {
    replace(node, results, hook.run(results, gradients));
  }
}

void run_leaf_hooks(HookTable& table, const TensorBase& leaf) {
  for (const auto& hook : copy_of(table.mutex, table.accumulated)) hook.run(leaf);
}

void NodeAccess::move_retained(const TensorBase&, AutogradPart& part, Node& to) {
  if (part.grad_fn.get() != nullptr) {
    if (std::shared_ptr<HookTable> table = find_hooks(*part.grad_fn)) {
      HookTable removed;
      const opgen::detail::Lock lock(table->mutex);
      take_out(table->retained, removed.retained,
               [&](const auto& kept) { return kept.slot == part.retained; });
    }
  }
  HookTable& table = hooks_of(to);
  const opgen::detail::Lock lock(table.mutex);
  table.retained.push_back({part.output_nr, part.retained});
}

}  // namespace internal

using internal::HookTable;

void HookHandle::remove() {
  std::shared_ptr<HookTable> table = table_.lock();
  table_.reset();
  if (table == nullptr) return;
  HookTable removed;
  const auto is_mine = [&](const auto& hook) { return hook.id == id_; };
  const opgen::detail::Lock lock(table->mutex);
  internal::take_out(table->tensor, removed.tensor, is_mine);
  internal::take_out(table->pre, removed.pre, is_mine);
  internal::take_out(table->post, removed.post, is_mine);
  internal::take_out(table->accumulated, removed.accumulated, is_mine);
}

HookHandle register_hook(const TensorBase& tensor, TensorHook hook) {
  const Edge edge = gradient_edge(tensor);
  OPGEN_CHECK(edge.is_valid(), "a tensor that does not require a gradient cannot have a hook");
  return internal::add(*edge.function, &HookTable::tensor, edge.input_nr, std::move(hook));
}
HookHandle register_pre_hook(Node& node, NodePreHook hook) {
  return internal::add(node, &HookTable::pre, 0, std::move(hook));
}
HookHandle register_post_hook(Node& node, NodePostHook hook) {
  return internal::add(node, &HookTable::post, 0, std::move(hook));
}
HookHandle register_post_accumulate_grad_hook(const TensorBase& leaf, LeafHook hook) {
  const Edge edge = gradient_edge(leaf);
  OPGEN_CHECK(edge.is_valid() && is_leaf(leaf),
              "only a leaf that requires a gradient can have a hook that runs after its gradient "
              "has grown");
  return internal::add(*edge.function, &HookTable::accumulated, 0, std::move(hook));
}

void retain_grad(const TensorBase& tensor) {
  const Edge edge = gradient_edge(tensor);
  OPGEN_CHECK(edge.is_valid(), "a tensor that does not require a gradient cannot retain one");
  internal::AutogradPart& part = internal::autograd_of(tensor);
  if (part.grad_fn.get() == nullptr || part.retained != nullptr) return;
  part.retained = std::make_shared<internal::GradSlot>();
  HookTable& table = internal::hooks_of(*edge.function);
  const opgen::detail::Lock lock(table.mutex);
  table.retained.push_back({edge.input_nr, part.retained});
}
bool retains_grad(const TensorBase& tensor) noexcept {
  const internal::AutogradPart* part = internal::find_autograd(tensor);
  return part != nullptr && part->retained != nullptr;
}

}  // namespace opgen::autograd
