// autograd.h: a small tape: which node made a tensor, backward() and grad(), and Function, through
// which an operator brings its own gradient. Formulas generated from a list of derivatives would
// be further subclasses of Node, attached with set_history().
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "opgen/grad_mode.h"
#include "opgen/ivalue.h"

namespace opgen::autograd {

class Node;

// Where a gradient goes: to gradient `input_nr` of a node, which is that of its output of this
// number. No function: nowhere.
struct Edge {
  std::shared_ptr<Node> function;
  std::uint32_t input_nr = 0;
  [[nodiscard]] bool is_valid() const noexcept { return function != nullptr; }
};

// ---- Tensors -----------------------------------------------------------------------------------

[[nodiscard]] OPGEN_API bool requires_grad(const TensorBase& tensor) noexcept;
// Only a leaf of a floating-point or complex dtype, made outside of inference mode.
OPGEN_API void set_requires_grad(const TensorBase& tensor, bool value);
// Made by no recorded operator.
[[nodiscard]] OPGEN_API bool is_leaf(const TensorBase& tensor) noexcept;
// The gradient that backward() has accumulated in a leaf; undefined if there is none.
[[nodiscard]] OPGEN_API TensorBase grad_of(const TensorBase& tensor);
OPGEN_API void set_grad(const TensorBase& tensor, const TensorBase& gradient);
[[nodiscard]] OPGEN_API std::shared_ptr<Node> grad_fn(const TensorBase& tensor) noexcept;
// The same bytes and counter without the history.
[[nodiscard]] OPGEN_API TensorBase detach(const TensorBase& tensor);
// The tensor itself without the history: a leaf that requires no gradient. A view that autograd
// follows cannot be cut off from its base.
OPGEN_API void detach_(const TensorBase& tensor);
// For a leaf that requires a gradient, its accumulator; invalid if none is required.
[[nodiscard]] OPGEN_API Edge gradient_edge(const TensorBase& tensor);
// Error if autograd cannot follow an in-place change of this tensor, made by operator `op`.
OPGEN_API void check_inplace(const TensorBase& tensor, std::string_view op);

// ---- The graph ---------------------------------------------------------------------------------

using Gradients = std::vector<TensorBase>;

// One recorded operator. Gradients of its outputs become gradients of its inputs.
class OPGEN_API Node : public std::enable_shared_from_this<Node> {
 public:
  // What a gradient of this output has to look like.
  struct Output {
    DimVector sizes;
    ScalarType dtype;
    Device device;
  };

  Node();
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] virtual std::string name() const = 0;
  // One gradient per output, undefined for zero; gives one per edge.
  [[nodiscard]] virtual Gradients apply(Gradients gradients) = 0;
  // Called after a backward() that does not retain the graph.
  virtual void release_saved() {}

  [[nodiscard]] const std::vector<Edge>& next_edges() const noexcept { return next_edges_; }
  [[nodiscard]] const std::vector<Output>& outputs() const noexcept { return outputs_; }
  // Later nodes have higher numbers and run first.
  [[nodiscard]] std::uint64_t sequence_nr() const noexcept { return sequence_nr_; }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  std::uint32_t add_output(const TensorBase& tensor);

 private:
  std::vector<Edge> next_edges_;
  std::vector<Output> outputs_;
  std::uint64_t sequence_nr_;
};

namespace internal {
// One by one: the end of a long chain of nodes must not exhaust the stack.
OPGEN_API void delete_node(Node* node) noexcept;
}  // namespace internal

template <class N, class... A>
[[nodiscard]] std::shared_ptr<N> make_node(A&&... arguments) {
  return std::shared_ptr<N>(new N(std::forward<A>(arguments)...), &internal::delete_node);
}

// Whether a call on these tensors is to be recorded.
[[nodiscard]] OPGEN_API bool any_requires_grad(const std::vector<TensorBase>& tensors) noexcept;
// The tensor is the node's next output.
OPGEN_API void set_history(const TensorBase& tensor, const std::shared_ptr<Node>& node);

// A tensor that backward will need. Error on use if it was changed in place meanwhile.
class OPGEN_API SavedTensor {
 public:
  SavedTensor() = default;
  // An output of the node that saves it must not own that node.
  SavedTensor(const TensorBase& tensor, bool is_output);
  [[nodiscard]] TensorBase unpack(const std::shared_ptr<Node>& owner) const;

 private:
  TensorBase tensor_;
  std::int64_t version_ = 0;
  bool is_output_ = false;
  std::uint32_t output_nr_ = 0;
};

// ---- Running it --------------------------------------------------------------------------------

// Adds d(tensors)/d(leaf), weighted by `gradients`, to every leaf that they depend on. A tensor of
// one element needs no weight. The graph can be used once, unless it is retained; create_graph
// records the gradients themselves, for second derivatives.
OPGEN_API void backward(const std::vector<TensorBase>& tensors, const Gradients& gradients = {},
                        bool retain_graph = false, bool create_graph = false);
inline void backward(const TensorBase& tensor, const TensorBase& gradient = {},
                     bool retain_graph = false, bool create_graph = false) {
  backward(std::vector<TensorBase>{tensor}, Gradients{gradient}, retain_graph, create_graph);
}
// The gradients of the inputs, leaves or not, and nothing else. An input that the outputs do not
// depend on is an error, or an undefined gradient with allow_unused.
[[nodiscard]] OPGEN_API Gradients grad(const std::vector<TensorBase>& outputs,
                                       const std::vector<TensorBase>& inputs,
                                       const Gradients& gradients = {}, bool retain_graph = false,
                                       bool create_graph = false, bool allow_unused = false);

// ---- Functions ---------------------------------------------------------------------------------

namespace internal {
class FunctionNode;
}

// What forward() leaves for backward().
class OPGEN_API AutogradContext {
 public:
  // Inputs and outputs of forward(); other tensors belong into saved_data.
  void save_for_backward(std::vector<TensorBase> tensors) { to_save_ = std::move(tensors); }
  template <class T>
  void save_for_backward(const std::vector<T>& tensors) {
    to_save_.assign(tensors.begin(), tensors.end());
  }
  template <class T = Tensor>
  [[nodiscard]] std::vector<T> get_saved_variables() const {
    std::vector<TensorBase> saved = unpack();
    return std::vector<T>(saved.begin(), saved.end());
  }
  // Inputs that forward() changed in place.
  void mark_dirty(std::vector<TensorBase> inputs) { dirty_ = std::move(inputs); }
  void mark_non_differentiable(std::vector<TensorBase> outputs) {
    non_differentiable_ = std::move(outputs);
  }
  // Off: backward() sees undefined tensors where a gradient is zero.
  void set_materialize_grads(bool value) noexcept { materialize_grads_ = value; }
  // Whether anybody wants the gradient of tensor argument `i`.
  [[nodiscard]] bool needs_input_grad(std::size_t i) const;

  std::map<std::string, IValue> saved_data;

 private:
  friend class internal::FunctionNode;
  [[nodiscard]] std::vector<TensorBase> unpack() const;

  std::vector<TensorBase> to_save_;
  std::vector<TensorBase> dirty_;
  std::vector<TensorBase> non_differentiable_;
  std::vector<SavedTensor> saved_;
  bool materialize_grads_ = true;
  bool released_ = false;
  internal::FunctionNode* node_ = nullptr;
};

namespace internal {

// The node of a Function; what differs between them is call_backward.
class OPGEN_API FunctionNode : public Node {
 public:
  explicit FunctionNode(std::string name);
  ~FunctionNode() override;
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Gradients apply(Gradients gradients) override;
  void release_saved() override;

  void begin(const std::vector<TensorBase>& inputs, std::vector<bool> is_tensor);
  // Attaches the outputs of forward(), which may become other handles.
  void finish(const std::vector<TensorBase*>& outputs);

  AutogradContext context;

 protected:
  [[nodiscard]] virtual Gradients call_backward(Gradients gradients) = 0;

 private:
  friend class autograd::AutogradContext;
  [[nodiscard]] std::vector<SavedTensor> saved(bool& released);

  std::string name_;
  std::vector<TensorBase> inputs_;  // until finish()
  std::vector<bool> is_tensor_;     // per argument of forward()
  bool recorded_ = false;
  // Of what is saved, and not held while backward() of the author runs: that may call backward()
  // on the same graph again.
  std::mutex mutex_;
};

[[nodiscard]] OPGEN_API std::string function_name(const std::type_info& type);

template <class T>
void note_input(const T& argument, std::vector<TensorBase>& inputs, std::vector<bool>& is_tensor) {
  if constexpr (std::is_base_of_v<TensorBase, T>) {
    inputs.push_back(argument);
    is_tensor.push_back(true);
  } else if constexpr (requires {
                         requires std::is_base_of_v<TensorBase, typename T::value_type>;
                         argument.has_value();
                       }) {
    inputs.push_back(argument.has_value() ? TensorBase(*argument) : TensorBase());
    is_tensor.push_back(true);
  } else {
    is_tensor.push_back(false);
  }
}
// variable_list, looked at only where Tensor is complete.
template <class>
struct VariableList {
  using type = std::vector<Tensor>;
};
template <class R>
void note_outputs(R& result, std::vector<TensorBase*>& outputs) {
  if constexpr (std::is_base_of_v<TensorBase, R>) {
    outputs.push_back(&result);
  } else if constexpr (requires { std::tuple_size<R>::value; }) {
    std::apply([&](auto&... each) { (note_outputs(each, outputs), ...); }, result);
  } else {
    for (auto& each : result) outputs.push_back(&each);
  }
}

}  // namespace internal

using variable_list = std::vector<Tensor>;

// struct MyAdd : autograd::Function<MyAdd> {
//   static Tensor forward(AutogradContext* ctx, Tensor self, Tensor other);
//   static variable_list backward(AutogradContext* ctx, variable_list gradients);
// };
// MyAdd::apply(a, b) calls forward, and records it if a tensor among the arguments requires a
// gradient. backward returns one gradient per argument of forward, undefined for what is no tensor.
// It may call backward() and grad() itself, and runs in several threads at once if they do.
template <class Derived>
struct Function {
  template <class... A>
  static auto apply(A&&... arguments) {
    struct NodeOf final : internal::FunctionNode {
      using internal::FunctionNode::FunctionNode;
      [[nodiscard]] Gradients call_backward(Gradients gradients) override {
        if constexpr (std::is_invocable_v<decltype(&Derived::backward), AutogradContext*,
                                          Gradients>) {
          return Derived::backward(&this->context, std::move(gradients));
        } else {
          using List = typename internal::VariableList<Derived>::type;
          List list(gradients.begin(), gradients.end());
          List result = Derived::backward(&this->context, std::move(list));
          return Gradients(result.begin(), result.end());
        }
      }
    };
    auto node = make_node<NodeOf>(internal::function_name(typeid(Derived)));
    std::vector<TensorBase> inputs;
    std::vector<bool> is_tensor;
    (internal::note_input(arguments, inputs, is_tensor), ...);
    node->begin(inputs, std::move(is_tensor));
    auto result = [&] {
      NoGradGuard no_grad;
      return Derived::forward(&node->context, std::forward<A>(arguments)...);
    }();
    std::vector<TensorBase*> outputs;
    internal::note_outputs(result, outputs);
    node->finish(outputs);
    return result;
  }
};

}  // namespace opgen::autograd
