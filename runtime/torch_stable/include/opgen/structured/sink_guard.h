// sink_guard.h: SinkGuard, which makes the device of a structured operator's outputs current.
#pragma once

#include "opgen/core/dispatch_key.h"
#include "opgen/device/device_guard.h"

namespace opgen::detail {

class SinkGuard {
 public:
  explicit SinkGuard(DispatchKey key) noexcept
      : active_(key != DispatchKey::CPU && key != DispatchKey::Meta) {}
  void enter(Device device) {
    if (OPGEN_UNLIKELY(active_) && !guard_.current_device().has_value()) {
      guard_.reset_device(device);
    }
  }

 private:
  bool active_;
  OptionalDeviceGuard guard_;
};

}  // namespace opgen::detail
