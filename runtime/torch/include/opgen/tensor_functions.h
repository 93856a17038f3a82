// tensor_functions.h: what kernels make, fill, copy, resize and compare tensors with, over ATen.
// The runtime has a header of this name with the same functions (docs/kernels-api.md lists them).
#pragma once

#include <ATen/InferSize.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/empty_like_ops.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full_like_ops.h>
#include <ATen/ops/full_ops.h>
#include <c10/core/DefaultDtype.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "opgen/empty.h"
#include "opgen/resize.h"
#include "opgen/storage_bytes.h"
#include "opgen/tensor.h"

// As in ATen/ExpandUtils.h and ATen/TensorUtils.h, which bring the header of every operator.
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
  // Runs the deleter when its last copy goes: that of the tensor, or this one if there is no
  // tensor.
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

// ---- Shapes ----

inline const Tensor& resize_(const Tensor& self, IntArrayRef sizes,
                             std::optional<MemoryFormat> format = std::nullopt) {
  return self.resize_(sizes, format);
}
[[nodiscard]] inline Tensor as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                                       std::optional<std::int64_t> storage_offset = std::nullopt) {
  return self.as_strided(sizes, strides, storage_offset);
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
// How many bytes a storage must hold for elements laid out so; negative strides are not refused, as
// long as they do not lead before its first byte.
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

using at::maybe_wrap_dim;
[[nodiscard]] inline DimVector maybe_wrap_dims(IntArrayRef dims, std::int64_t ndim,
                                               bool wrap_scalar = true) {
  DimVector wrapped;
  for (const std::int64_t dim : dims) wrapped.push_back(maybe_wrap_dim(dim, ndim, wrap_scalar));
  return wrapped;
}

// Bit d stands for dimension d.
using DimMask = std::uint64_t;
[[nodiscard]] inline DimMask make_dim_mask(OptionalIntArrayRef dims, std::int64_t ndim,
                                           bool empty_means_none = false) {
  TORCH_CHECK(ndim <= 64, "tensors of more than 64 dimensions cannot be reduced, got ", ndim);
  if (!dims.has_value() || (dims->empty() && !empty_means_none)) {
    return ndim == 64 ? ~DimMask(0) : (DimMask(1) << ndim) - 1;
  }
  DimMask mask = 0;
  for (const std::int64_t dim : *dims) {
    const DimMask bit = DimMask(1) << maybe_wrap_dim(dim, ndim);
    TORCH_CHECK((mask & bit) == 0, "dimension ", dim, " is named twice in ", *dims);
    mask |= bit;
  }
  return mask;
}
[[nodiscard]] constexpr bool has_dim(DimMask mask, std::int64_t dim) noexcept {
  return ((mask >> dim) & 1u) != 0;
}
[[nodiscard]] inline DimVector shape_from_dim_mask(IntArrayRef sizes, DimMask mask, bool keepdim) {
  DimVector shape;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!has_dim(mask, static_cast<std::int64_t>(d))) {
      shape.push_back(sizes[d]);
    } else if (keepdim) {
      shape.push_back(1);
    }
  }
  return shape;
}

// ---- Dtypes, memory that is shared ----

[[nodiscard]] inline ScalarType get_default_dtype() noexcept {
  return c10::get_default_dtype_as_scalartype();
}
[[nodiscard]] inline ScalarType promote_types(ScalarType a, ScalarType b) {
  return c10::promoteTypes(a, b);
}
// For any mixture of tensors and Scalars.
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

// Names that kernels written for earlier releases have.
namespace detail {
using opgen::clone;
using opgen::copy_;
using opgen::empty_like;
using opgen::fill_;
}  // namespace detail

}  // namespace opgen
