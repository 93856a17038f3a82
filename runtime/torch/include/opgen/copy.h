// copy.h: copies between tensors, by the runtime's names.
#pragma once

#include "opgen/tensor.h"

namespace opgen::detail {

inline void copy_(const Tensor& to, const Tensor& from) {
  to.copy_(from);
}

}  // namespace opgen::detail
