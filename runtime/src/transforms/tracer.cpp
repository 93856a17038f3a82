// tracer.cpp: maps tensors to values of the graph; the fallback that records calls.
#include "opgen/transforms/tracer.h"

#include <memory>
#include <unordered_map>

#include "core/text.h"
#include "core/thread_value.h"
#include "opgen/schema/function_schema.h"

namespace opgen {

struct Trace::State {
  Graph graph;
  std::unordered_map<const TensorImpl*, std::size_t> value_of;
  // These tensors are kept alive until the trace ends, because the address of a destroyed tensor
  // could be reused.
  std::vector<TensorBase> seen;

  std::size_t add_value(const TensorBase& tensor) {
    std::size_t value = graph.values_.size();
    graph.values_.push_back({message_text(tensor), false, {}});
    value_of[tensor.unsafeGetTensorImpl()] = value;
    seen.push_back(tensor);
    return value;
  }
  std::size_t find_value(const TensorBase& tensor) {
    auto it = value_of.find(tensor.unsafeGetTensorImpl());
    if (it != value_of.end()) return it->second;
    std::size_t value = add_value(tensor);
    graph.values_[value].is_constant = true;
    graph.values_[value].constant = tensor;
    return value;
  }

  void add_node(Graph::Node node) { graph.nodes_.push_back(std::move(node)); }

  Graph::Operand input(const IValue& value) {
    Graph::Operand operand;
    if (value.isTensor() && value.toTensor().defined()) {
      operand.kind = Graph::Operand::Kind::Value;
      operand.value = find_value(value.toTensor());
    } else if (value.has_elements()) {
      operand.kind = Graph::Operand::Kind::List;
      operand.constant = value.with_elements({});
      for (const IValue& item : value.elements()) operand.items.push_back(input(item));
    } else {
      operand.constant = value;
    }
    return operand;
  }
  // Makes each result a new value, even if an operator returns its argument, so that later uses
  // depend on this call.
  Graph::Operand output(const IValue& value) {
    Graph::Operand operand;
    if (value.isTensor() && value.toTensor().defined()) {
      operand.kind = Graph::Operand::Kind::Value;
      operand.value = add_value(value.toTensor());
    } else if (value.has_elements()) {
      operand.kind = Graph::Operand::Kind::List;
      operand.constant = value.with_elements({});
      for (const IValue& item : value.elements()) operand.items.push_back(output(item));
    } else {
      operand.constant = value;
    }
    return operand;
  }
};

namespace {

Trace::State*& current() {
  static auto& states = *new ThreadValue<Trace::State*>;
  return states.get();
}

void trace_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const FunctionSchema& schema = op.schema();
  Trace::State* state = current();
  Graph::Node node{op, {}, {}};
  if (state != nullptr) {
    const IValue* arguments = stack.data() + (stack.size() - schema.arguments.size());
    for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
      node.inputs.push_back(state->input(arguments[i]));
    }
  }
  {
    ExcludeDispatchKeyGuard no_tracer{DispatchKeySet(DispatchKey::Tracer)};
    op.redispatch_boxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::Tracer),
                        stack);
  }
  if (state == nullptr) return;
  const IValue* results = stack.data() + (stack.size() - schema.returns.size());
  for (std::size_t i = 0; i < schema.returns.size(); ++i) {
    const SchemaType& type = schema.returns[i].type;
    if (!type.may_hold_tensors()) {
      OPGEN_WARN("a trace records ", op.full_name(), ", which returns ",
                 results[i].isScalar() ? "a number" : type.str(),
                 ": values computed from it become constants of the graph");
    }
    node.outputs.push_back(state->output(results[i]));
  }
  state->add_node(std::move(node));
}

}  // namespace

Trace::Trace(const std::vector<TensorBase>& inputs)
    : state_(std::make_unique<State>()),
      keys_(DispatchKeySet(DispatchKey::Tracer), DispatchKeySet()) {
  // The first trace of the process registers the fallback, so until then no operator's table
  // changes.
  static const RegistrationHandle fallback = Dispatcher::singleton().register_fallback(
      DispatchKey::Tracer, KernelFunction::from_boxed(&trace_kernel), "tracer");
  OPGEN_CHECK(current() == nullptr, "this thread is already recording a trace");
  for (const TensorBase& input : inputs) {
    OPGEN_CHECK(input.defined(), "an input of a trace is undefined");
    state_->graph.inputs_.push_back(state_->add_value(input));
  }
  current() = state_.get();
}

Trace::~Trace() {
  if (current() == state_.get()) current() = nullptr;
}

Graph Trace::finish(const std::vector<TensorBase>& outputs) {
  OPGEN_CHECK(current() == state_.get(), "this trace has ended");
  for (const TensorBase& output : outputs) {
    state_->graph.outputs_.push_back(state_->input(IValue(output)));
  }
  current() = nullptr;
  return std::move(state_->graph);
}

}  // namespace opgen
