// resize.h: out= arguments take the shape of the result.
#pragma once

#include <ATen/native/Resize.h>

#include "opgen/tensor.h"

namespace opgen {

// Whether `out` had another shape. A warning if it had elements.
inline bool resize_output(const Tensor& out, IntArrayRef sizes) {
  return at::native::resize_output(out, sizes);
}
inline bool resize_output(const Tensor& out, SymIntArrayRef sizes) {
  return at::native::resize_output_symint(out, sizes);
}

}  // namespace opgen
