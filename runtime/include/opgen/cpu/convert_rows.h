// convert_rows.h: rows of elements to and from rows of the type that they are computed in, for
// both targets: half types as floats, with F16C where the processor has it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "opgen/core/scalar_type.h"
#include "opgen/cpu/rows.h"
#include "opgen/cpu/vec.h"

// Without inlining, the author's functions would get vectors from code for another instruction set.
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__NO_INLINE__)
#define OPGEN_LOOPS_AVX2 1
#define OPGEN_TARGET_AVX2 __attribute__((target("avx2")))
#define OPGEN_TARGET_FMA __attribute__((target("avx2,fma,f16c")))
#define OPGEN_TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,f16c")))
#else
#define OPGEN_LOOPS_AVX2 0
#define OPGEN_TARGET_AVX2
#define OPGEN_TARGET_FMA
#endif

// The elements of two vectors whose numbers are in a pack. nvcc does not expand the first form.
#if __has_builtin(__builtin_shufflevector) && !defined(__CUDACC__)
#define OPGEN_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, static_cast<int>(__VA_ARGS__)...)
#else
#define OPGEN_SHUFFLE(a, b, ...) \
  __builtin_shuffle(a, b, decltype(a){static_cast<decltype(a[0] + 0)>(__VA_ARGS__)...})
#endif

namespace opgen::detail {

// Copies n elements, `stride` bytes apart, to adjacent ones, or back. Four at a time, because
// compilers do not unroll the loop; distant ones one at a time, because the processor prefetches
// what one instruction reads.
template <class Bits>
OPGEN_ALWAYS_INLINE void move_bits(char* to, std::int64_t to_stride, const char* from,
                                   std::int64_t from_stride, std::int64_t n) {
  const auto is_near = [](std::int64_t stride) { return -256 < stride && stride < 256; };
  const bool near = is_near(to_stride) && is_near(from_stride);
  for (; near && n >= 4; n -= 4) {
    Bits elements[4];
    for (int k = 0; k < 4; ++k) std::memcpy(&elements[k], from + k * from_stride, sizeof(Bits));
    for (int k = 0; k < 4; ++k) std::memcpy(to + k * to_stride, &elements[k], sizeof(Bits));
    to += 4 * to_stride;
    from += 4 * from_stride;
  }
  for (; n > 0; --n, to += to_stride, from += from_stride) std::memcpy(to, from, sizeof(Bits));
}
// Copies every second element, by vectors of 16 bytes.
template <class Bits, std::size_t... I>
OPGEN_ALWAYS_INLINE void halve_bits(char* to, const char* from, std::int64_t n,
                                    std::index_sequence<I...>) {
  typedef Bits Vector __attribute__((vector_size(16)));
  constexpr std::int64_t size = sizeof...(I), bytes = 16;
  // Does not read the element after the last one.
  for (; n > size; n -= size, to += bytes, from += 2 * bytes) {
    Vector a, b;
    std::memcpy(&a, from, bytes);
    std::memcpy(&b, from + bytes, bytes);
    const Vector halves = OPGEN_SHUFFLE(a, b, 2 * I);
    std::memcpy(to, &halves, bytes);
  }
  move_bits<Bits>(to, sizeof(Bits), from, 2 * sizeof(Bits), n);
}
struct SixteenBytes {
  std::uint64_t parts[2];
};
// Copies n elements of `size` bytes.
inline void move_elements(char* to, std::int64_t to_stride, const char* from,
                          std::int64_t from_stride, std::int64_t n, std::int64_t size) {
  if (to_stride == size && from_stride == size) {
    std::memcpy(to, from, static_cast<std::size_t>(n * size));
    return;
  }
  const bool halves = to_stride == size && from_stride == 2 * size;
  const auto move = [=]<class Bits>(Bits) {
    if (halves) {
      return halve_bits<Bits>(to, from, n, std::make_index_sequence<16 / sizeof(Bits)>());
    }
    move_bits<Bits>(to, to_stride, from, from_stride, n);
  };
  switch (size) {
    case 1:
      return move(std::uint8_t());
    case 2:
      return move(std::uint16_t());
    case 4:
      return move(std::uint32_t());
    case 8:
      return move(std::uint64_t());
    default:
      return move_bits<SixteenBytes>(to, to_stride, from, from_stride, n);
  }
}

// Elements that are not adjacent are collected in blocks of this many before they are converted.
inline constexpr std::int64_t kConvertBlock = 256;

template <class T, class M>
OPGEN_ALWAYS_INLINE void load_row_here(M* to, const char* from, std::int64_t stride,
                                       std::int64_t n) {
  constexpr std::int64_t item = sizeof(T);
  if (stride == 0 && n > 0) {
    const M value = static_cast<M>(element_at(reinterpret_cast<const T*>(from)));
    for (std::int64_t i = 0; i < n; ++i) to[i] = value;
  } else if (stride == item) {
    const T* elements = reinterpret_cast<const T*>(from);
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<M>(element_at(elements + i));
  } else if constexpr (std::is_same_v<T, M>) {
    move_elements(reinterpret_cast<char*>(to), item, from, stride, n, item);
  } else {
    alignas(T) char block[kConvertBlock * item];
    const T* elements = reinterpret_cast<const T*>(block);
    for (; n > 0; n -= kConvertBlock, to += kConvertBlock, from += kConvertBlock * stride) {
      const std::int64_t count = n < kConvertBlock ? n : kConvertBlock;
      move_elements(block, item, from, stride, count, item);
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<M>(element_at(elements + i));
    }
  }
}
template <class T, class M>
OPGEN_ALWAYS_INLINE void store_row_here(char* to, std::int64_t stride, const M* from,
                                        std::int64_t n) {
  constexpr std::int64_t item = sizeof(T);
  if (stride == item) {
    T* elements = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < n; ++i) elements[i] = static_cast<T>(from[i]);
  } else if constexpr (std::is_same_v<T, M>) {
    move_elements(to, stride, reinterpret_cast<const char*>(from), item, n, item);
  } else {
    alignas(T) char block[kConvertBlock * item];
    T* elements = reinterpret_cast<T*>(block);
    for (; n > 0; n -= kConvertBlock, from += kConvertBlock, to += kConvertBlock * stride) {
      const std::int64_t count = n < kConvertBlock ? n : kConvertBlock;
      for (std::int64_t i = 0; i < count; ++i) elements[i] = static_cast<T>(from[i]);
      move_elements(to, stride, block, item, count, item);
    }
  }
}

// Rounds the bits of floats to the upper halves, which are those of bfloat16; NaN has bits of its
// own. The lower halves are undefined.
template <class Words>
OPGEN_ALWAYS_INLINE void round_to_bfloat16(Words& bits) {
  // Floats would not be NaN with -ffast-math; AVX2 compares signed numbers only.
  using Signed = decltype(bits == bits);
  const Signed is_nan = __builtin_bit_cast(Signed, bits & 0x7fffffffu) > 0x7f800000;
  bits = is_nan ? Words{} + 0x7fc00000u : bits + 0x7fffu + ((bits >> 16) & 1u);
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

typedef std::uint32_t Words __attribute__((vector_size(64)));
typedef std::uint16_t HalfWords __attribute__((vector_size(64)));

// Convert whole vectors of adjacent elements from bfloat16 to float, and back, and return how many
// elements these have. A loop with vectors of AVX-512 that reads what smaller vectors wrote waits
// for it.
template <std::size_t... I>
OPGEN_TARGET_AVX512 std::int64_t load_bfloat16_avx512(float* to, const char* from, std::int64_t n,
                                                      std::index_sequence<I...>) {
  const HalfWords zeros{};
  std::int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    HalfWords halves;
    std::memcpy(&halves, from + 2 * i, sizeof halves);
    const HalfWords low = OPGEN_SHUFFLE(zeros, halves, I % 2 * (32 + I / 2));
    const HalfWords high = OPGEN_SHUFFLE(zeros, halves, I % 2 * (48 + I / 2));
    std::memcpy(to + i, &low, sizeof low);
    std::memcpy(to + i + 16, &high, sizeof high);
  }
  return i;
}
template <std::size_t... I>
OPGEN_TARGET_AVX512 std::int64_t store_bfloat16_avx512(char* to, const float* from, std::int64_t n,
                                                       std::index_sequence<I...>) {
  std::int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    Words low, high;
    std::memcpy(&low, from + i, sizeof low);
    std::memcpy(&high, from + i + 16, sizeof high);
    round_to_bfloat16(low);
    round_to_bfloat16(high);
    const HalfWords a = __builtin_bit_cast(HalfWords, low), b = __builtin_bit_cast(HalfWords, high);
    const HalfWords halves = OPGEN_SHUFFLE(a, b, 2 * I + 1);
    std::memcpy(to + 2 * i, &halves, sizeof halves);
  }
  return i;
}

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
  if constexpr (std::is_same_v<T, BFloat16> && std::is_same_v<M, float>) {
    if (stride == std::int64_t(sizeof(T)) && use_avx512()) {
      const std::int64_t done = load_bfloat16_avx512(to, from, n, std::make_index_sequence<32>());
      to += done;
      from += done * stride;
      n -= done;
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
  if constexpr (std::is_same_v<T, BFloat16> && std::is_same_v<M, float>) {
    if (stride == std::int64_t(sizeof(T)) && use_avx512()) {
      const std::int64_t done = store_bfloat16_avx512(to, from, n, std::make_index_sequence<32>());
      to += done * stride;
      from += done;
      n -= done;
    }
  }
  store_row_here<T>(to, stride, from, n);
}
#endif

}  // namespace opgen::detail

#undef OPGEN_SHUFFLE
