// enumerations.h: Layout and MemoryFormat. Their numbers are PyTorch's.
#pragma once

#include <cstdint>

namespace opgen {

// The arrangement of a tensor's elements in its storage.
enum class Layout : std::int8_t {
  Strided = 0,
  Sparse = 1,
  SparseCsr = 2,
  Mkldnn = 3,
  SparseCsc = 4,
  SparseBsr = 5,
  SparseBsc = 6,
  Jagged = 7,
};

inline constexpr Layout kStrided = Layout::Strided;
inline constexpr Layout kSparse = Layout::Sparse;
inline constexpr Layout kSparseCsr = Layout::SparseCsr;
inline constexpr Layout kMkldnn = Layout::Mkldnn;

[[nodiscard]] constexpr const char* toString(Layout layout) noexcept {
  constexpr const char* names[] = {"Strided",   "Sparse",    "SparseCsr", "Mkldnn",
                                   "SparseCsc", "SparseBsr", "SparseBsc", "Jagged"};
  return names[static_cast<int>(layout)];
}

// An order of strides, requested or detected.
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

}  // namespace opgen
