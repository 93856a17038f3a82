// engine.cpp: backward() and grad(). A node runs when its gradients are complete, later nodes
// first, on the calling thread.
#include <algorithm>
#include <unordered_map>

#include "autograd/node_extras.h"
#include "opgen/autograd/anomaly.h"
#include "opgen/autograd/primitives.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen::autograd {

namespace internal {
thread_local constinit bool selective_backward OPGEN_TLS = false;
}

namespace {

using internal::NodeAccess;

struct NodeState {
  Node* node;
  std::uint32_t waits_for = 0;  // number of edges whose gradient is missing
  std::uint32_t first = 0;      // index of its first gradient among all gradients
  bool claimed = false;         // the node stores the index of this state
  bool is_target = false;       // one of grad()'s inputs
  bool wanted = true;           // it is an input of grad(), or leads to one
  bool runs = true;             // it leads to a wanted node
  bool met = false;             // used while nodes are ordered
};

struct Ready {
  std::uint64_t sequence_nr;
  std::uint32_t index;
  [[nodiscard]] bool operator<(const Ready& other) const noexcept {
    return sequence_nr < other.sequence_nr;
  }
};

// One run of backward() or grad(). The edges of the roots keep the nodes alive. A node stores the
// index of its state, which costs less than a look-up in a table. Only one backward() at a time can
// use that index. If another one, on another thread or nested in this one, meets the same node, it
// uses a table instead.
class Run {
 public:
  // `targets` are the edges of grad()'s inputs; empty for backward().
  Run(const Edges& roots, const Edges& targets, bool retain_graph, bool accumulates)
      : targets_(targets), retain_graph_(retain_graph), selective_(!accumulates) {
    captured_.resize(targets.size());
    try {
      visit(roots);
      if (selective_) mark_wanted();
    } catch (...) {
      release();
      throw;
    }
  }
  ~Run() { release(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void deliver(const Edge& edge, TensorBase gradient) {
    deliver(state_of(*edge.function), edge.input_nr, std::move(gradient));
  }

  Gradients run(const Edges& roots) {
    for (const Edge& root : roots) {
      const std::uint32_t i = index_of(*root.function);
      NodeState& state = states_[i];
      // A root that is given twice becomes ready only once.
      if (state.waits_for != 0 || !state.met) continue;
      state.met = false;
      enqueue(i);
    }
    while (!ready_.empty()) {
      std::pop_heap(ready_.begin(), ready_.end());
      const std::uint32_t i = ready_.back().index;
      ready_.pop_back();
      run_node(i);
    }
    return std::move(captured_);
  }

  [[nodiscard]] bool is_selective() const noexcept { return selective_; }
  [[nodiscard]] bool retains_graph() const noexcept { return retain_graph_; }
  [[nodiscard]] bool is_wanted(Node& node) const noexcept {
    const std::uint32_t i = find(node);
    return i == kNone || states_[i].wanted;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t(0);

  [[nodiscard]] std::uint32_t find(Node& node) const noexcept {
    if (OPGEN_LIKELY(NodeAccess::claimed_by(node).load_relaxed() == this)) {
      return NodeAccess::index(node);
    }
    const auto found = elsewhere_.find(&node);
    return found != elsewhere_.end() ? found->second : kNone;
  }
  [[nodiscard]] std::uint32_t index_of(Node& node) const noexcept { return find(node); }
  [[nodiscard]] NodeState& state_of(Node& node) noexcept { return states_[find(node)]; }

  // Returns the index of the node's state, which is the last one if the node is new.
  std::uint32_t meet(Node& node) {
    Atomic<void*>& claimed_by = NodeAccess::claimed_by(node);
    if (claimed_by.load_relaxed() == this) return NodeAccess::index(node);
    const auto index = static_cast<std::uint32_t>(states_.size());
    // A node in the table stays there, although the other backward() may have ended.
    if (OPGEN_UNLIKELY(!elsewhere_.empty())) {
      const auto found = elsewhere_.find(&node);
      if (found != elsewhere_.end()) return found->second;
    }
    const bool claimed = claimed_by.replace_null(this) == nullptr;
    if (OPGEN_LIKELY(claimed)) {
      NodeAccess::index(node) = index;
    } else {
      elsewhere_.emplace(&node, index);
    }
    NodeState& state = states_.emplace_back(NodeState{&node});
    state.claimed = claimed;
    state.met = true;
    state.first = gradient_count_;
    gradient_count_ += static_cast<std::uint32_t>(node.outputs().size());
    return index;
  }

  // Uses the list of states as a queue instead of recursion, because a chain may be long.
  void visit(const Edges& roots) {
    for (const Edge& root : roots) meet(*root.function);
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      for (const Edge& edge : states_[i].node->next_edges()) {
        if (edge.is_valid()) ++states_[meet(*edge.function)].waits_for;
      }
    }
    gradients_.resize(gradient_count_);
  }

  // Marks nodes in order, from those without successors to the roots.
  void mark_wanted() {
    for (NodeState& state : states_) state.wanted = state.runs = false;
    for (const Edge& target : targets_) {
      const std::uint32_t i = find(*target.function);
      if (i != kNone) states_[i].wanted = states_[i].is_target = true;
    }
    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> waits_for;
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      waits_for.push_back(states_[i].waits_for);
      if (states_[i].waits_for == 0) order.push_back(i);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const Edge& edge : states_[order[i]].node->next_edges()) {
        if (!edge.is_valid()) continue;
        const std::uint32_t next = find(*edge.function);
        if (--waits_for[next] == 0) order.push_back(next);
      }
    }
    for (std::size_t i = order.size(); i-- > 0;) {
      NodeState& state = states_[order[i]];
      for (const Edge& edge : state.node->next_edges()) {
        if (edge.is_valid() && state_of(*edge.function).wanted) state.wanted = state.runs = true;
      }
    }
  }

  void enqueue(std::uint32_t i) {
    Node& node = *states_[i].node;
    // Gradients of leaves are finished once complete.
    if (NodeAccess::is_accumulator(node)) return run_node(i);
    ready_.push_back({node.sequence_nr(), i});
    std::push_heap(ready_.begin(), ready_.end());
  }

  void deliver(NodeState& state, std::uint32_t input_nr, TensorBase gradient) {
    if (!gradient.defined()) return;
    TensorBase& sum = gradients_[state.first + input_nr];
    if (!sum.defined()) {
      sum = std::move(gradient);
    } else if (GradMode::is_enabled() || !primitive::is_unshared(sum) ||
               !primitive::add_in_place(sum, gradient)) {
      sum = primitive::add(sum, gradient);
    }
  }

  void run_node(std::uint32_t index) {
    Node& node = *states_[index].node;
    const bool runs = states_[index].runs;
    Gradients gradients;
    bool any = false;
    TensorBase* given = gradients_.data() + states_[index].first;
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      any |= given[i].defined();
      gradients.emplace_back(std::move(given[i]));
    }
    std::shared_ptr<internal::HookTable> hooks;
    if (OPGEN_UNLIKELY(NodeAccess::extras(node) != nullptr) && any) {
      hooks = internal::find_hooks(node);
      if (hooks != nullptr) internal::run_tensor_hooks(*hooks, node, gradients);
    }
    if (OPGEN_UNLIKELY(states_[index].is_target)) capture(node, gradients);
    Gradients results;
    if (runs && any) {
      results = OPGEN_UNLIKELY(hooks != nullptr || is_anomaly_enabled())
                    ? apply_with_extras(node, hooks.get(), std::move(gradients))
                    : apply(node, std::move(gradients));
      if (!retain_graph_) node.release_saved();
    }
    const Edges& edges = node.next_edges();
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = edges[i];
      if (!edge.is_valid()) continue;
      const std::uint32_t next = index_of(*edge.function);
      NodeState& state = states_[next];
      if (!state.wanted) continue;
      if (i < results.size() && results[i].defined()) {
        deliver(state, edge.input_nr, fitted(std::move(results[i]), edge, node, i));
      }
      if (--state.waits_for == 0) enqueue(next);
    }
  }

  void capture(const Node& node, const Gradients& gradients) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].function.get() == &node) captured_[i] = gradients[targets_[i].input_nr];
    }
  }

  static Gradients apply(Node& node, Gradients gradients) {
    Gradients results = node.apply(std::move(gradients));
    OPGEN_CHECK(results.size() == node.next_edges().size(), node.name(), " gave ", results.size(),
                " gradients for ", node.next_edges().size(), " inputs");
    return results;
  }

  static Gradients apply_with_extras(Node& node, internal::HookTable* hooks, Gradients gradients);

  // Returns the gradient with the shape and dtype of the output to which it belongs: sums over
  // broadcast dimensions, and converts the dtype.
  static TensorBase fitted(TensorBase gradient, const Edge& edge, const Node& from,
                           std::size_t index) {
    if (OPGEN_UNLIKELY(NodeAccess::is_accumulator(*edge.function))) {
      // The leaf's sizes may have changed since its accumulator was made.
      const TensorImpl& leaf = *static_cast<internal::AccumulateGrad*>(edge.function.get())->leaf();
      return fitted(std::move(gradient), leaf.sizes(), leaf.dtype(), leaf.device(), from, index);
    }
    const Node::Output& output = edge.function->outputs()[edge.input_nr];
    return fitted(std::move(gradient), output.sizes, output.dtype, output.device, from, index);
  }
  static TensorBase fitted(TensorBase gradient, IntArrayRef sizes, ScalarType dtype, Device device,
                           const Node& from, std::size_t index) {
    if (OPGEN_UNLIKELY(gradient.sizes() != sizes)) {
      OPGEN_CHECK(opgen::is_expandable_to(sizes, gradient.sizes()), from.name(),
                  " returned a gradient of sizes ", gradient.sizes(), " at position ", index,
                  " for an input of sizes ", sizes);
      gradient = primitive::sum_to(gradient, sizes);
    }
    if (OPGEN_UNLIKELY(gradient.scalar_type() != dtype)) {
      gradient = primitive::cast(gradient, dtype);
    }
    // A gradient of one element may be on the CPU.
    OPGEN_CHECK(gradient.unsafeGetTensorImpl()->device() == device || gradient.dim() == 0,
                from.name(), " returned a gradient on ", gradient.device(), " at position ", index,
                " for an input on ", device);
    return gradient;
  }

  void release() noexcept {
    for (const NodeState& state : states_) {
      if (state.claimed) NodeAccess::claimed_by(*state.node).store_release(nullptr);
    }
  }

  const Edges& targets_;
  bool retain_graph_;
  bool selective_;
  std::uint32_t gradient_count_ = 0;
  Gradients captured_;
  SmallVector<NodeState, 8> states_;
  SmallVector<TensorBase, 8> gradients_;
  SmallVector<Ready, 8> ready_;  // a heap
  std::unordered_map<const Node*, std::uint32_t> elsewhere_;
};

// The state of this thread's innermost backward().
struct Current {
  const Run* run;
  const Node* node;
  int depth;
};
thread_local constinit Current current OPGEN_TLS = {};

Gradients Run::apply_with_extras(Node& node, internal::HookTable* hooks, Gradients gradients) {
  const bool is_anomaly = is_anomaly_enabled();
  if (hooks != nullptr) internal::run_pre_hooks(*hooks, node, gradients);
  struct Restore {
    const Node* outer = current.node;
    ~Restore() { current.node = outer; }
  } restore;
  current.node = &node;
  Gradients results;
  const Gradients kept = hooks != nullptr ? gradients : Gradients();
  try {
    results = apply(node, std::move(gradients));
  } catch (...) {
    if (is_anomaly) internal::rethrow_with_forward_call(node);
    throw;
  }
  if (is_anomaly && anomaly_checks_nan()) internal::check_no_nan(node, results);
  if (hooks == nullptr) return results;
  if (NodeAccess::is_accumulator(node)) {
    internal::run_leaf_hooks(*hooks, static_cast<internal::AccumulateGrad&>(node).tensor());
  }
  internal::run_post_hooks(*hooks, node, results, kept);
  return results;
}

// A backward() that a function's own backward() calls runs on the same stack.
class Nested {
 public:
  explicit Nested(const Run& run) : outer_(current), was_selective_(internal::selective_backward) {
    current = {&run, nullptr, outer_.depth + 1};
    internal::selective_backward = run.is_selective();
  }
  ~Nested() {
    current = outer_;
    internal::selective_backward = was_selective_;
  }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  Current outer_;
  bool was_selective_;
};

TensorBase root_gradient(const TensorBase& root, const TensorBase& gradient) {
  if (!gradient.defined()) {
    OPGEN_CHECK(
        root.numel() == 1, "a tensor of sizes ", root.sizes(),
        " needs a weight for backward(): only a tensor of one element has a default weight");
    return opgen::detail::full(root.sizes(), 1, root.options());
  }
  OPGEN_CHECK(gradient.sizes() == root.sizes(), "cannot use a gradient of sizes ", gradient.sizes(),
              " for a tensor of sizes ", root.sizes());
  return gradient;
}

Gradients run(const std::vector<TensorBase>& tensors, const Gradients& gradients,
              const Edges& targets, bool retain_graph, bool create_graph, bool accumulates) {
  OPGEN_CHECK(gradients.empty() || gradients.size() == tensors.size(), gradients.size(),
              " gradients for ", tensors.size(), " tensors");
  constexpr int kMostNested = 100;
  OPGEN_CHECK(current.depth < kMostNested, "backward() was called by functions' own backward() ",
              kMostNested, " deep");
  Edges roots;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    roots.push_back(gradient_edge(tensors[i]));
    OPGEN_CHECK(roots.back().is_valid(), "tensor ", i,
                " does not require a gradient: no recorded operator made it");
  }
  AutoGradMode mode(create_graph);
  Run run(roots, targets, retain_graph, accumulates);
  const Nested nested(run);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    run.deliver(roots[i],
                root_gradient(tensors[i], gradients.empty() ? TensorBase() : gradients[i]));
  }
  return run.run(roots);
}

}  // namespace

const Node* internal::running_node() noexcept {
  return current.node;
}

bool Node::leads_to_wanted(std::size_t i) const noexcept {
  return current.run == nullptr || current.run->is_wanted(*next_edges_[i].function);
}

bool retains_graph() noexcept {
  return current.run != nullptr && current.run->retains_graph();
}

void backward(const std::vector<TensorBase>& tensors, const Gradients& gradients, bool retain_graph,
              bool create_graph) {
  run(tensors, gradients, {}, retain_graph || create_graph, create_graph, true);
}

Gradients grad(const std::vector<TensorBase>& outputs, const std::vector<TensorBase>& inputs,
               const Gradients& gradients, bool retain_graph, bool create_graph,
               bool allow_unused) {
  Edges targets;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    targets.push_back(gradient_edge(inputs[i]));
    OPGEN_CHECK(targets.back().is_valid(), "input ", i, " does not require a gradient");
  }
  Gradients result =
      run(outputs, gradients, targets, retain_graph || create_graph, create_graph, false);
  for (std::size_t i = 0; i < result.size(); ++i) {
    OPGEN_CHECK(result[i].defined() || allow_unused, "the outputs do not depend on input ", i,
                "; pass allow_unused if that is expected");
  }
  return result;
}

}  // namespace opgen::autograd
