// element.h: element_at, which reads an element of a tensor.
#pragma once

#include <type_traits>

#include "opgen/core/macros.h"

namespace opgen {

// Reads an element. Memory of another library, or a view of a tensor of bytes, may hold any byte
// for a bool: all but 0 are true. A compiler assumes 0 or 1 where it reads a `bool`, so kernels
// read elements, and those of masks, through this function.
template <class T>
OPGEN_ALWAYS_INLINE T element_at(const T* at) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const unsigned char*>(at) != 0;
  } else {
    return *at;
  }
}

}  // namespace opgen
