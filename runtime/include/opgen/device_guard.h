// device_guard.h: DeviceGuard and StreamGuard, the current device of a device type and the current
// stream of a device for the length of a scope; backends plug in.
#pragma once

#include <cstddef>
#include <optional>

#include "opgen/operator.h"
#include "opgen/stream.h"

namespace opgen {

// What a backend does about current devices and streams, which are each thread's own. CPU and Meta
// have one device and do nothing. A backend that says nothing about streams has one per device, and
// work on it is done when the call returns.
class OPGEN_API DeviceGuardImpl {
 public:
  virtual ~DeviceGuardImpl();
  [[nodiscard]] virtual Device device() const = 0;
  // Returns the device that was current.
  virtual Device exchange_device(Device device) const = 0;
  [[nodiscard]] virtual DeviceIndex device_count() const noexcept = 0;

  // Of a device with an index.
  [[nodiscard]] virtual Stream current_stream(Device device) const;
  // Returns the stream that was current on the stream's device.
  virtual Stream exchange_stream(Stream stream) const;
  // Another stream than the default one, if the device has more.
  [[nodiscard]] virtual Stream new_stream(Device device) const;
  // Waits until the stream's work so far is done.
  virtual void synchronize(Stream stream) const;
};

OPGEN_API void set_device_guard_impl(DeviceType type, const DeviceGuardImpl* impl) noexcept;
// Null if the type has none.
[[nodiscard]] OPGEN_API const DeviceGuardImpl* find_device_guard_impl(DeviceType type) noexcept;

// Does nothing until a device is set, and puts the old device back at the end.
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

// Of the current device of the type, if the device has no index. Error if the type has no guard.
[[nodiscard]] OPGEN_API Stream getCurrentStream(Device device);
[[nodiscard]] OPGEN_API Stream getDefaultStream(Device device);
[[nodiscard]] OPGEN_API Stream getNewStream(Device device);
OPGEN_API void synchronize(Stream stream);
// The stream uses the bytes, which were allocated under another: see Allocator::record_stream.
OPGEN_API void record_stream(const Storage& storage, Stream stream);

// Makes a stream and its device current, and puts back what was current there before.
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

namespace detail {

[[noreturn]] OPGEN_API OPGEN_COLD void throw_different_devices(const char* op, std::size_t argument,
                                                               Device common, Device device);

// Undefined and absent tensors have no say; neither do zero-dim CPU tensors' owners, who pass
// `checked` instead.
template <class T>
void check_common_device(std::optional<Device>& common, const T& argument, const char* op,
                         std::size_t position) {
  if constexpr (requires {
                  argument.defined();
                  argument.device();
                }) {
    if (!argument.defined()) return;
    if (!common.has_value()) {
      common = argument.device();
    } else if (*common != argument.device()) {
      throw_different_devices(op, position, *common, argument.device());
    }
  } else if constexpr (requires { argument.has_value(); }) {
    if (argument.has_value()) check_common_device(common, *argument, op, position);
  } else {
    for (const auto& element : argument) check_common_device(common, element, op, position);
  }
}

inline std::optional<Device> device_to_guard(Device device) noexcept {
  return device;
}
template <class T>
std::optional<Device> device_to_guard(const T& argument) {
  if constexpr (requires {
                  argument.defined();
                  argument.device();
                }) {
    if (!argument.defined()) return std::nullopt;
    return argument.device();
  } else if constexpr (requires { argument.has_value(); }) {
    if (!argument.has_value()) return std::nullopt;
    return device_to_guard(*argument);
  } else {
    for (const auto& element : argument) {
      if (std::optional<Device> device = device_to_guard(element)) return device;
    }
    return std::nullopt;
  }
}

}  // namespace detail

[[nodiscard]] inline Device device_or_default(std::optional<Device> device) noexcept {
  return device.value_or(Device(kCPU));
}

}  // namespace opgen
