// tensors_of.h: the tensors of a boxed value, or of one that C++ has. Internal.
#pragma once

#include "opgen/ivalue.h"
#include "opgen/tensor_span.h"

namespace opgen::detail {

// Calls f(tensor) for a tensor that is defined, or for each such of a list.
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
  } else if (value.isList()) {
    for (const IValue& item : value.toList()) for_each_tensor(item, f);
  }
}

}  // namespace opgen::detail
