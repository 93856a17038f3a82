// device_guard.h: OptionalDeviceGuard makes a device current and restores the previous one; the
// check that tensors share a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "opgen/core/error.h"
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

namespace detail {

// Throws PyTorch's error: argument `argument` of `op` is on another device.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_different_devices(const char* op, const char* schema,
                                                               std::size_t argument, Device common,
                                                               Device device);

// Ignores undefined and absent tensors.
template <class Op, class T>
void check_common_device(std::optional<Device>& common, const T& argument, std::size_t position) {
  if constexpr (requires {
                  argument.defined();
                  argument.device();
                }) {
    if (!argument.defined()) return;
    if (!common.has_value()) {
      common = argument.device();
    } else if (*common != argument.device()) {
      throw_different_devices(Op::name, Op::schema_str, position, *common, argument.device());
    }
  } else if constexpr (requires { argument.has_value(); }) {
    if (argument.has_value()) check_common_device<Op>(common, *argument, position);
  } else {
    for (const auto& element : argument) check_common_device<Op>(common, element, position);
  }
}

}  // namespace detail

}  // namespace opgen
