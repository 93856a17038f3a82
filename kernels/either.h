// either.h: one of two elements, chosen without a branch.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kernels {

// `a` if chosen, else `b`, without a branch or a conditional load: compilers vectorise loops of
// this.
template <class T>
T either(bool chosen, T a, T b) {
  if constexpr (sizeof(T) == 16) {
    return chosen ? a : b;
  } else {
    using Bits = std::conditional_t<
        sizeof(T) == 1, uint8_t,
        std::conditional_t<sizeof(T) == 2, uint16_t,
                           std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
    const auto mask = static_cast<Bits>(Bits(0) - static_cast<Bits>(chosen));
    const auto x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
    return std::bit_cast<T>(static_cast<Bits>((x & mask) | (y & static_cast<Bits>(~mask))));
  }
}

}  // namespace kernels
