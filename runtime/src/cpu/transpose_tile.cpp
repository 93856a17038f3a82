// transpose_tile.cpp: transposes blocks of 8 x 8 or 4 x 4 elements in registers, with AVX2 if the
// processor has it, up to ten times as fast as element by element.
#include "cpu/transpose_tile.h"

#include "opgen/registration/dispatch_stub.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define OPGEN_TILE_X86 1
#else
#define OPGEN_TILE_X86 0
#endif

namespace opgen::detail {

namespace {

struct Bytes16 {
  std::uint64_t parts[2];
};

template <class T>
void transpose_part(T* to, const char* from, std::int64_t step, std::int64_t row_begin,
                    std::int64_t row_end, std::int64_t column_begin, std::int64_t column_end,
                    std::int64_t columns) {
  for (std::int64_t x = column_begin; x < column_end; ++x) {
    const T* column = reinterpret_cast<const T*>(from + x * step);
    for (std::int64_t y = row_begin; y < row_end; ++y) to[y * columns + x] = column[y];
  }
}

template <class T>
void transpose_plain(char* to, const char* from, std::int64_t step, std::int64_t rows,
                     std::int64_t columns) {
  transpose_part(reinterpret_cast<T*>(to), from, step, 0, rows, 0, columns, columns);
}

#if OPGEN_TILE_X86
__attribute__((target("avx2"))) inline void block_8x8(float* to, const char* from,
                                                      std::int64_t step, std::int64_t columns) {
  __m256 r[8], t[8], u[8];
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(from + i * step));
  }
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    u[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
    u[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xEE);
    u[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
    u[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xEE);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * columns, _mm256_permute2f128_ps(u[i], u[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * columns, _mm256_permute2f128_ps(u[i], u[i + 4], 0x31));
  }
}

__attribute__((target("avx2"))) inline void block_4x4(double* to, const char* from,
                                                      std::int64_t step, std::int64_t columns) {
  __m256d r[4], t[4];
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_loadu_pd(reinterpret_cast<const double*>(from + i * step));
  }
  for (int i = 0; i < 2; ++i) {
    t[2 * i] = _mm256_unpacklo_pd(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_pd(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    _mm256_storeu_pd(to + i * columns, _mm256_permute2f128_pd(t[i], t[i + 2], 0x20));
    _mm256_storeu_pd(to + (i + 2) * columns, _mm256_permute2f128_pd(t[i], t[i + 2], 0x31));
  }
}

inline void block_8x8(std::uint16_t* to, const char* from, std::int64_t step,
                      std::int64_t columns) {
  __m128i r[8], t[8], u[8];
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * step));
  }
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    u[4 * i] = _mm_unpacklo_epi32(t[4 * i], t[4 * i + 2]);
    u[4 * i + 1] = _mm_unpackhi_epi32(t[4 * i], t[4 * i + 2]);
    u[4 * i + 2] = _mm_unpacklo_epi32(t[4 * i + 1], t[4 * i + 3]);
    u[4 * i + 3] = _mm_unpackhi_epi32(t[4 * i + 1], t[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    __m128i* row = reinterpret_cast<__m128i*>(to + 2 * i * columns);
    __m128i* next = reinterpret_cast<__m128i*>(to + (2 * i + 1) * columns);
    _mm_storeu_si128(row, _mm_unpacklo_epi64(u[i], u[i + 4]));
    _mm_storeu_si128(next, _mm_unpackhi_epi64(u[i], u[i + 4]));
  }
}

inline void block_8x8(std::uint8_t* to, const char* from, std::int64_t step, std::int64_t columns) {
  __m128i r[8], t[4], u[4];
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + i * step));
  }
  for (int i = 0; i < 4; ++i) t[i] = _mm_unpacklo_epi8(r[2 * i], r[2 * i + 1]);
  for (int i = 0; i < 2; ++i) {
    u[i] = _mm_unpacklo_epi16(t[2 * i], t[2 * i + 1]);
    u[i + 2] = _mm_unpackhi_epi16(t[2 * i], t[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    const __m128i pairs[2] = {_mm_unpacklo_epi32(u[2 * i], u[2 * i + 1]),
                              _mm_unpackhi_epi32(u[2 * i], u[2 * i + 1])};
    for (int k = 0; k < 2; ++k) {
      std::uint8_t* row = to + (4 * i + 2 * k) * columns;
      _mm_storel_epi64(reinterpret_cast<__m128i*>(row), pairs[k]);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(row + columns),
                       _mm_unpackhi_epi64(pairs[k], pairs[k]));
    }
  }
}

// T is float or double, or an unsigned integer, and stands for all elements of that size. block<T>
// transposes Size x Size elements.
template <class T, int Size, void (*block)(T*, const char*, std::int64_t, std::int64_t)>
OPGEN_ALWAYS_INLINE void transpose_here(char* to, const char* from, std::int64_t step,
                                        std::int64_t rows, std::int64_t columns) {
  T* out = reinterpret_cast<T*>(to);
  std::int64_t whole_rows = rows / Size * Size;
  std::int64_t whole_columns = columns / Size * Size;
  for (std::int64_t x = 0; x < whole_columns; x += Size) {
    for (std::int64_t y = 0; y < whole_rows; y += Size) {
      block(out + y * columns + x, from + x * step + y * std::int64_t(sizeof(T)), step, columns);
    }
  }
  transpose_part(out, from, step, whole_rows, rows, 0, whole_columns, columns);
  transpose_part(out, from, step, 0, rows, whole_columns, columns, columns);
}
template <class T, int Size, void (*block)(T*, const char*, std::int64_t, std::int64_t)>
__attribute__((target("avx2"))) void transpose_avx2(char* to, const char* from, std::int64_t step,
                                                    std::int64_t rows, std::int64_t columns) {
  transpose_here<T, Size, block>(to, from, step, rows, columns);
}
// With the instructions that every x86-64 has.
template <class T>
void transpose_sse2(char* to, const char* from, std::int64_t step, std::int64_t rows,
                    std::int64_t columns) {
  transpose_here<T, 8, &block_8x8>(to, from, step, rows, columns);
}
#endif

}  // namespace

TransposeTile transpose_tile_of(std::size_t itemsize) noexcept {
  [[maybe_unused]] bool wide = get_cpu_capability() >= CPUCapability::AVX2;
  switch (itemsize) {
    case 1:
#if OPGEN_TILE_X86
      return &transpose_sse2<std::uint8_t>;
#else
      return &transpose_plain<std::uint8_t>;
#endif
    case 2:
#if OPGEN_TILE_X86
      return &transpose_sse2<std::uint16_t>;
#else
      return &transpose_plain<std::uint16_t>;
#endif
    case 4:
#if OPGEN_TILE_X86
      if (wide) return &transpose_avx2<float, 8, &block_8x8>;
#endif
      return &transpose_plain<std::uint32_t>;
    case 8:
#if OPGEN_TILE_X86
      if (wide) return &transpose_avx2<double, 4, &block_4x4>;
#endif
      return &transpose_plain<std::uint64_t>;
    case 16:
      return &transpose_plain<Bytes16>;
    default:
      return nullptr;
  }
}

}  // namespace opgen::detail
