// tensors_of.h: the tensors of a boxed value. Internal.
#pragma once

#include "opgen/ivalue.h"

namespace opgen::detail {

// Calls f(tensor) for a tensor that is defined, or for each of a list.
template <class F>
void for_each_tensor(const IValue& value, F&& f) {
  if (value.isTensor()) {
    if (TensorBase tensor = value.toTensor(); tensor.defined()) f(tensor);
  } else if (value.isList()) {
    for (const IValue& item : value.toList()) for_each_tensor(item, f);
  }
}

}  // namespace opgen::detail
