// gemm_rows.h: products of panels, of vectors and of columns, by vectors of `bytes`
// (with_vectors.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "opgen/cpu/vector_folds.h"
#include "opgen/cpu/vector_rows.h"

namespace opgen::detail {

// Panels have elements of type P: W, or, for floats, pairs of bfloat16 that follow each other in
// depth, for processors with AVX512-BF16.
template <class W, int bytes, class P = W>
struct GemmRows {
  using V = Vec<W, bytes>;
  // The sums that registers hold: kRows rows of kVectors vectors.
  static constexpr int kRows = bytes == 64 ? 12 : bytes == 32 ? 6 : 4, kVectors = 2;
  static constexpr std::int64_t kColumns = kVectors * V::size;
  // Sets the tile `to`, whose rows are `step` elements apart, to the product of two panels, or adds
  // it.
  OPGEN_ROWS static void multiply(std::int64_t depth, const P* a, const P* b, W* to,
                                  std::int64_t step, bool adds);
  // sums[i] += the sum over k < count of factors[k] * columns[k * step + i].
  OPGEN_ROWS static void add_columns(W* sums, const W* columns, std::int64_t step, const W* factors,
                                     std::int64_t count, std::int64_t n);
};

// The sum of products of adjacent elements.
template <class T, class W, int bytes>
struct DotRows {
  OPGEN_ROWS static W dot(const T* a, const T* b, std::int64_t n);
};

#ifdef OPGEN_ROWS_TARGET

// A vector of one number, loaded at once. (Adding it to zeros would take an addition, because of
// -0.)
template <class V>
OPGEN_ALWAYS_INLINE V repeated(typename V::Element value) noexcept {
  return V::of(value - typename V::Native{});
}

// A vector of one pair, for two products: each of them would load it from memory by itself.
template <class V>
OPGEN_ROWS_TARGET OPGEN_ALWAYS_INLINE V
repeated(const std::uint32_t& pair) noexcept requires std::is_same_v<typename V::Element, float> {
  V pairs;
#if defined(__x86_64__)
  asm("vbroadcastss %1, %0" : "=v"(pairs.values) : "m"(pair));
#endif
  return pairs;
}

// sum + the products of both, which are numbers or pairs. Those of pairs take subnormal numbers for
// zeros, and make zeros of subnormal results.
template <class P, class V>
OPGEN_ROWS_TARGET OPGEN_ALWAYS_INLINE V add_products(V sum, const V& a, const V& b) noexcept {
  if constexpr (std::is_same_v<P, typename V::Element>) {
    sum = multiply_add(a, b, sum);
  } else {
#if defined(__x86_64__)
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.values) : "v"(b.values), "v"(a.values));
#endif
  }
  return sum;
}

template <class W, int bytes, class P>
OPGEN_ROWS void GemmRows<W, bytes, P>::multiply(std::int64_t depth, const P* a, const P* b, W* to,
                                                std::int64_t step, bool adds) {
  V sums[kRows][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sums[i][v] = V(W(0));
  }
  for (std::int64_t p = 0; p < depth; ++p) {
    V factors[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(&factors[v].values, b + v * V::size, bytes);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const V factor = repeated<V>(a[i]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = add_products<P>(sums[i][v], factor, factors[v]);
      }
    }
    a += kRows;
    b += kVectors * V::size;
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      W* at = to + i * step + v * V::size;
      (adds ? V::load(at) + sums[i][v] : sums[i][v]).store(at);
    }
  }
}

// In four vectors of sums.
template <class T, class W, int bytes>
OPGEN_ROWS W DotRows<T, W, bytes>::dot(const T* a, const T* b, std::int64_t n) {
  using V = Vec<W, bytes>;
  V sums[4] = {V(W(0)), V(W(0)), V(W(0)), V(W(0))};
  std::int64_t i = 0;
  for (; i + 4 * V::size <= n; i += 4 * V::size) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      sums[k] = multiply_add(load_vector<W, bytes>(a + i + k * V::size),
                             load_vector<W, bytes>(b + i + k * V::size), sums[k]);
    }
  }
  for (; i + V::size <= n; i += V::size) {
    sums[0] = multiply_add(load_vector<W, bytes>(a + i), load_vector<W, bytes>(b + i), sums[0]);
  }
  const V all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  W total = 0;
  for (std::int64_t k = 0; k < V::size; ++k) total += all[k];
  for (; i < n; ++i) total += static_cast<W>(a[i]) * static_cast<W>(b[i]);
  return total;
}

template <class W, int bytes, class P>
OPGEN_ROWS void GemmRows<W, bytes, P>::add_columns(W* sums, const W* columns, std::int64_t step,
                                                   const W* factors, std::int64_t count,
                                                   std::int64_t n) {
  std::int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const W* at = columns + k * step;
    const V times[4] = {V(factors[k]), V(factors[k + 1]), V(factors[k + 2]), V(factors[k + 3])};
    std::int64_t i = 0;
    for (; i + V::size <= n; i += V::size) {
      V sum = V::load(sums + i);
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) {
        sum = multiply_add(times[c], V::load(at + c * step + i), sum);
      }
      sum.store(sums + i);
    }
    for (; i < n; ++i) {
      for (int c = 0; c < 4; ++c) sums[i] += factors[k + c] * at[c * step + i];
    }
  }
  for (; k < count; ++k) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] += factors[k] * columns[k * step + i];
  }
}

template struct GemmRows<float, OPGEN_ROWS_BYTES>;
template struct GemmRows<double, OPGEN_ROWS_BYTES>;
#if OPGEN_ROWS_BYTES == 64
template struct GemmRows<float, 64, std::uint32_t>;
#endif
template struct GemmRows<std::uint32_t, OPGEN_ROWS_BYTES>;
template struct GemmRows<std::uint64_t, OPGEN_ROWS_BYTES>;
template struct DotRows<std::uint32_t, std::uint32_t, OPGEN_ROWS_BYTES>;
template struct DotRows<std::uint64_t, std::uint64_t, OPGEN_ROWS_BYTES>;
template struct DotRows<float, float, OPGEN_ROWS_BYTES>;
template struct DotRows<double, double, OPGEN_ROWS_BYTES>;
template struct DotRows<BFloat16, float, OPGEN_ROWS_BYTES>;
#endif

}  // namespace opgen::detail
