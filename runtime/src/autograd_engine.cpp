// autograd_engine.cpp: backward() and grad(): nodes in the order in which their gradients are
// complete, later nodes first, on the calling thread.
#include <algorithm>
#include <memory>
#include <queue>
#include <unordered_map>

#include "autograd_part.h"
#include "opgen/factories.h"
#include "opgen/primitives.h"
#include "opgen/shape_utils.h"

namespace opgen::autograd {

namespace {

struct NodeState {
  std::shared_ptr<Node> node;
  std::size_t waits_for = 0;  // edges that have not delivered
  Gradients gradients;        // per output
  bool wanted = false;        // is or leads to an input of grad()
  bool runs = true;           // leads on to what is wanted
};

struct LaterFirst {
  bool operator()(const Node* a, const Node* b) const noexcept {
    return a->sequence_nr() < b->sequence_nr();
  }
};

class Run {
 public:
  // `targets`: the edges of grad()'s inputs; empty for backward().
  Run(const std::vector<Edge>& roots, const std::vector<Edge>& targets, bool retain_graph,
      bool accumulates)
      : targets_(targets), retain_graph_(retain_graph), accumulates_(accumulates) {
    captured_.resize(targets.size());
    for (const Edge& root : roots) visit(root.function);
    if (!accumulates_) mark_wanted();
  }

  void deliver(const Edge& edge, const TensorBase& gradient) {
    Gradients& gradients = states_.at(edge.function.get()).gradients;
    gradients.resize(edge.function->outputs().size());
    TensorBase& sum = gradients.at(edge.input_nr);
    if (gradient.defined()) sum = sum.defined() ? primitive::add(sum, gradient) : gradient;
  }

  Gradients run(const std::vector<Edge>& roots) {
    for (const Edge& root : roots) {
      NodeState& state = states_.at(root.function.get());
      if (state.waits_for == 0 && !queued_.contains(root.function.get())) enqueue(state);
    }
    while (!ready_.empty()) {
      NodeState& state = states_.at(ready_.top());
      ready_.pop();
      run_node(state);
    }
    return std::move(captured_);
  }

 private:
  // In depth-first order without recursion: a chain may be long.
  void visit(const std::shared_ptr<Node>& root) {
    std::vector<std::shared_ptr<Node>> stack;
    auto meet = [&](const std::shared_ptr<Node>& node) -> NodeState& {
      auto [it, is_new] = states_.try_emplace(node.get());
      if (is_new) {
        it->second.node = node;
        order_.push_back(node.get());
        stack.push_back(node);
      }
      return it->second;
    };
    meet(root);
    while (!stack.empty()) {
      std::shared_ptr<Node> node = std::move(stack.back());
      stack.pop_back();
      for (const Edge& edge : node->next_edges()) {
        if (edge.is_valid()) ++meet(edge.function).waits_for;
      }
    }
  }

  // A node is newer than what it leads to, but for accumulators, which lead nowhere.
  void mark_wanted() {
    std::sort(order_.begin(), order_.end(),
              [](const Node* a, const Node* b) { return a->sequence_nr() < b->sequence_nr(); });
    for (auto& [node, state] : states_) state.runs = false;
    for (const Edge& target : targets_) {
      auto it = states_.find(target.function.get());
      if (it != states_.end()) it->second.wanted = true;
    }
    for (Node* node : order_) {
      for (const Edge& edge : node->next_edges()) {
        if (edge.is_valid() && states_.at(edge.function.get()).wanted) {
          states_.at(node).wanted = states_.at(node).runs = true;
        }
      }
    }
  }

  void enqueue(NodeState& state) {
    queued_[state.node.get()] = true;
    ready_.push(state.node.get());
  }

  void run_node(NodeState& state) {
    Node& node = *state.node;
    state.gradients.resize(node.outputs().size());
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].function.get() == &node) {
        captured_[i] = state.gradients.at(targets_[i].input_nr);
      }
    }
    Gradients results;
    bool runs = state.runs && std::any_of(state.gradients.begin(), state.gradients.end(),
                                          [](const TensorBase& g) { return g.defined(); });
    if (runs) {
      results = node.apply(std::move(state.gradients));
      OPGEN_CHECK(results.size() == node.next_edges().size(), node.name(), " gave ", results.size(),
                  " gradients for ", node.next_edges().size(), " inputs");
      if (!retain_graph_) node.release_saved();
    }
    results.resize(node.next_edges().size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Edge& edge = node.next_edges()[i];
      if (!edge.is_valid()) continue;
      deliver(edge, fitted(std::move(results[i]), edge, node, i));
      NodeState& next = states_.at(edge.function.get());
      if (--next.waits_for == 0) enqueue(next);
    }
    state.gradients.clear();
  }

  // As the output that it is for: a broadcast input gets the sum, another dtype is converted.
  static TensorBase fitted(TensorBase gradient, const Edge& edge, const Node& from,
                           std::size_t index) {
    if (!gradient.defined()) return gradient;
    const Node::Output& output = edge.function->outputs().at(edge.input_nr);
    if (gradient.sizes() != IntArrayRef(output.sizes)) {
      OPGEN_CHECK(opgen::detail::is_expandable_to(output.sizes, gradient.sizes()), from.name(),
                  " returned a gradient of sizes ", gradient.sizes(), " at position ", index,
                  " for an input of sizes ", output.sizes);
      gradient = primitive::sum_to(gradient, output.sizes);
    }
    if (gradient.scalar_type() != output.dtype) gradient = primitive::cast(gradient, output.dtype);
    return gradient;
  }

  const std::vector<Edge>& targets_;
  bool retain_graph_;
  bool accumulates_;
  Gradients captured_;
  std::unordered_map<Node*, NodeState> states_;
  std::unordered_map<Node*, bool> queued_;
  std::vector<Node*> order_;
  std::priority_queue<Node*, std::vector<Node*>, LaterFirst> ready_;
};

TensorBase root_gradient(const TensorBase& root, const TensorBase& gradient) {
  if (!gradient.defined()) {
    OPGEN_CHECK(root.numel() == 1, "a tensor of sizes ", root.sizes(),
                " needs a weight for backward(): only that of a single element is known");
    return opgen::detail::full(root.sizes(), 1, root.options());
  }
  OPGEN_CHECK(gradient.sizes() == root.sizes(), "a gradient of sizes ", gradient.sizes(),
              " for a tensor of sizes ", root.sizes());
  return gradient;
}

// A backward() inside of a function's own backward runs on the same stack.
class Nested {
 public:
  Nested() {
    OPGEN_CHECK(depth < kMostNested, "backward() was called by functions' own backward() ",
                kMostNested, " deep");
    ++depth;
  }
  ~Nested() { --depth; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  static constexpr int kMostNested = 100;
  static thread_local int depth;
};
thread_local int Nested::depth = 0;

Gradients run(const std::vector<TensorBase>& tensors, const Gradients& gradients,
              const std::vector<Edge>& targets, bool retain_graph, bool create_graph,
              bool accumulates) {
  OPGEN_CHECK(gradients.empty() || gradients.size() == tensors.size(), gradients.size(),
              " gradients for ", tensors.size(), " tensors");
  const Nested nested;
  std::vector<Edge> roots;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    roots.push_back(gradient_edge(tensors[i]));
    OPGEN_CHECK(roots.back().is_valid(), "tensor ", i,
                " does not require a gradient: no recorded operator made it");
  }
  AutoGradMode mode(create_graph);
  Run run(roots, targets, retain_graph, accumulates);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    run.deliver(roots[i],
                root_gradient(tensors[i], gradients.empty() ? TensorBase() : gradients[i]));
  }
  return run.run(roots);
}

}  // namespace

void backward(const std::vector<TensorBase>& tensors, const Gradients& gradients, bool retain_graph,
              bool create_graph) {
  run(tensors, gradients, {}, retain_graph || create_graph, create_graph, true);
}

Gradients grad(const std::vector<TensorBase>& outputs, const std::vector<TensorBase>& inputs,
               const Gradients& gradients, bool retain_graph, bool create_graph,
               bool allow_unused) {
  std::vector<Edge> targets;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    targets.push_back(gradient_edge(inputs[i]));
    OPGEN_CHECK(targets.back().is_valid(), "input ", i, " does not require a gradient");
  }
  Gradients result =
      run(outputs, gradients, targets, retain_graph || create_graph, create_graph, false);
  for (std::size_t i = 0; i < result.size(); ++i) {
    OPGEN_CHECK(result[i].defined() || allow_unused, "the outputs do not depend on input ", i,
                "; say allow_unused if that may be");
  }
  return result;
}

}  // namespace opgen::autograd
