// graph.cpp: prints graphs of recorded calls, and runs them again.
#include "core/text.h"
#include "opgen/schema/function_schema.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/factories.h"
#include "opgen/transforms/tracer.h"

namespace opgen {

namespace {

using Operand = Graph::Operand;

std::string name_of(std::size_t value) {
  std::string name("%");  // for "%" + to_string(…), g++ 12 gives a false warning at -O3
  return name.append(std::to_string(value));
}

// Formats a constant. Enumerations are stored as numbers, and the schema has their type.
std::string constant_text(const IValue& value, const SchemaType& type) {
  if (type.kind == TypeKind::Optional && !value.isNone()) {
    return constant_text(value, *type.element);
  }
  if (value.isInt()) {
    switch (type.kind) {
      case TypeKind::ScalarType:
        return toString(static_cast<ScalarType>(value.toInt()));
      case TypeKind::Layout:
        return message_text(static_cast<Layout>(value.toInt()));
      case TypeKind::MemoryFormat:
        return message_text(static_cast<MemoryFormat>(value.toInt()));
      default:
        break;
    }
  }
  return message_text(value);
}

const SchemaType& type_of_element(const SchemaType& container, std::size_t i) {
  if (container.element != nullptr) return *container.element;
  if (container.kind == TypeKind::Dict) return container.members[i % 2];
  return i < container.members.size() ? container.members[i] : container;  // unknown for Any
}

std::string operand_text(const Operand& operand, const SchemaType& type) {
  switch (operand.kind) {
    case Operand::Kind::Value:
      return name_of(operand.value);
    case Operand::Kind::Constant:
      return constant_text(operand.constant, type);
    case Operand::Kind::List:
      break;
  }
  const SchemaType& list = type.kind == TypeKind::Optional ? *type.element : type;
  const bool is_dict = operand.constant.isDict();
  const char* brackets = is_dict ? "{}" : operand.constant.isTuple() ? "()" : "[]";
  std::string text(1, brackets[0]);
  for (std::size_t i = 0; i < operand.items.size(); ++i) {
    if (i != 0) text += is_dict && i % 2 == 1 ? ": " : ", ";
    text += operand_text(operand.items[i], type_of_element(list, i));
  }
  return text + brackets[1];
}

void append_values(const Operand& operand, std::vector<std::size_t>& values) {
  if (operand.kind == Operand::Kind::Value) values.push_back(operand.value);
  for (const Operand& item : operand.items) append_values(item, values);
}

std::string arguments_text(const Graph::Node& node) {
  const FunctionSchema& schema = node.op.schema();
  std::string text;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    if (i != 0) text += ", ";
    if (argument.kwarg_only) text += argument.name + "=";
    text += operand_text(node.inputs[i], argument.type);
  }
  return text;
}

// Runs the recorded calls. `values` holds the results so far.
class Replay {
 public:
  Replay(const Graph& graph, bool on_meta) : on_meta_(on_meta), values_(graph.values().size()) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Graph::Value& value = graph.values()[i];
      if (value.is_constant) values_[i] = moved(value.constant);
    }
  }
  void set(std::size_t value, TensorBase tensor) { values_[value] = std::move(tensor); }
  void run(const Graph::Node& node) {
    Stack stack;
    for (const Operand& operand : node.inputs) stack.push_back(input(operand));
    if (on_meta_) create_on_meta(node.op.schema(), stack);
    node.op.call_boxed(stack);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) output(node.outputs[i], stack[i]);
  }
  [[nodiscard]] IValue input(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::Value:
        return IValue(values_[operand.value]);
      case Operand::Kind::Constant:
        return operand.constant;
      case Operand::Kind::List:
        break;
    }
    std::vector<IValue> items;
    for (const Operand& item : operand.items) items.push_back(input(item));
    return operand.constant.with_elements(std::move(items));
  }

 private:
  // Moves a tensor to Meta. Wrapped numbers are not moved, because their values may matter.
  [[nodiscard]] TensorBase moved(const TensorBase& tensor) const {
    if (!on_meta_ || tensor.is_meta() || tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
      return tensor;
    }
    return detail::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(kMeta));
  }
  static void create_on_meta(const FunctionSchema& schema, Stack& stack) {
    for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
      const SchemaType& type = schema.arguments[i].type;
      const SchemaType& plain = type.kind == TypeKind::Optional ? *type.element : type;
      if (plain.kind == TypeKind::Device) stack[i] = Device(kMeta);
      if (plain.kind == TypeKind::List && plain.element->kind == TypeKind::Device &&
          !stack[i].isNone()) {
        stack[i] = IValue(std::vector<IValue>(stack[i].toList().size(), IValue(Device(kMeta))));
      }
    }
  }
  void output(const Operand& operand, const IValue& value) {
    if (operand.kind == Operand::Kind::Value) {
      values_[operand.value] = value.toTensor();
    } else if (operand.kind == Operand::Kind::List) {
      const std::vector<IValue>& items = value.elements();
      OPGEN_CHECK(items.size() == operand.items.size(), "a call returns a list of ", items.size(),
                  " items, but in the trace it has ", operand.items.size());
      for (std::size_t i = 0; i < items.size(); ++i) output(operand.items[i], items[i]);
    }
  }

  bool on_meta_;
  std::vector<TensorBase> values_;
};

}  // namespace

std::string Graph::str() const {
  std::string text = "graph(";
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (i != 0) text += ", ";
    text += name_of(inputs_[i]) + ": " + values_[inputs_[i]].description;
  }
  text += "):\n";
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!values_[i].is_constant) continue;
    text += "  " + name_of(i) + " = constant  # " + values_[i].description + "\n";
  }
  for (const Node& node : nodes_) {
    std::vector<std::size_t> results;
    for (const Operand& operand : node.outputs) append_values(operand, results);
    std::string names;
    std::string types;
    for (std::size_t value : results) {
      names += (names.empty() ? "" : ", ") + name_of(value);
      types += (types.empty() ? "" : ", ") + values_[value].description;
    }
    text += "  " + names + (names.empty() ? "" : " = ") + node.op.full_name() + "(" +
            arguments_text(node) + ")" + (types.empty() ? "" : "  # " + types) + "\n";
  }
  text += "  return ";
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    text += (i != 0 ? ", " : "") + operand_text(outputs_[i], SchemaType());
  }
  return text + "\n";
}

std::vector<TensorBase> Graph::replay(const std::vector<TensorBase>& inputs) const {
  OPGEN_CHECK(inputs.size() == inputs_.size(), "the graph takes ", inputs_.size(), " inputs, not ",
              inputs.size());
  bool on_meta = false;
  for (const TensorBase& input : inputs) on_meta |= input.is_meta();
  Replay replay(*this, on_meta);
  for (std::size_t i = 0; i < inputs.size(); ++i) replay.set(inputs_[i], inputs[i]);
  for (const Node& node : nodes_) replay.run(node);
  std::vector<TensorBase> outputs;
  for (const Operand& operand : outputs_) outputs.push_back(replay.input(operand).toTensor());
  return outputs;
}

}  // namespace opgen
