// layout.h: Layout, the arrangement of a tensor's elements in its storage.
#pragma once

#include <cstdint>

#include "opgen/core/error.h"

namespace opgen {

// The numbers are PyTorch's.
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
inline void append_message(Message& message, Layout layout) {
  message.append(toString(layout));
}

}  // namespace opgen
