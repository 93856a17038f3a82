// copy.cpp: copies of tensors. Devices, the CPU among them, register how they copy elements.
#include "opgen/tensor/copy.h"

#include <cstring>

#include "opgen/core/atomic.h"
#include "opgen/core/parallel.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/shape_utils.h"
#include "opgen/tensor/tensor.h"

namespace opgen::detail {

namespace {

constinit Atomic<const DeviceCopy*> device_copies[kMaxDeviceTypes] = {};

const DeviceCopy* find_device_copy(Device device) {
  return device_copies[static_cast<int>(device.type())].load_acquire();
}

void check_expandable(const TensorBase& dst, const TensorBase& src) {
  OPGEN_CHECK(is_expandable_to(src.sizes(), dst.sizes()), "cannot copy a tensor of sizes ",
              src.sizes(), " into one of sizes ", dst.sizes());
}

}  // namespace

}  // namespace opgen::detail

namespace opgen::tensor_functions {

using namespace detail;  // NOLINT(google-build-using-namespace)

void register_device_copy(DeviceType type, const DeviceCopy* functions) noexcept {
  device_copies[static_cast<int>(type)].store_release(functions);
}

void copy_(const TensorBase& dst, const TensorBase& src, bool non_blocking) {
  OPGEN_CHECK(dst.defined(), "the destination of the copy is undefined");
  OPGEN_CHECK(src.defined(), "the source of the copy is undefined");
  if (dst.is_same(src)) return;
  check_expandable(dst, src);
  if (dst.is_meta()) return;
  OPGEN_CHECK_NOT_IMPLEMENTED(!src.is_meta(), "a meta tensor has no data to copy to ",
                              dst.device());
  if (dst.is_cpu() && src.is_cpu()) {
    if (dst.numel() != 0) find_device_copy(kCPU)->copy(dst, src, non_blocking);
    return;
  }
  const DeviceCopy* device = dst.is_cpu() ? nullptr : find_device_copy(dst.device());
  if (device == nullptr && !src.is_cpu()) device = find_device_copy(src.device());
  OPGEN_CHECK_NOT_IMPLEMENTED(device != nullptr, "no copy from ", src.device(), " to ",
                              dst.device(), " is registered");
  device->copy(dst, src, non_blocking);
}

void fill_(const TensorBase& self, const Scalar& value) {
  OPGEN_CHECK(self.defined(), "the tensor to fill is undefined");
  if (self.is_meta()) return;
  const DeviceCopy* device = find_device_copy(self.device());
  OPGEN_CHECK_NOT_IMPLEMENTED(device != nullptr, "no copy to ", self.device(), " is registered");
  if (device->fill != nullptr) {
    device->fill(self, value);
  } else {
    device->copy(self, scalar_tensor(value, TensorOptions().dtype(self.scalar_type())), false);
  }
}

void zero_(const TensorBase& self) {
  if (self.defined() && self.is_cpu() && self.numel() != 0 && self.is_non_overlapping_and_dense()) {
    char* data = static_cast<char*>(self.mutable_data_ptr());
    parallel_for(0, static_cast<std::int64_t>(self.nbytes()), 1 << 18,
                 [data](std::int64_t begin, std::int64_t end) {
                   std::memset(data + begin, 0, static_cast<std::size_t>(end - begin));
                 });
    return;
  }
  fill_(self, 0);
}

}  // namespace opgen::tensor_functions

namespace opgen::detail {

TensorBase clone(const TensorBase& self, std::optional<MemoryFormat> format) {
  TensorBase copy = empty_like(self, {}, format);
  copy_(copy, self);
  return copy;
}

TensorBase contiguous(const TensorBase& self, MemoryFormat format) {
  OPGEN_CHECK(format != MemoryFormat::Preserve, "contiguous() takes a format, not Preserve");
  return self.is_contiguous(format) ? self : clone(self, format);
}

TensorBase to_dtype(const TensorBase& self, ScalarType dtype) {
  if (self.scalar_type() == dtype) return self;
  if (self.dim() == 0 && self.is_cpu()) {
    TensorBase number = empty({}, self.options().dtype(dtype));
    find_device_copy(kCPU)->copy(number, self, false);
    return number;
  }
  TensorBase converted = empty_like(self, TensorOptions().dtype(dtype));
  copy_(converted, self);
  return converted;
}

TensorBase to_device(const TensorBase& self, Device device) {
  if (self.device() == device) return self;
  TensorBase there = empty_like(self, TensorOptions().device(device));
  copy_(there, self);
  return there;
}

}  // namespace opgen::detail

namespace opgen::tensor_functions {

Scalar item(const TensorBase& self) {
  OPGEN_CHECK(self.numel() == 1, "a tensor of ", self.numel(),
              " elements cannot be converted to a number");
  OPGEN_CHECK_NOT_IMPLEMENTED(!self.is_meta(), "a meta tensor has no value");
  OPGEN_CHECK(self.has_storage(), "inside vmap a tensor is a batch, not one number");
  TensorBase host = to_device(self, kCPU);
  switch (host.scalar_type()) {
#define OPGEN_CASE(type, name, number) \
  case ScalarType::name:               \
    return *host.const_data_ptr<type>();
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
    case ScalarType::Undefined:
      break;
  }
  return {};
}

}  // namespace opgen::tensor_functions
