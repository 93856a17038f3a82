// device.cpp: the parts that PyTorch needs from a device: memory, the current device, and hooks.

#include "device.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <opgen/cpu_fallback.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace pocket {

namespace {

thread_local c10::DeviceIndex current = 0;

// The context of a pointer from the allocator.
struct Block {
  void* data;
  std::size_t bytes;
  c10::DeviceIndex device;
};

void free_block(void* context) {
  auto* const block = static_cast<Block*>(context);
  counters(block->device).bytes -= static_cast<std::int64_t>(block->bytes);
  std::free(block->data);
  delete block;
}

class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device device(kPocket, current);
    if (bytes == 0) return {nullptr, device};
    const std::size_t rounded = (bytes + 63) / 64 * 64;
    void* const data = std::aligned_alloc(64, rounded);
    TORCH_CHECK_WITH(OutOfMemoryError, data != nullptr, "pocket: no ", bytes, " bytes left");
    counters(current).bytes += static_cast<std::int64_t>(bytes);
    return {data, new Block{data, bytes, current}, &free_block, device};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  static constexpr c10::DeviceType static_type = kPocket;
  Guard() = default;
  explicit Guard(c10::DeviceType) {}

  c10::DeviceType type() const override { return kPocket; }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }
  c10::Device getDevice() const override { return {kPocket, current}; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < kDevices, "pocket: there is no device ", device);
    uncheckedSetDevice(device);
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index()) current = device.index();
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device old = getDevice();
    setDevice(device);
    return old;
  }
  // Each device has one stream: kernels have finished when launch returns.
  c10::Stream getStream(c10::Device device) const override { return getDefaultStream(device); }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device.has_index() ? device : getDevice());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return getDefaultStream(stream.device());
  }
  void synchronizeDevice(c10::DeviceIndex) const override {}
};

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return kDevices; }
  c10::DeviceIndex getCurrentDevice() const override { return current; }
  void setCurrentDevice(c10::DeviceIndex device) const override {
    Guard().setDevice({kPocket, device});
  }
  // Called by `resize_` and similar functions to give a storage more memory.
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    const c10::DeviceGuard guard(storage.device());
    c10::DataPtr data = allocator().allocate(bytes);
    const std::size_t kept = std::min(bytes, storage.nbytes());
    if (kept != 0) std::memcpy(data.get(), storage.data(), kept);
    auto* const resized = storage.unsafeGetStorageImpl();
    resized->set_data_ptr_noswap(std::move(data));
    resized->set_nbytes(bytes);
  }
};

Allocator the_allocator;
[[maybe_unused]] const bool hooked = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

}  // namespace

REGISTER_ALLOCATOR(kPocket, &the_allocator)
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

c10::Allocator& allocator() {
  return the_allocator;
}
c10::DeviceIndex current_device() noexcept {
  return current;
}
Counters& counters(c10::DeviceIndex device) {
  static Counters all[kDevices];
  return all[device];
}

}  // namespace pocket

// Functions for the Python module.
TORCH_LIBRARY_FRAGMENT(pocket, m) {
  m.def("device_count", [] { return std::int64_t{pocket::kDevices}; });
  m.def("current_device", [] { return std::int64_t{pocket::current_device()}; });
  m.def("set_device", [](std::int64_t device) {
    at::detail::getPrivateUse1Hooks().setCurrentDevice(static_cast<c10::DeviceIndex>(device));
  });
  m.def("launches", [](std::int64_t device) {
    return pocket::counters(static_cast<c10::DeviceIndex>(device)).launches.load();
  });
  m.def("memory_allocated", [](std::int64_t device) {
    return pocket::counters(static_cast<c10::DeviceIndex>(device)).bytes.load();
  });
  m.def("fallbacks() -> Dict(str, int)", [] {
    c10::Dict<std::string, std::int64_t> result;
    for (const auto& [name, calls] : opgen::take_cpu_fallbacks()) result.insert(name, calls);
    return result;
  });
}
