// device.cpp: two devices whose memory is the CPU's: allocator, guard, factories, copies, views.
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstdlib>
#include <cstring>

#include <privateuse1/PrivateUse1NativeFunctions.h>

namespace {

thread_local c10::DeviceIndex current = 0;
int64_t allocations = 0;

void release(void* memory) {
  std::free(memory);
}

struct HostAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    ++allocations;
    void* memory = bytes == 0 ? nullptr : std::malloc(bytes);
    return {memory, memory, &release, c10::Device(c10::DeviceType::PrivateUse1, current)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};
HostAllocator allocator;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &allocator)

struct Guard final : c10::impl::DeviceGuardImplInterface {
  Guard() = default;
  explicit Guard(c10::DeviceType) {}
  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    current = device.index();
    return before;
  }
  c10::Device getDevice() const override { return {type(), current}; }
  void setDevice(c10::Device device) const override { current = device.index(); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { current = device.index(); }
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return c10::Stream(c10::Stream::DEFAULT, stream.device());
  }
  c10::DeviceIndex deviceCount() const noexcept override { return 2; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    c10::DataPtr memory = allocator.allocate(bytes);
    std::memcpy(memory.get(), storage.data(), std::min(bytes, storage.nbytes()));
    storage.unsafeGetStorageImpl()->set_data_ptr(std::move(memory));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
};
const bool registered = (at::RegisterPrivateUse1HooksInterface(new Hooks), true);

const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

at::Tensor on_cpu(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  return at::for_blob(tensor.data_ptr(), tensor.sizes())
      .strides(tensor.strides())
      .options(at::TensorOptions().dtype(tensor.dtype()).device(at::kCPU))
      .make_tensor();
}

}  // namespace

namespace pu1 {

using Kernels = PrivateUse1NativeFunctions;

at::Tensor Kernels::empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                          std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
                          std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &allocator, keys, c10::dtype_or_default(dtype), format);
}
at::Tensor Kernels::empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                                  std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                                  std::optional<at::Device>, std::optional<bool>) {
  const at::ScalarType type = c10::dtype_or_default(dtype);
  return at::detail::empty_strided_generic(size, stride, &allocator, keys, type);
}
at::Tensor Kernels::as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                               std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}
at::Tensor Kernels::view(const at::Tensor& self, at::IntArrayRef size) {
  return at::native::view(self, size);
}
const at::Tensor& Kernels::resize_(const at::Tensor& self, at::IntArrayRef size,
                                   std::optional<at::MemoryFormat> format) {
  return at::native::resize_(self, size, format);
}
at::Tensor Kernels::_copy_from(const at::Tensor& self, const at::Tensor& dst, bool) {
  on_cpu(dst).copy_(on_cpu(self));
  return dst;
}
at::Tensor Kernels::_copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  dst.resize_(self.sizes());
  return _copy_from(self, dst, false);
}

}  // namespace pu1

TORCH_LIBRARY(pu1, m) {
  m.def("allocations() -> int", []() -> int64_t { return allocations; });
  m.def("current_device() -> int", []() -> int64_t { return current; });
}
