// stream.h: Stream, a queue of work on a device. The id is the backend's own; 0 is the default
// stream.
#pragma once

#include <cstdint>

#include "opgen/device/device.h"

namespace opgen {

class Stream {
 public:
  constexpr Stream() noexcept = default;
  constexpr Stream(Device device, std::int64_t id) noexcept : device_(device), id_(id) {}
  [[nodiscard]] constexpr Device device() const noexcept { return device_; }
  [[nodiscard]] constexpr std::int64_t id() const noexcept { return id_; }
  [[nodiscard]] constexpr bool operator==(const Stream&) const noexcept = default;

 private:
  Device device_;
  std::int64_t id_ = 0;
};

}  // namespace opgen
