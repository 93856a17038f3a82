// tracer.h: Trace records the operators that a piece of code calls, with a boxed fallback for the
// key Tracer; Graph prints them and runs them again on other inputs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opgen/dispatch/dispatcher.h"
#include "opgen/registration/ivalue.h"

namespace opgen {

// A straight-line list of calls and their values. Immutable; may run on several threads.
class OPGEN_API Graph {
 public:
  // An argument: a value of the graph, a constant of the schema's type, or a list, tuple or dict of
  // operands.
  struct Operand {
    enum class Kind : std::uint8_t { Value, Constant, List } kind = Kind::Constant;
    std::size_t value = 0;
    IValue constant;  // for List: an empty list of its kind
    std::vector<Operand> items;
  };
  struct Node {
    OperatorHandle op;
    std::vector<Operand> inputs;   // in the order of the schema
    std::vector<Operand> outputs;  // values, or lists of values
  };
  struct Value {
    std::string description;  // "Float[2, 3] on cpu"
    bool is_constant = false;
    TensorBase constant;  // a tensor from outside of the trace
  };

  [[nodiscard]] const std::vector<Node>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const std::vector<Value>& values() const noexcept { return values_; }
  [[nodiscard]] std::size_t input_count() const noexcept { return inputs_.size(); }
  // One line per call; `%3` is a value.
  [[nodiscard]] std::string str() const;
  // Calls the operators again. With Meta inputs, constants and new tensors are on Meta, too, so the
  // results have shapes but no elements.
  [[nodiscard]] std::vector<TensorBase> replay(const std::vector<TensorBase>& inputs) const;

 private:
  friend class Trace;
  std::vector<Value> values_;
  std::vector<std::size_t> inputs_;  // values
  std::vector<Node> nodes_;
  std::vector<Operand> outputs_;
};

// Records every call that this thread makes during its lifetime. Calls made by kernels are not
// recorded. Tensors that are neither inputs nor results become constants.
class OPGEN_API Trace {
 public:
  explicit Trace(const std::vector<TensorBase>& inputs);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  // Ends the recording.
  [[nodiscard]] Graph finish(const std::vector<TensorBase>& outputs);

  struct State;

 private:
  std::unique_ptr<State> state_;
  LocalKeysGuard keys_;
};

// Returns the graph of `function`, which takes the inputs as separate arguments and returns a
// tensor or a range of tensors.
template <class F, class... T>
[[nodiscard]] Graph trace(F&& function, const T&... inputs) {
  Trace recording({static_cast<const TensorBase&>(inputs)...});
  auto result = std::forward<F>(function)(inputs...);
  if constexpr (std::is_base_of_v<TensorBase, decltype(result)>) {
    return recording.finish({result});
  } else {
    return recording.finish(std::vector<TensorBase>(result.begin(), result.end()));
  }
}

}  // namespace opgen
