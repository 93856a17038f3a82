// convert_rows.h: rows of elements to and from rows of the type that they are computed in, for
// both targets: half types as floats, with F16C where the processor has it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "opgen/core/dispatch_macros.h"
#include "opgen/cpu/rows.h"
#include "opgen/cpu/vec.h"

#if defined(__x86_64__) && defined(__OPTIMIZE__)
#define OPGEN_LOOPS_AVX2 1
#define OPGEN_TARGET_AVX2 __attribute__((target("avx2")))
#define OPGEN_TARGET_FMA __attribute__((target("avx2,fma,f16c")))
#else
#define OPGEN_LOOPS_AVX2 0
#define OPGEN_TARGET_AVX2
#define OPGEN_TARGET_FMA
#endif

namespace opgen::detail {

// Copies n elements of `size` bytes, `stride` bytes apart, to adjacent ones, or back.
template <class Bits>
OPGEN_ALWAYS_INLINE void gather_bits(char* to, std::int64_t to_stride, const char* from,
                                     std::int64_t from_stride, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(Bits));
  }
}
struct SixteenBytes {
  std::uint64_t parts[2];
};
inline void move_elements(char* to, std::int64_t to_stride, const char* from,
                          std::int64_t from_stride, std::int64_t n, std::int64_t size) {
  switch (size) {
    case 1:
      return gather_bits<std::uint8_t>(to, to_stride, from, from_stride, n);
    case 2:
      return gather_bits<std::uint16_t>(to, to_stride, from, from_stride, n);
    case 4:
      return gather_bits<std::uint32_t>(to, to_stride, from, from_stride, n);
    case 8:
      return gather_bits<std::uint64_t>(to, to_stride, from, from_stride, n);
    default:
      return gather_bits<SixteenBytes>(to, to_stride, from, from_stride, n);
  }
}

template <class T, class M>
OPGEN_ALWAYS_INLINE void load_row_here(M* to, const char* from, std::int64_t stride,
                                       std::int64_t n) {
  if (stride == std::int64_t(sizeof(T))) {
    const T* elements = reinterpret_cast<const T*>(from);
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<M>(element_at(elements + i));
  } else if (stride == 0) {
    const M value = static_cast<M>(element_at(reinterpret_cast<const T*>(from)));
    for (std::int64_t i = 0; i < n; ++i) to[i] = value;
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] = static_cast<M>(element_at(reinterpret_cast<const T*>(from + i * stride)));
    }
  }
}
template <class T, class M>
OPGEN_ALWAYS_INLINE void store_row_here(char* to, std::int64_t stride, const M* from,
                                        std::int64_t n) {
  if (stride == std::int64_t(sizeof(T))) {
    T* elements = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < n; ++i) elements[i] = static_cast<T>(from[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<T*>(to + i * stride) = static_cast<T>(from[i]);
    }
  }
}

template <class T, class M>
OPGEN_NOINLINE void load_row(M* to, const char* from, std::int64_t stride, std::int64_t n) {
  load_row_here<T>(to, from, stride, n);
}
template <class T, class M>
OPGEN_NOINLINE void store_row(char* to, std::int64_t stride, const M* from, std::int64_t n) {
  store_row_here<T>(to, stride, from, n);
}

#if OPGEN_LOOPS_AVX2
typedef short Halves __attribute__((vector_size(16)));
typedef float HalvesAsFloats __attribute__((vector_size(32)));

template <class T, class M>
OPGEN_NOINLINE OPGEN_TARGET_FMA void load_row_fma(M* to, const char* from, std::int64_t stride,
                                                  std::int64_t n) {
  if constexpr (std::is_same_v<T, Half> && std::is_same_v<M, float>) {
    for (; stride == std::int64_t(sizeof(T)) && n >= 8; n -= 8, to += 8, from += 16) {
      Halves halves;
      std::memcpy(&halves, from, sizeof halves);
      const HalvesAsFloats floats = __builtin_ia32_vcvtph2ps256(halves);
      std::memcpy(to, &floats, sizeof floats);
    }
  }
  load_row_here<T>(to, from, stride, n);
}
template <class T, class M>
OPGEN_NOINLINE OPGEN_TARGET_FMA void store_row_fma(char* to, std::int64_t stride, const M* from,
                                                   std::int64_t n) {
  if constexpr (std::is_same_v<T, Half> && std::is_same_v<M, float>) {
    for (; stride == std::int64_t(sizeof(T)) && n >= 8; n -= 8, to += 16, from += 8) {
      HalvesAsFloats floats;
      std::memcpy(&floats, from, sizeof floats);
      const Halves halves = __builtin_ia32_vcvtps2ph256(floats, 0);
      std::memcpy(to, &halves, sizeof halves);
    }
  }
  store_row_here<T>(to, stride, from, n);
}
#endif

}  // namespace opgen::detail
