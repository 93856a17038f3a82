// symint_functions.h: the functions of tensor_functions.h with sizes that may be symbols. This
// runtime has none, so they are the same. tensor_functions.h includes it.
#pragma once

#include <optional>

#include "opgen/registration/types.h"
#include "opgen/tensor_functions.h"

namespace opgen {

namespace tensor_functions {

template <class T = Tensor>
[[nodiscard]] T empty_symint(SymIntArrayRef sizes, const TensorOptions& options = {},
                             std::optional<MemoryFormat> format = std::nullopt) {
  return empty<T>(sizes, options, format);
}
template <class T = Tensor>
[[nodiscard]] T empty_strided_symint(SymIntArrayRef sizes, SymIntArrayRef strides,
                                     const TensorOptions& options = {}) {
  return empty_strided<T>(sizes, strides, options);
}
template <class T = Tensor>
[[nodiscard]] T full_symint(SymIntArrayRef sizes, const Scalar& value,
                            const TensorOptions& options = {}) {
  return full<T>(sizes, value, options);
}
template <class T = Tensor>
[[nodiscard]] T zeros_symint(SymIntArrayRef sizes, const TensorOptions& options = {}) {
  return zeros<T>(sizes, options);
}
template <class T = Tensor>
[[nodiscard]] T new_empty_symint(const TensorBase& self, SymIntArrayRef sizes,
                                 const TensorOptions& options = {}) {
  return new_empty<T>(self, sizes, options);
}
inline bool resize_output_symint(const TensorBase& out, SymIntArrayRef sizes) {
  return opgen::resize_output(out, sizes);
}
template <class T = Tensor>
[[nodiscard]] T as_strided_symint(const TensorBase& self, SymIntArrayRef sizes,
                                  SymIntArrayRef strides,
                                  std::optional<SymInt> storage_offset = std::nullopt) {
  return opgen::as_strided<T>(self, sizes, strides, storage_offset);
}

}  // namespace tensor_functions

}  // namespace opgen
