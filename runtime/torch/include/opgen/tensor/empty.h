// empty.h: allocates tensors without initialising them: at::empty and at::empty_strided, without
// their long headers.
#pragma once

#include <ATen/ops/empty_ops.h>
#include <ATen/ops/empty_strided_ops.h>

#include <optional>

#include "opgen/tensor/tensor.h"

namespace opgen {

[[nodiscard]] inline Tensor empty_symint(SymIntArrayRef sizes, const TensorOptions& options = {},
                                         std::optional<MemoryFormat> format = std::nullopt) {
  return at::_ops::empty_memory_format::call(
      sizes, c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(),
      options.device_opt(), options.pinned_memory_opt(),
      c10::impl::check_tensor_options_and_extract_memory_format(options, format));
}
[[nodiscard]] inline Tensor empty_strided_symint(SymIntArrayRef sizes, SymIntArrayRef strides,
                                                 const TensorOptions& options = {}) {
  return at::_ops::empty_strided::call(
      sizes, strides, c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(),
      options.device_opt(), options.pinned_memory_opt());
}
[[nodiscard]] inline Tensor empty(IntArrayRef sizes, const TensorOptions& options = {},
                                  std::optional<MemoryFormat> format = std::nullopt) {
  return opgen::empty_symint(c10::fromIntArrayRefSlow(sizes), options, format);
}
[[nodiscard]] inline Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                          const TensorOptions& options = {}) {
  return opgen::empty_strided_symint(c10::fromIntArrayRefSlow(sizes),
                                     c10::fromIntArrayRefSlow(strides), options);
}

// Names that kernels for earlier releases use.
namespace detail {
using opgen::empty;
using opgen::empty_strided;
using opgen::empty_strided_symint;
}  // namespace detail

}  // namespace opgen
