// device_guard.h: OptionalDeviceGuard makes a device current and restores the previous one.
#pragma once

#include <optional>

#include "opgen/core/macros.h"
#include "opgen/device/device.h"

namespace opgen {

// Does nothing until a device is set; restores the previous device at the end of the scope.
class OPGEN_API OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() noexcept = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) { reset_device(device); }
  ~OptionalDeviceGuard() {
    if (guard_ != nullptr) restore();
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
  void* guard_ = nullptr;  // of PyTorch
};

class DeviceGuard : public OptionalDeviceGuard {
 public:
  explicit DeviceGuard(Device device) : OptionalDeviceGuard(device) {}
};

}  // namespace opgen
