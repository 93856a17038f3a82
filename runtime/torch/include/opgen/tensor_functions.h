// tensor_functions.h: the functions with which kernels allocate, fill, copy, resize and compare
// tensors, implemented by ATen. The runtime has a header with the same name and functions (see
// docs/reference/kernels-api.md).
#pragma once

#include <ATen/InferSize.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/empty_like_ops.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full_like_ops.h>
#include <ATen/ops/full_ops.h>
#include <c10/core/DefaultDtype.h>

#include <concepts>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "opgen/cpu/dim_mask.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/storage_bytes.h"
#include "opgen/tensor/tensor.h"

// Declared here as in ATen/ExpandUtils.h and ATen/TensorUtils.h, which include the header of every
// operator.
namespace at {
TORCH_API std::vector<std::int64_t> infer_dense_strides(IntArrayRef sizes, IntArrayRef strides);
TORCH_API DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b);
namespace detail {
TORCH_API std::optional<DimVector> computeStride(IntArrayRef oldshape, IntArrayRef oldstride,
                                                 const DimVector& newshape);
}  // namespace detail
}  // namespace at

namespace opgen {

// ---- New tensors: empty and empty_strided are in empty.h ----

[[nodiscard]] inline Tensor full_symint(SymIntArrayRef sizes, const Scalar& value,
                                        const TensorOptions& options = {}) {
  return at::_ops::full::call(sizes, value, c10::optTypeMetaToScalarType(options.dtype_opt()),
                              options.layout_opt(), options.device_opt(),
                              options.pinned_memory_opt());
}
[[nodiscard]] inline Tensor zeros_symint(SymIntArrayRef sizes, const TensorOptions& options = {}) {
  return opgen::full_symint(sizes, 0, options.dtype(options.dtype()));
}
[[nodiscard]] inline Tensor full(IntArrayRef sizes, const Scalar& value,
                                 const TensorOptions& options = {}) {
  return opgen::full_symint(c10::fromIntArrayRefSlow(sizes), value, options);
}
[[nodiscard]] inline Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {}) {
  return opgen::full(sizes, 0, options.dtype(options.dtype()));
}
[[nodiscard]] inline Tensor ones(IntArrayRef sizes, const TensorOptions& options = {}) {
  return opgen::full(sizes, 1, options.dtype(options.dtype()));
}
[[nodiscard]] inline Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {}) {
  return opgen::full({}, value, options.dtype(options.dtype()));
}
[[nodiscard]] inline Tensor wrapped_scalar_tensor(const Scalar& value, Device device = kCPU) {
  Tensor number = opgen::full({}, value, TensorOptions(value.type()).device(device));
  number.unsafeGetTensorImpl()->set_wrapped_number(true);
  return number;
}
[[nodiscard]] inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                      const TensorOptions& options = {}, void* context = nullptr,
                                      void (*deleter)(void*) = nullptr) {
  if (deleter == nullptr) return at::from_blob(data, sizes, strides, options);
  // Calls the deleter when its last copy is destroyed: the tensor's copy, or this one if no tensor
  // is made.
  std::shared_ptr<void> bytes(context, deleter);
  return at::from_blob(
      data, sizes, strides, [kept = std::move(bytes)](void*) {}, options);
}

// ---- New tensors like another ----

[[nodiscard]] inline Tensor empty_like(const Tensor& self, const TensorOptions& options = {},
                                       std::optional<MemoryFormat> format = std::nullopt) {
  return at::_ops::empty_like::call(
      self, c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(),
      options.device_opt(), options.pinned_memory_opt(),
      c10::impl::check_tensor_options_and_extract_memory_format(options, format));
}
[[nodiscard]] inline Tensor full_like(const Tensor& self, const Scalar& value,
                                      const TensorOptions& options = {},
                                      std::optional<MemoryFormat> format = std::nullopt) {
  return at::_ops::full_like::call(
      self, value, c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(),
      options.device_opt(), options.pinned_memory_opt(),
      c10::impl::check_tensor_options_and_extract_memory_format(options, format));
}
[[nodiscard]] inline Tensor zeros_like(const Tensor& self, const TensorOptions& options = {},
                                       std::optional<MemoryFormat> format = std::nullopt) {
  return opgen::full_like(self, 0, options, format);
}
[[nodiscard]] inline Tensor ones_like(const Tensor& self, const TensorOptions& options = {},
                                      std::optional<MemoryFormat> format = std::nullopt) {
  return opgen::full_like(self, 1, options, format);
}
[[nodiscard]] inline Tensor new_empty(const Tensor& self, IntArrayRef sizes,
                                      const TensorOptions& options = {}) {
  return self.new_empty(sizes, options);
}
[[nodiscard]] inline Tensor new_empty_strided(const Tensor& self, IntArrayRef sizes,
                                              IntArrayRef strides,
                                              const TensorOptions& options = {}) {
  return self.new_empty_strided(sizes, strides, options);
}
[[nodiscard]] inline Tensor new_full(const Tensor& self, IntArrayRef sizes, const Scalar& value,
                                     const TensorOptions& options = {}) {
  return self.new_full(sizes, value, options);
}
[[nodiscard]] inline Tensor new_zeros(const Tensor& self, IntArrayRef sizes,
                                      const TensorOptions& options = {}) {
  return self.new_zeros(sizes, options);
}
[[nodiscard]] inline Tensor new_ones(const Tensor& self, IntArrayRef sizes,
                                     const TensorOptions& options = {}) {
  return self.new_ones(sizes, options);
}
[[nodiscard]] inline Tensor new_empty_symint(const Tensor& self, SymIntArrayRef sizes,
                                             const TensorOptions& options = {}) {
  return self.new_empty_symint(sizes, options);
}

// ---- Elements ----

inline void copy_(const Tensor& dst, const Tensor& src, bool non_blocking = false) {
  dst.copy_(src, non_blocking);
}
inline void fill_(const Tensor& self, const Scalar& value) {
  self.fill_(value);
}
inline void zero_(const Tensor& self) {
  self.zero_();
}
[[nodiscard]] inline Scalar item(const Tensor& self) {
  return self.item();
}
[[nodiscard]] inline Tensor clone(const Tensor& self,
                                  std::optional<MemoryFormat> format = std::nullopt) {
  return self.clone(format);
}
[[nodiscard]] inline Tensor contiguous(const Tensor& self,
                                       MemoryFormat format = MemoryFormat::Contiguous) {
  return self.contiguous(format);
}
[[nodiscard]] inline Tensor to_dtype(const Tensor& self, ScalarType dtype) {
  return self.to(dtype);
}
[[nodiscard]] inline Tensor to_device(const Tensor& self, Device device) {
  return self.to(device);
}
[[nodiscard]] inline bool equal(const Tensor& a, const Tensor& b) {
  return a.equal(b);
}
[[nodiscard]] inline bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-05,
                                   double atol = 1e-08, bool equal_nan = false) {
  return a.allclose(b, rtol, atol, equal_nan);
}

// ---- Shapes ----

inline const Tensor& resize_(const Tensor& self, IntArrayRef sizes,
                             std::optional<MemoryFormat> format = std::nullopt) {
  return self.resize_(sizes, format);
}
[[nodiscard]] inline Tensor as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                                       std::optional<std::int64_t> storage_offset = std::nullopt) {
  return self.as_strided(sizes, strides, storage_offset);
}
[[nodiscard]] inline Tensor as_strided_symint(const Tensor& self, SymIntArrayRef sizes,
                                              SymIntArrayRef strides,
                                              std::optional<SymInt> storage_offset = std::nullopt) {
  return self.as_strided_symint(sizes, strides, std::move(storage_offset));
}
[[nodiscard]] inline Tensor expand(const Tensor& self, IntArrayRef sizes) {
  return self.expand(sizes);
}

[[nodiscard]] inline DimVector infer_size(IntArrayRef a, IntArrayRef b) {
  return at::infer_size_dimvector(a, b);
}
[[nodiscard]] inline DimVector infer_view_size(IntArrayRef shape, std::int64_t numel) {
  return at::infer_size_dv(shape, numel);
}
[[nodiscard]] inline bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) noexcept {
  if (shape.size() > desired.size()) return false;
  for (std::size_t i = 1; i <= shape.size(); ++i) {
    const std::int64_t size = shape[shape.size() - i];
    if (size != 1 && size != desired[desired.size() - i]) return false;
  }
  return true;
}
[[nodiscard]] inline std::int64_t multiply_integers(IntArrayRef sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    TORCH_CHECK(!__builtin_mul_overflow(product, size, &product), "shape ", sizes,
                " has too many elements");
  }
  return product;
}
inline void check_sizes_nonnegative(IntArrayRef sizes) {
  for (const std::int64_t size : sizes) {
    TORCH_CHECK_VALUE(size >= 0, "negative size ", size, " in shape ", sizes);
  }
}
// Returns how many bytes a storage must have for elements with these sizes and strides. Accepts
// negative strides if no element is before the first byte of the storage.
[[nodiscard]] inline std::size_t checked_storage_bytes(IntArrayRef sizes, IntArrayRef strides,
                                                       std::int64_t storage_offset,
                                                       std::size_t itemsize) {
  return detail::storage_bytes(sizes, strides, storage_offset, itemsize);
}
[[nodiscard]] inline std::int64_t storage_elements(IntArrayRef sizes, IntArrayRef strides,
                                                   std::int64_t storage_offset = 0) {
  return static_cast<std::int64_t>(checked_storage_bytes(sizes, strides, storage_offset, 1));
}
[[nodiscard]] inline DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return strides;
}
[[nodiscard]] inline DimVector infer_dense_strides(IntArrayRef sizes, IntArrayRef strides) {
  const std::vector<std::int64_t> dense = at::infer_dense_strides(sizes, strides);
  return DimVector(dense.begin(), dense.end());
}
[[nodiscard]] inline std::optional<DimVector> computeStride(IntArrayRef old_sizes,
                                                            IntArrayRef old_strides,
                                                            IntArrayRef new_sizes) {
  return at::detail::computeStride(old_sizes, old_strides,
                                   DimVector(new_sizes.begin(), new_sizes.end()));
}

[[nodiscard]] inline DimVector maybe_wrap_dims(IntArrayRef dims, std::int64_t ndim,
                                               bool wrap_scalar = true) {
  DimVector wrapped;
  for (const std::int64_t dim : dims) wrapped.push_back(maybe_wrap_dim(dim, ndim, wrap_scalar));
  return wrapped;
}

namespace tensor_functions {
// For symbolic sizes, as in a meta function. This is a template, so that a list in braces means
// numbers.
template <std::same_as<SymIntArrayRef> Sizes>
[[nodiscard]] at::SymDimVector shape_from_dim_mask(Sizes sizes, DimMask mask, bool keepdim) {
  return detail::shape_of_mask<at::SymDimVector>(sizes, mask, keepdim);
}
}  // namespace tensor_functions

// ---- Dtypes, shared memory ----

[[nodiscard]] inline ScalarType get_default_dtype() noexcept {
  return c10::get_default_dtype_as_scalartype();
}
[[nodiscard]] inline ScalarType promote_types(ScalarType a, ScalarType b) {
  return c10::promoteTypes(a, b);
}
// Returns the common dtype of any mixture of tensors and Scalars.
template <class... T>
[[nodiscard]] ScalarType result_type_of(const T&... values) {
  at::native::ResultTypeState state;
  ((state = at::native::update_result_type_state(values, state)), ...);
  return at::native::result_type(state);
}

using at::assert_no_internal_overlap;
using at::assert_no_overlap;
using at::assert_no_partial_overlap;
using at::get_overlap_status;
using at::has_internal_overlap;
using at::MemOverlap;
using at::MemOverlapStatus;

// Names that kernels for earlier releases use.
namespace detail {
using opgen::clone;
using opgen::copy_;
using opgen::empty_like;
using opgen::fill_;
}  // namespace detail

}  // namespace opgen
