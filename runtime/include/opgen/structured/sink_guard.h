// sink_guard.h: SinkGuard, which makes the device of a structured operator's outputs current.
#pragma once

#include "opgen/core/dispatch_key.h"
#include "opgen/core/macros.h"
#include "opgen/device/device.h"

namespace opgen::detail {

// Makes a device current until the sink is destroyed, once the device is known; does nothing for
// CPU and Meta.
class OPGEN_API SinkGuard {
 public:
  explicit SinkGuard(DispatchKey key) noexcept
      : active_(key != DispatchKey::CPU && key != DispatchKey::Meta) {}
  ~SinkGuard() {
    if (OPGEN_UNLIKELY(set_)) restore();
  }
  SinkGuard(const SinkGuard&) = delete;
  SinkGuard& operator=(const SinkGuard&) = delete;

  void enter(Device device) {
    if (OPGEN_UNLIKELY(active_)) enter_device(device);
  }

 private:
  void enter_device(Device device);
  void restore() noexcept;

  bool active_;
  bool set_ = false;
  Device current_;
  Device original_;
};

}  // namespace opgen::detail
