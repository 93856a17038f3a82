// device_guard.h: DeviceGuard and StreamGuard, scopes that set the current device of a device type
// and the current stream of a device, and the interface that backends implement.
#pragma once

#include <optional>

#include "opgen/core/error.h"
#include "opgen/device/device.h"

namespace opgen {

class Storage;

// A backend's current device and streams, of which each thread has its own. CPU and Meta have one
// device and need no guard. A backend that does not override the stream functions has one stream
// per device, and finishes its work before a call returns.
class OPGEN_API DeviceGuardImpl {
 public:
  virtual ~DeviceGuardImpl();
  [[nodiscard]] virtual Device device() const = 0;
  // Makes the device current. Returns the previous one.
  virtual Device exchange_device(Device device) const = 0;
  [[nodiscard]] virtual DeviceIndex device_count() const noexcept = 0;

  // Returns the current stream of a device with an index.
  [[nodiscard]] virtual Stream current_stream(Device device) const;
  // Makes the stream current on its device. Returns the previous one.
  virtual Stream exchange_stream(Stream stream) const;
  // Returns a stream other than the default one, if the device has more than one.
  [[nodiscard]] virtual Stream new_stream(Device device) const;
  // Waits until the stream has finished its work so far.
  virtual void synchronize(Stream stream) const;
};

OPGEN_API void set_device_guard_impl(DeviceType type, const DeviceGuardImpl* impl) noexcept;
// Returns null if the type has none.
[[nodiscard]] OPGEN_API const DeviceGuardImpl* find_device_guard_impl(DeviceType type) noexcept;

// Does nothing until a device is set; restores the previous device at the end of the scope.
class OPGEN_API OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() noexcept = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) { reset_device(device); }
  ~OptionalDeviceGuard() {
    if (impl_ != nullptr) restore();
  }
  OptionalDeviceGuard(const OptionalDeviceGuard&) = delete;
  OptionalDeviceGuard& operator=(const OptionalDeviceGuard&) = delete;

  void reset_device(std::optional<Device> device) {
    if (!device.has_value()) return;
    current_ = device;
    if (!device->is_cpu() && !device->is_meta()) enter(*device);
  }
  [[nodiscard]] std::optional<Device> current_device() const noexcept { return current_; }

 private:
  void enter(Device device);
  void restore() noexcept;

  std::optional<Device> current_;
  Device original_;
  const DeviceGuardImpl* impl_ = nullptr;
};

class DeviceGuard : public OptionalDeviceGuard {
 public:
  explicit DeviceGuard(Device device) : OptionalDeviceGuard(device) {}
};

// A device without an index is the type's current one. Throw Error if the type has no guard.
[[nodiscard]] OPGEN_API Stream getCurrentStream(Device device);
[[nodiscard]] OPGEN_API Stream getDefaultStream(Device device);
[[nodiscard]] OPGEN_API Stream getNewStream(Device device);
OPGEN_API void synchronize(Stream stream);
// Records that `stream` uses the bytes of `storage`: see Allocator::record_stream.
OPGEN_API void record_stream(const Storage& storage, Stream stream);

// Makes a stream and its device current; restores both at the end of the scope.
class OPGEN_API StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  [[nodiscard]] Stream current_stream() const noexcept { return current_; }
  [[nodiscard]] Stream original_stream() const noexcept { return original_; }

 private:
  DeviceGuard device_;
  const DeviceGuardImpl* impl_;
  Stream current_;
  Stream original_;
};

}  // namespace opgen
