// empty.h: new tensors, by the runtime's names.
#pragma once

#include <ATen/ops/empty_ops.h>
#include <ATen/ops/empty_strided_ops.h>

#include "opgen/tensor.h"

namespace opgen::detail {

// at::empty and at::empty_strided, whose own headers are long.
[[nodiscard]] inline Tensor empty(IntArrayRef sizes, const TensorOptions& options = {}) {
  return at::_ops::empty_memory_format::call(
      c10::fromIntArrayRefSlow(sizes), c10::optTypeMetaToScalarType(options.dtype_opt()),
      options.layout_opt(), options.device_opt(), options.pinned_memory_opt(),
      options.memory_format_opt());
}
[[nodiscard]] inline Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                          const TensorOptions& options = {}) {
  return at::_ops::empty_strided::call(
      c10::fromIntArrayRefSlow(sizes), c10::fromIntArrayRefSlow(strides),
      c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(), options.device_opt(),
      options.pinned_memory_opt());
}

}  // namespace opgen::detail
