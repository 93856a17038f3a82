// autograd.h: a small tape: nodes, backward() and grad(), and Function, with which an operator
// defines its own gradient.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "opgen/autograd/grad_mode.h"
#include "opgen/core/atomic.h"
#include "opgen/core/ref.h"
#include "opgen/core/small_vector.h"
#include "opgen/registration/ivalue.h"

namespace opgen::autograd {

class Node;

// The destination of a gradient: the gradient of output `input_nr` of a node. If `function` is
// null, the gradient is dropped.
struct Edge {
  Ref<Node> function;
  std::uint32_t input_nr = 0;
  [[nodiscard]] bool is_valid() const noexcept { return function.get() != nullptr; }
};

// ---- Tensors -----------------------------------------------------------------------------------

// Returns whether the tensor requires a gradient. A view does if its base does.
[[nodiscard]] OPGEN_API bool requires_grad(const TensorBase& tensor) noexcept;
// Throws Error unless the tensor is a leaf of a floating-point or complex dtype, made outside of
// inference mode.
OPGEN_API void set_requires_grad(const TensorBase& tensor, bool value);
// Returns whether the tensor is a leaf: no recorded operator made it.
[[nodiscard]] OPGEN_API bool is_leaf(const TensorBase& tensor);
// Returns the gradient that backward() has accumulated in a leaf, or passed through a tensor whose
// gradient is retained; undefined if there is none.
[[nodiscard]] OPGEN_API TensorBase grad_of(const TensorBase& tensor);
OPGEN_API void set_grad(const TensorBase& tensor, const TensorBase& gradient);
// Returns the node that made the tensor; null for a leaf. A view gets a new node after its base was
// changed in place.
[[nodiscard]] OPGEN_API Ref<Node> grad_fn(const TensorBase& tensor);
// Returns a tensor with the same bytes and version counter, without the history and the tangent.
[[nodiscard]] OPGEN_API TensorBase detach(const TensorBase& tensor);
// Removes the tensor's own history: it becomes a leaf that requires no gradient. Throws Error for a
// view whose base autograd tracks.
OPGEN_API void detach_(const TensorBase& tensor);
// Returns the edge to which the tensor's gradient goes; for a leaf, its accumulator. Invalid if no
// gradient is required.
[[nodiscard]] OPGEN_API Edge gradient_edge(const TensorBase& tensor);
// Throws Error if autograd cannot track an in-place change of this tensor by operator `op`.
OPGEN_API void check_inplace(const TensorBase& tensor, std::string_view op);

// ---- The graph ---------------------------------------------------------------------------------

using Gradients = SmallVector<TensorBase, 2>;
using Edges = SmallVector<Edge, 2>;

namespace internal {
struct NodeExtras;
struct NodeAccess;
// Whether this thread is executing grad(), which computes only a part of the graph.
extern OPGEN_API thread_local constinit bool selective_backward OPGEN_TLS;
}  // namespace internal

// One recorded operator: it computes the gradients of its inputs from those of its outputs. Owned
// by Ref<Node>, which counts inside the node. The memory is from the runtime's pool.
class OPGEN_API Node {
 public:
  // The form that a gradient of this output must have.
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
  // Takes one gradient per output and returns one per edge. An undefined gradient means zero.
  [[nodiscard]] virtual Gradients apply(Gradients gradients) = 0;
  // Called after a backward() that does not retain the graph.
  virtual void release_saved() {}

  [[nodiscard]] const Edges& next_edges() const noexcept { return next_edges_; }
  [[nodiscard]] const SmallVector<Output, 1>& outputs() const noexcept { return outputs_; }
  // Among one thread's nodes, later ones have higher numbers and run first.
  [[nodiscard]] std::uint64_t sequence_nr() const noexcept { return sequence_nr_; }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  std::uint32_t add_output(const TensorBase& tensor);
  // Call it in apply(). Returns whether the gradient for edge `i` is used: false if there is no
  // edge, or if it leads to none of the inputs of the current grad().
  [[nodiscard]] bool computes(std::size_t i) const noexcept {
    return next_edges_[i].is_valid() && (!internal::selective_backward || leads_to_wanted(i));
  }

  // Ref calls these. An accumulator shares the count of its leaf.
  void retain() const noexcept { counted_->retain(); }
  [[nodiscard]] bool drop() const noexcept { return counted_->drop(); }
  // Destroys nodes in a loop, because the recursive destruction of a long chain would overflow the
  // stack.
  static void destroy(Node* node) noexcept;
  static void* operator new(std::size_t size);
  static void operator delete(void* block, std::size_t size) noexcept;

 private:
  friend struct internal::NodeAccess;
  class Count final : public RefCounted {};
  [[nodiscard]] bool leads_to_wanted(std::size_t i) const noexcept;

  const RefCounted* counted_ = &count_;
  Count count_;
  std::uint32_t index_ = 0;  // position among the nodes of the backward() that has claimed this one
  Atomic<void*> claimed_by_ = nullptr;
  std::uint64_t sequence_nr_;
  Edges next_edges_;
  SmallVector<Output, 1> outputs_;
  Atomic<internal::NodeExtras*> extras_ = nullptr;  // hooks, and the records of anomaly mode
};

template <class N, class... A>
[[nodiscard]] Ref<N> make_node(A&&... arguments) {
  return Ref<N>::adopt(new N(std::forward<A>(arguments)...));
}

// Returns whether a call on these tensors must be recorded.
[[nodiscard]] OPGEN_API bool any_requires_grad(ArrayRef<TensorBase> tensors) noexcept;
// Makes the tensor the node's next output.
OPGEN_API void set_history(const TensorBase& tensor, Ref<Node> node);
// Does the same after an operator changed the tensor in place. If the tensor is a view, its base
// gets a history that replaces the view's part of the gradient, and other views of the base follow.
// Edge 0 of the node must be the tensor's gradient edge from before the change.
OPGEN_API void rebase_history(const TensorBase& tensor, Ref<Node> node);

// A tensor saved for backward. Reading it throws Error if the tensor was changed in place after it
// was saved.
class OPGEN_API SavedTensor {
 public:
  SavedTensor() = default;
  // `is_output`: the tensor is an output of the node that saves it, so the copy must not own that
  // node. Save outputs after their history and their tangents are set.
  SavedTensor(const TensorBase& tensor, bool is_output);
  [[nodiscard]] TensorBase unpack(Node& owner) const;
  void reset() noexcept { tensor_.reset(); }

 private:
  [[noreturn]] void throw_changed(const Node& owner) const;
  [[nodiscard]] TensorBase unpack_output(Node& owner) const;

  TensorBase tensor_;
  std::uint32_t version_ = 0;
  std::uint32_t output_nr_ = 0;
  bool is_output_ = false;
};

// ---- Backward --------------------------------------------------------------------------------

// Adds d(tensors)/d(leaf), weighted by `gradients`, to the gradient of every leaf that they depend
// on. A tensor of one element needs no weight. The graph can be used only once, unless it is
// retained. create_graph records the backward pass, for second derivatives.
OPGEN_API void backward(const std::vector<TensorBase>& tensors, const Gradients& gradients = {},
                        bool retain_graph = false, bool create_graph = false);
inline void backward(const TensorBase& tensor, const TensorBase& gradient = {},
                     bool retain_graph = false, bool create_graph = false) {
  backward(std::vector<TensorBase>{tensor}, Gradients{gradient}, retain_graph, create_graph);
}
// Returns the gradients of the inputs, leaves or not, and changes no leaf. Throws Error for an
// input that the outputs do not depend on; with allow_unused its gradient is undefined.
[[nodiscard]] OPGEN_API Gradients grad(const std::vector<TensorBase>& outputs,
                                       const std::vector<TensorBase>& inputs,
                                       const Gradients& gradients = {}, bool retain_graph = false,
                                       bool create_graph = false, bool allow_unused = false);

// Whether the innermost backward() or grad() of this thread retains the graph.
[[nodiscard]] OPGEN_API bool retains_graph() noexcept;

// ---- Functions ---------------------------------------------------------------------------------

namespace internal {
class FunctionNode;
}

// Holds the values that forward() passes to backward().
class OPGEN_API AutogradContext {
 public:
  // Saves inputs and outputs of forward(). Put other tensors into saved_data.
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
  // Names the inputs that forward() changed in place.
  void mark_dirty(std::vector<TensorBase> inputs) { dirty_ = std::move(inputs); }
  void mark_non_differentiable(std::vector<TensorBase> outputs) {
    non_differentiable_ = std::move(outputs);
  }
  // If false, backward() receives undefined tensors for zero gradients.
  void set_materialize_grads(bool value) noexcept { materialize_grads_ = value; }
  // Returns whether the gradient of tensor argument `i` is needed.
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

// The node of a Function; subclasses implement call_backward.
class OPGEN_API FunctionNode : public Node {
 public:
  explicit FunctionNode(std::string name);
  ~FunctionNode() override;
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Gradients apply(Gradients gradients) override;
  void release_saved() override;

  void begin(const std::vector<TensorBase>& inputs, std::vector<bool> is_tensor);
  // Records the outputs of forward(). May replace the tensors in the handles.
  void finish(const std::vector<TensorBase*>& outputs);

  AutogradContext context;

 protected:
  [[nodiscard]] virtual Gradients call_backward(Gradients gradients) = 0;

 private:
  friend class autograd::AutogradContext;
  [[nodiscard]] std::vector<SavedTensor> saved(bool& released);

  std::string name_;
  std::vector<TensorBase> inputs_;  // emptied by finish()
  std::vector<bool> is_tensor_;     // per argument of forward()
  bool recorded_ = false;
  // Guards the saved tensors. Not held while the author's backward() runs, which may call
  // backward() on the same graph again.
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
// Converts to and from variable_list. A template, so that it is instantiated only where Tensor is
// complete.
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
// }; MyAdd::apply(a, b) calls forward, and records it if a tensor among the arguments requires a
// gradient. backward returns one gradient per argument of forward, undefined for arguments that are
// not tensors. It may call backward() and grad() itself, and must be thread-safe if several threads
// run backward() on the graph.
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
    static const std::string name = internal::function_name(typeid(Derived));
    auto node = make_node<NodeOf>(name);
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
