// symint_functions.h: the functions of tensor_functions.h with sizes that may be symbols, for Meta
// kernels. tensor_functions.h includes it.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "opgen/symbolic/fake_tensor.h"
#include "opgen/tensor_functions.h"

namespace opgen {

namespace tensor_functions {

template <class T = Tensor>
[[nodiscard]] T empty_symint(SymIntArrayRef sizes, const TensorOptions& options = {},
                             std::optional<MemoryFormat> format = std::nullopt) {
  return T(detail::empty_symint(sizes, options, format));
}
template <class T = Tensor>
[[nodiscard]] T empty_strided_symint(SymIntArrayRef sizes, SymIntArrayRef strides,
                                     const TensorOptions& options = {}) {
  return T(detail::empty_strided_symint(sizes, strides, options));
}
template <class T = Tensor>
[[nodiscard]] T full_symint(SymIntArrayRef sizes, const Scalar& value,
                            const TensorOptions& options = {}) {
  TensorBase made = detail::empty_symint(sizes, detail::options_for_number(value, options));
  opgen::fill_(made, value);
  return T(std::move(made));
}
template <class T = Tensor>
[[nodiscard]] T zeros_symint(SymIntArrayRef sizes, const TensorOptions& options = {}) {
  return full_symint<T>(sizes, 0, options.dtype(options.dtype()));
}
template <class T = Tensor>
[[nodiscard]] T new_empty_symint(const TensorBase& self, SymIntArrayRef sizes,
                                 const TensorOptions& options = {}) {
  return empty_symint<T>(sizes, self.options().merge_in(options));
}
inline bool resize_output_symint(const TensorBase& out, SymIntArrayRef sizes) {
  return detail::resize_output_symint(out, sizes);
}
template <class T = Tensor>
[[nodiscard]] T as_strided_symint(const TensorBase& self, SymIntArrayRef sizes,
                                  SymIntArrayRef strides,
                                  std::optional<SymInt> storage_offset = std::nullopt) {
  return T(detail::as_strided_symint(self, sizes, strides, storage_offset));
}
// For symbols, as in a meta function. A template, so that a list in braces is one of numbers.
template <std::same_as<SymIntArrayRef> Sizes>
[[nodiscard]] SymDimVector shape_from_dim_mask(Sizes sizes, DimMask mask, bool keepdim) {
  return detail::shape_of_mask<SymDimVector>(sizes, mask, keepdim);
}

}  // namespace tensor_functions

}  // namespace opgen
