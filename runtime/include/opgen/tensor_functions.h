// tensor_functions.h: functions with which kernels create, fill, copy, resize and compare tensors.
// Target torch has a header with the same name and the same functions
// (docs/reference/kernels-api.md lists them).
#pragma once

#include <optional>
#include <utility>

#include "opgen/cpu/compare.h"
#include "opgen/cpu/cpu_generator.h"
#include "opgen/cpu/dim_mask.h"
#include "opgen/registration/types.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/memory_overlap.h"
#include "opgen/tensor/promotion.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/shape_utils.h"
#include "opgen/view_geometry.h"

namespace opgen {

// This namespace has a using-directive below, so `opgen::empty` finds the function.
// Argument-dependent lookup of an unqualified `empty(sizes, options)`, which may mean an operator
// of the caller's library, does not find it. `T` is the library's Tensor; code without generated
// headers writes `empty<TensorBase>(…)`.
namespace tensor_functions {

// ---- New tensors ----

template <class T = Tensor>
[[nodiscard]] T empty(IntArrayRef sizes, const TensorOptions& options = {},
                      std::optional<MemoryFormat> format = std::nullopt) {
  return T(detail::empty(sizes, options, format));
}
template <class T = Tensor>
[[nodiscard]] T empty_strided(IntArrayRef sizes, IntArrayRef strides,
                              const TensorOptions& options = {}) {
  return T(detail::empty_strided(sizes, strides, options));
}
template <class T = Tensor>
[[nodiscard]] T full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {}) {
  return T(detail::full(sizes, value, detail::options_for_number(value, options)));
}
template <class T = Tensor>
[[nodiscard]] T zeros(IntArrayRef sizes, const TensorOptions& options = {}) {
  return T(detail::full(sizes, 0, options.dtype(options.dtype())));
}
template <class T = Tensor>
[[nodiscard]] T ones(IntArrayRef sizes, const TensorOptions& options = {}) {
  return T(detail::full(sizes, 1, options.dtype(options.dtype())));
}
template <class T = Tensor>
[[nodiscard]] T scalar_tensor(const Scalar& value, const TensorOptions& options = {}) {
  return T(detail::full({}, value, options.dtype(options.dtype())));
}
template <class T = Tensor>
[[nodiscard]] T wrapped_scalar_tensor(const Scalar& value, Device device = kCPU) {
  return T(detail::wrapped_scalar_tensor(value, device));
}
template <class T = Tensor>
[[nodiscard]] T from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                          const TensorOptions& options = {}, void* context = nullptr,
                          void (*deleter)(void*) = nullptr) {
  return T(detail::from_blob(data, sizes, strides, options, context, deleter));
}

// ---- New tensors like another ----

template <class T = Tensor>
[[nodiscard]] T empty_like(const TensorBase& self, const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = std::nullopt) {
  return T(detail::empty_like(self, options, format));
}
template <class T = Tensor>
[[nodiscard]] T full_like(const TensorBase& self, const Scalar& value,
                          const TensorOptions& options = {},
                          std::optional<MemoryFormat> format = std::nullopt) {
  TensorBase result = detail::empty_like(self, options, format);
  opgen::fill_(result, value);
  return T(std::move(result));
}
template <class T = Tensor>
[[nodiscard]] T zeros_like(const TensorBase& self, const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = std::nullopt) {
  return full_like<T>(self, 0, options, format);
}
template <class T = Tensor>
[[nodiscard]] T ones_like(const TensorBase& self, const TensorOptions& options = {},
                          std::optional<MemoryFormat> format = std::nullopt) {
  return full_like<T>(self, 1, options, format);
}
template <class T = Tensor>
[[nodiscard]] T new_empty(const TensorBase& self, IntArrayRef sizes,
                          const TensorOptions& options = {}) {
  return T(detail::empty(sizes, self.options().merge_in(options)));
}
template <class T = Tensor>
[[nodiscard]] T new_empty_strided(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
                                  const TensorOptions& options = {}) {
  return T(detail::empty_strided(sizes, strides, self.options().merge_in(options)));
}
template <class T = Tensor>
[[nodiscard]] T new_full(const TensorBase& self, IntArrayRef sizes, const Scalar& value,
                         const TensorOptions& options = {}) {
  return T(detail::full(sizes, value, self.options().merge_in(options)));
}
template <class T = Tensor>
[[nodiscard]] T new_zeros(const TensorBase& self, IntArrayRef sizes,
                          const TensorOptions& options = {}) {
  return new_full<T>(self, sizes, 0, options);
}
template <class T = Tensor>
[[nodiscard]] T new_ones(const TensorBase& self, IntArrayRef sizes,
                         const TensorOptions& options = {}) {
  return new_full<T>(self, sizes, 1, options);
}
// ---- Elements ----

template <class T = Tensor>
[[nodiscard]] T clone(const TensorBase& self, std::optional<MemoryFormat> format = std::nullopt) {
  return T(detail::clone(self, format));
}
template <class T = Tensor>
[[nodiscard]] T contiguous(const TensorBase& self, MemoryFormat format = MemoryFormat::Contiguous) {
  return T(detail::contiguous(self, format));
}
template <class T = Tensor>
[[nodiscard]] T to_dtype(const TensorBase& self, ScalarType dtype) {
  return T(detail::to_dtype(self, dtype));
}
template <class T = Tensor>
[[nodiscard]] T to_device(const TensorBase& self, Device device) {
  return T(detail::to_device(self, device));
}

// ---- Shapes ----

template <class T = Tensor>
[[nodiscard]] T as_strided(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
                           std::optional<std::int64_t> storage_offset = std::nullopt) {
  return T(detail::as_strided(self, sizes, strides, storage_offset));
}
template <class T = Tensor>
[[nodiscard]] T expand(const TensorBase& self, IntArrayRef sizes) {
  return T(detail::expand_view(self, sizes));
}

// The functions have two names, because the second list in `infer_size({2, 1}, {3})` could also be
// a number.
[[nodiscard]] inline DimVector infer_size(IntArrayRef a, IntArrayRef b) {
  return detail::infer_size(a, b);
}
[[nodiscard]] inline DimVector infer_view_size(IntArrayRef shape, std::int64_t numel) {
  return detail::infer_size(shape, numel);
}

// ---- Only in this runtime ----

// Does the same as empty() for a strided, row-major tensor, without TensorOptions.
template <class T = Tensor>
[[nodiscard]] T empty_contiguous(IntArrayRef sizes, ScalarType dtype, Device device) {
  return T(detail::empty_contiguous(sizes, dtype, device));
}
// Does the same as as_strided(), without checks. Strides and offset must fit the storage.
template <class T = Tensor>
[[nodiscard]] T alias_with_sizes_and_strides(const TensorBase& base, IntArrayRef sizes,
                                             IntArrayRef strides, std::int64_t storage_offset) {
  return T(detail::alias_with_sizes_and_strides(base, sizes, strides, storage_offset));
}
// Returns a view with other sizes if `base` is row-major and the sizes have the same number of
// elements; else an undefined tensor.
template <class T = Tensor>
[[nodiscard]] T view_if_row_major(const TensorBase& base, IntArrayRef sizes) {
  return T(detail::view_if_row_major(base, sizes));
}

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)

}  // namespace opgen

#include "opgen/symint_functions.h"  // needs the functions above
