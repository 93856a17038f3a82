// memory_format.h: MemoryFormat, an order of strides, requested or detected.
#pragma once

#include <cstdint>

#include "opgen/core/error.h"

namespace opgen {

// The numbers are PyTorch's.
enum class MemoryFormat : std::int8_t {
  Contiguous = 0,
  Preserve = 1,
  ChannelsLast = 2,
  ChannelsLast3d = 3,
};

[[nodiscard]] constexpr const char* toString(MemoryFormat format) noexcept {
  constexpr const char* names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return names[static_cast<int>(format)];
}
inline void append_message(Message& message, MemoryFormat format) {
  message.append(toString(format));
}

}  // namespace opgen
