// operator_call.cpp: calls an operator boxed, with results in memory of a framework.
#include "operator_call.h"

#include <utility>

#include "opgen/core/error.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"

namespace opgen::frameworks {

TensorBase borrow(void* data, IntArrayRef sizes, ScalarType dtype) {
  std::size_t bytes = elementSize(dtype);
  for (std::int64_t size : sizes) bytes *= static_cast<std::size_t>(size);
  const Device device(kCPU);
  TensorBase tensor = TensorBase::adopt(
      TensorImpl::create(Storage({data, nullptr, nullptr, device}, bytes),
                         detail::default_key_set(DispatchKey::CPU), dtype, device));
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return tensor;
}

OperatorHandle find_operator(std::string_view text) {
  const auto [name, overload] = split_operator_name(text);
  return Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

namespace {

void append_tensors(const IValue& value, std::vector<TensorBase>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.has_elements()) {
    for (const IValue& element : value.elements()) append_tensors(element, tensors);
  } else if (value.isNone()) {
    tensors.emplace_back();
  }
}

}  // namespace

OperatorCall::OperatorCall(OperatorHandle op, const FunctionSchema& schema)
    : op_(op), schema_(&schema) {
  stack_.reserve(schema.arguments.size());
}

const SchemaArgument& OperatorCall::next_argument() const {
  OPGEN_CHECK_VALUE(stack_.size() < schema().arguments.size(), schema().full_name(), " takes ",
                    schema().arguments.size(), " arguments");
  return schema().arguments[stack_.size()];
}

void OperatorCall::add_default() {
  const SchemaArgument& argument = next_argument();
  OPGEN_CHECK_TYPE(argument.default_value.has_value(), schema().full_name(), ": argument ",
                   argument.name, " is missing");
  add(IValue(*argument.default_value));
}

void OperatorCall::add_written(TensorBase tensor) {
  written_.emplace_back(tensor);
  add(IValue(std::move(tensor)));
}

const Stack& OperatorCall::call() {
  op_.call_boxed(stack_);
  for (const Written& one : written_) {
    OPGEN_CHECK_VALUE(
        one.tensor.sizes() == IntArrayRef(one.sizes) && one.tensor.data_ptr() == one.data,
        schema().full_name(), ": the kernel has changed a result of shape ", IntArrayRef(one.sizes),
        " to ", one.tensor.sizes());
  }
  return stack_;
}

std::vector<TensorBase> OperatorCall::run() {
  (void)call();
  std::vector<TensorBase> results;
  for (std::size_t i = 0; i < stack_.size(); ++i) {
    if (schema().returns[i].aliases.empty()) append_tensors(stack_[i], results);
  }
  return results;
}

void deliver(const TensorBase& result, const TensorBase& destination,
             const FunctionSchema& schema) {
  OPGEN_CHECK_VALUE(result.defined() && result.sizes() == destination.sizes(), schema.full_name(),
                    ": the kernel returns shape ", result.sizes(), ", and its Meta kernel ",
                    destination.sizes());
  copy_(destination, result);
}

}  // namespace opgen::frameworks
