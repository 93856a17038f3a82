// device_guard.cpp: the guard of each device type, and guards of devices and of streams.
#include "opgen/device/device_guard.h"

#include <atomic>

#include "opgen/tensor/storage.h"

namespace opgen {

DeviceGuardImpl::~DeviceGuardImpl() = default;

namespace {

class SingleDeviceGuardImpl final : public DeviceGuardImpl {
 public:
  explicit SingleDeviceGuardImpl(DeviceType type) : device_(type) {}
  [[nodiscard]] Device device() const override { return device_; }
  Device exchange_device(Device) const override { return device_; }
  [[nodiscard]] DeviceIndex device_count() const noexcept override { return 1; }

 private:
  Device device_;
};

constinit std::atomic<const DeviceGuardImpl*> guard_impls[kMaxDeviceTypes] = {};

}  // namespace

void set_device_guard_impl(DeviceType type, const DeviceGuardImpl* impl) noexcept {
  guard_impls[static_cast<int>(type)].store(impl, std::memory_order_release);
}
const DeviceGuardImpl* find_device_guard_impl(DeviceType type) noexcept {
  const DeviceGuardImpl* impl = guard_impls[static_cast<int>(type)].load(std::memory_order_acquire);
  if (impl != nullptr) return impl;
  static const SingleDeviceGuardImpl* cpu = new SingleDeviceGuardImpl(DeviceType::CPU);
  static const SingleDeviceGuardImpl* meta = new SingleDeviceGuardImpl(DeviceType::Meta);
  if (type == DeviceType::CPU) return cpu;
  return type == DeviceType::Meta ? meta : nullptr;
}

Stream DeviceGuardImpl::current_stream(Device device) const {
  return Stream(device, 0);
}
Stream DeviceGuardImpl::exchange_stream(Stream stream) const {
  OPGEN_CHECK(stream.id() == 0, "devices of type ", stream.device().type(),
              " have only the default stream; there is no stream ", stream.id());
  return stream;
}
Stream DeviceGuardImpl::new_stream(Device device) const {
  return Stream(device, 0);
}
void DeviceGuardImpl::synchronize(Stream) const {}

namespace {
const DeviceGuardImpl& guard_impl(DeviceType type) {
  const DeviceGuardImpl* impl = find_device_guard_impl(type);
  OPGEN_CHECK(impl != nullptr, "no backend for ", type,
              " is loaded: set_device_guard_impl was not called");
  return *impl;
}
// Returns `device` with an index. If it has none, the index is that of the current device.
Device with_index(const DeviceGuardImpl& impl, Device device) {
  return device.has_index() ? device : impl.device();
}
}  // namespace

Stream getCurrentStream(Device device) {
  const DeviceGuardImpl& impl = guard_impl(device.type());
  return impl.current_stream(with_index(impl, device));
}
Stream getDefaultStream(Device device) {
  return Stream(with_index(guard_impl(device.type()), device), 0);
}
Stream getNewStream(Device device) {
  const DeviceGuardImpl& impl = guard_impl(device.type());
  return impl.new_stream(with_index(impl, device));
}
void synchronize(Stream stream) {
  guard_impl(stream.device().type()).synchronize(stream);
}

StreamGuard::StreamGuard(Stream stream)
    : device_(stream.device()),
      impl_(&guard_impl(stream.device().type())),
      current_(stream),
      original_(impl_->exchange_stream(stream)) {}
StreamGuard::~StreamGuard() {
  impl_->exchange_stream(original_);
}

void record_stream(const Storage& storage, Stream stream) {
  if (storage.nbytes() == 0) return;
  get_allocator(storage.device().type())->record_stream(storage.mutable_data(), stream);
}

void OptionalDeviceGuard::enter(Device device) {
  const DeviceGuardImpl* impl = find_device_guard_impl(device.type());
  // Without a guard the type has no current device: its kernels choose the device themselves.
  if (impl == nullptr) return;
  if (impl_ != nullptr && impl_ != impl) restore();
  Device before = impl->exchange_device(device);
  if (impl_ != impl) original_ = before;
  impl_ = impl;
}
void OptionalDeviceGuard::restore() noexcept {
  impl_->exchange_device(original_);
}

}  // namespace opgen
