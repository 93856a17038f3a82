// tensors_of.h: visit the tensors of a boxed or unboxed value. Internal.
#pragma once

#include "opgen/registration/ivalue.h"
#include "opgen/registration/tracked_call.h"

namespace opgen::detail {

// Calls f(tensor) for each defined tensor: the value itself, or the members of a list, tuple, dict
// or optional.
template <class F>
void for_each_tensor(const TensorSpan& span, F&& f) {
  for (std::size_t i = 0; i < span.count; ++i) {
    if (span.first[i].defined()) f(span.first[i]);
  }
}

template <class F>
void for_each_tensor(const IValue& value, F&& f) {
  if (value.isTensor()) {
    if (TensorBase tensor = value.toTensor(); tensor.defined()) f(tensor);
  } else if (value.has_elements()) {
    for (const IValue& element : value.elements()) for_each_tensor(element, f);
  }
}

// Returns the value with every defined tensor replaced by f(tensor).
template <class F>
IValue map_tensors(const IValue& value, F&& f) {
  if (value.isTensor()) {
    TensorBase tensor = value.toTensor();
    return tensor.defined() ? IValue(f(tensor)) : value;
  }
  if (!value.has_elements()) return value;
  std::vector<IValue> elements;
  elements.reserve(value.elements().size());
  for (const IValue& element : value.elements()) elements.push_back(map_tensors(element, f));
  return value.with_elements(std::move(elements));
}

}  // namespace opgen::detail
