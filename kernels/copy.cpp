// copy.cpp: copying, filling, converting and resizing, and queries of one tensor.
#include <opgen/kernel.h>

#include <aten/ops/_local_scalar_dense.h>
#include <aten/ops/_local_scalar_dense_native.h>
#include <aten/ops/_to_copy.h>
#include <aten/ops/_to_copy_native.h>
#include <aten/ops/clone.h>
#include <aten/ops/clone_native.h>
#include <aten/ops/contiguous_native.h>
#include <aten/ops/copy_native.h>
#include <aten/ops/dim_native.h>
#include <aten/ops/empty_like.h>
#include <aten/ops/fill_native.h>
#include <aten/ops/is_complex_native.h>
#include <aten/ops/is_contiguous_native.h>
#include <aten/ops/is_floating_point_native.h>
#include <aten/ops/is_nonzero_native.h>
#include <aten/ops/is_signed_native.h>
#include <aten/ops/item_native.h>
#include <aten/ops/numel_native.h>
#include <aten/ops/promote_types_native.h>
#include <aten/ops/resize_as_native.h>
#include <aten/ops/resize_native.h>
#include <aten/ops/result_type_native.h>
#include <aten/ops/set_native.h>
#include <aten/ops/size_native.h>
#include <aten/ops/storage_offset_native.h>
#include <aten/ops/stride_native.h>
#include <aten/ops/to_native.h>
#include <aten/ops/zero_native.h>

#include "common.h"
#include "layout.h"

using namespace kernels;

// ---- copy, clone, contiguous ----

OPGEN_KERNEL(copy_)(Tensor& self, const Tensor& src, bool non_blocking) {
  if (!self.is_same(src)) opgen::copy_(self, src, non_blocking);
  return self;
}
OPGEN_KERNEL(copy)(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor out = empty_in_layout(self);
  opgen::copy_(out, src, non_blocking);
  return out;
}
OPGEN_KERNEL(copy_meta)(const Tensor& self, const Tensor& src, bool /*non_blocking*/) {
  OPGEN_CHECK(opgen::is_expandable_to(src.sizes(), self.sizes()), "a tensor of shape ", src.sizes(),
              " cannot be copied into one of shape ", self.sizes());
  return empty_in_layout(self);
}
OPGEN_KERNEL(clone)(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  return opgen::clone(self, memory_format);
}
OPGEN_KERNEL(contiguous)(const Tensor& self, MemoryFormat memory_format) {
  if (self.is_contiguous(memory_format)) return self;
  OPGEN_CHECK(memory_format != MemoryFormat::Preserve,
              "preserve memory format is unsupported by the contiguous operator");
  return at::clone(self, memory_format);
}

// ---- to ----

OPGEN_KERNEL(_to_copy)
(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
 std::optional<MemoryFormat> memory_format) {
  OPGEN_CHECK_NOT_IMPLEMENTED(!layout.has_value() || *layout == self.layout(),
                              "to(): only strided tensors are supported");
  OPGEN_CHECK_NOT_IMPLEMENTED(!pin_memory.value_or(false),
                              "memory cannot be pinned on this device");
  const TensorOptions options = TensorOptions().dtype(dtype).device(device);
  Tensor out = at::empty_like(self, options, memory_format.value_or(MemoryFormat::Preserve));
  opgen::copy_(out, self, non_blocking);
  return out;
}

namespace {

// Returns the tensor itself if nothing would change.
Tensor converted(const Tensor& self, const TensorOptions& options, bool non_blocking, bool copy,
                 std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  Device device = options.device_opt().value_or(self.device());
  // "cuda" without a number means the tensor's own device, if that is a CUDA device.
  if (!device.has_index() && device.type() == self.device().type()) device = self.device();
  const bool as_it_is =
      (!options.has_dtype() || options.dtype() == self.scalar_type()) && device == self.device() &&
      (format == MemoryFormat::Preserve || self.suggest_memory_format() == format);
  if (as_it_is && !copy) return self;
  return at::_to_copy(self, options.device(device), non_blocking, memory_format);
}

}  // namespace

OPGEN_KERNEL(to)
(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking, bool copy,
 std::optional<MemoryFormat> memory_format) {
  OPGEN_CHECK_NOT_IMPLEMENTED(!layout.has_value() || *layout == self.layout(),
                              "to(): only strided tensors are supported");
  OPGEN_CHECK_NOT_IMPLEMENTED(!pin_memory.value_or(false),
                              "memory cannot be pinned on this device");
  return converted(self, TensorOptions().dtype(dtype).device(device), non_blocking, copy,
                   memory_format);
}
OPGEN_KERNEL(to)
(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy,
 std::optional<MemoryFormat> memory_format) {
  return converted(self, TensorOptions().dtype(dtype).device(device), non_blocking, copy,
                   memory_format);
}
OPGEN_KERNEL(to)
(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy,
 std::optional<MemoryFormat> memory_format) {
  return converted(self, TensorOptions().dtype(dtype), non_blocking, copy, memory_format);
}
OPGEN_KERNEL(to)
(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
 std::optional<MemoryFormat> memory_format) {
  return converted(self, other.options(), non_blocking, copy, memory_format);
}

// ---- fill, zero ----

OPGEN_KERNEL(fill_)(Tensor& self, const Scalar& value) {
  opgen::fill_(self, value);
  return self;
}
OPGEN_KERNEL(fill_)(Tensor& self, const Tensor& value) {
  OPGEN_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  if (self.is_cpu() && value.is_cpu() && self.scalar_type() == value.scalar_type()) {
    opgen::fill_(self, opgen::item(value));
  } else {
    opgen::copy_(self, value);
  }
  return self;
}
OPGEN_KERNEL(fill)(const Tensor& self, const Scalar& value) {
  Tensor out = opgen::empty_like(self);
  return out.fill_(value);
}
OPGEN_KERNEL(fill)(const Tensor& self, const Tensor& value) {
  Tensor out = opgen::empty_like(self);
  return out.fill_(value);
}
OPGEN_KERNEL(zero_)(Tensor& self) {
  opgen::zero_(self);
  return self;
}

// ---- resize, set ----

OPGEN_KERNEL(resize_)
(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  opgen::resize_(self, size, memory_format);
  return self;
}
OPGEN_KERNEL(resize_as_)
(const Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format) {
  if (memory_format == MemoryFormat::Preserve) memory_format = the_template.suggest_memory_format();
  self.resize_(the_template.sizes(), memory_format);
  return self;
}
OPGEN_KERNEL(set_tensor_)(Tensor& self, const Tensor& source) {
  if (self.is_same(source)) return self;
  OPGEN_CHECK(self.scalar_type() == source.scalar_type(), "set_: dtype mismatch, ",
              self.scalar_type(), " and ", source.scalar_type());
  OPGEN_CHECK(self.device() == source.device(), "set_: the tensors are on different devices");
  opgen::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(source.sizes(), source.strides());  // first: it may throw
  impl->set_storage(source.storage());
  impl->set_storage_offset(source.storage_offset());
  return self;
}
OPGEN_KERNEL(set_)(Tensor& self) {
  opgen::TensorImpl* impl = self.unsafeGetTensorImpl();
  Storage none(0, self.device());
  impl->set_sizes_contiguous({0});
  impl->set_storage(std::move(none));
  impl->set_storage_offset(0);
  return self;
}

// ---- Queries of one tensor ----

OPGEN_KERNEL(size)(const Tensor& self, int64_t dim) {
  return self.size(dim);
}
OPGEN_KERNEL(stride)(const Tensor& self, int64_t dim) {
  return self.stride(dim);
}
OPGEN_KERNEL(dim)(const Tensor& self) {
  return self.dim();
}
OPGEN_KERNEL(numel)(const Tensor& self) {
  return self.numel();
}
OPGEN_KERNEL(storage_offset)(const Tensor& self) {
  return self.storage_offset();
}
OPGEN_KERNEL(is_contiguous)(const Tensor& self) {
  return self.is_contiguous();
}
OPGEN_KERNEL(is_contiguous)(const Tensor& self, MemoryFormat memory_format) {
  return self.is_contiguous(memory_format);
}
OPGEN_KERNEL(is_floating_point)(const Tensor& self) {
  return self.is_floating_point();
}
OPGEN_KERNEL(is_complex)(const Tensor& self) {
  return self.is_complex();
}
OPGEN_KERNEL(is_signed)(const Tensor& self) {
  return self.is_signed();
}

OPGEN_KERNEL(_local_scalar_dense)(const Tensor& self) {
  return opgen::item(self);
}
OPGEN_KERNEL(item)(const Tensor& self) {
  OPGEN_CHECK(self.numel() == 1, "a Tensor with ", self.numel(),
              " elements cannot be converted to Scalar");
  return at::_local_scalar_dense(self);
}
OPGEN_KERNEL(is_nonzero)(const Tensor& self) {
  OPGEN_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  OPGEN_CHECK(self.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  return self.item().to<bool>();
}

OPGEN_KERNEL(result_type)(const Tensor& tensor, const Tensor& other) {
  return opgen::result_type_of(tensor, other);
}
OPGEN_KERNEL(result_type)(const Tensor& tensor, const Scalar& other) {
  return opgen::result_type_of(tensor, other);
}
OPGEN_KERNEL(result_type)(const Scalar& scalar, const Tensor& tensor) {
  return opgen::result_type_of(scalar, tensor);
}
OPGEN_KERNEL(result_type)(const Scalar& scalar1, const Scalar& scalar2) {
  return opgen::result_type_of(scalar1, scalar2);
}
OPGEN_KERNEL(promote_types)(ScalarType type1, ScalarType type2) {
  return opgen::promote_types(type1, type2);
}
