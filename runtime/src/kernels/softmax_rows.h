// softmax_rows.h: the softmax of rows of numbers, its logarithm and its gradient, by vectors of
// `bytes` (with_vectors.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "opgen/cpu/convert_rows.h"
#include "opgen/cpu/vec_doubles.h"
#include "opgen/cpu/vector_folds.h"
#include "opgen/cpu/vector_rows.h"

namespace opgen::detail {

// The softmax of adjacent elements in each of several rows, and along the columns of rows that were
// collected in memory, which is padded to whole vectors; or its logarithm.
template <class M, bool logarithm, int bytes>
struct SoftmaxRows {
  using V = Vec<M, bytes>;
  // Of `count` rows of `n` elements, with elements from one row to the next. `to` may be `from`.
  OPGEN_ROWS static void rows(M* to, std::int64_t to_step, const M* from, std::int64_t from_step,
                              std::int64_t n, std::int64_t count);
  // Along the columns of `n` rows of `width` elements. `most` and `sums` have room for `width` and
  // twice `width` elements.
  OPGEN_ROWS static void columns(M* rows, std::int64_t n, std::int64_t width, M* most, M* sums);
};

// (g - sum of g y) y of elements of type T in memory, which are M or, for floats, BFloat16:
// adjacent ones of several rows, or of several columns of adjacent elements. The steps are bytes
// from one row to the next, of the result, g and y. `to` may be `g` or `y`.
template <class T, class M, int bytes>
struct SoftmaxGradient {
  using V = Vec<M, bytes>;
  OPGEN_ROWS static void rows(char* to, const char* g, const char* y, std::int64_t n,
                              std::int64_t count, const std::int64_t* steps);
  // Of n rows. `sums` has room for `count` elements.
  OPGEN_ROWS static void columns(char* to, const char* g, const char* y, std::int64_t n,
                                 std::int64_t count, const std::int64_t* steps, M* sums);
};

#ifdef OPGEN_ROWS_TARGET

// The larger of two, or any of them if one is NaN: then the sum of powers is NaN, whatever they are
// divided by.
struct LargerOf {
  template <class T>
  OPGEN_ALWAYS_INLINE T operator()(const T& a, const T& b) const {
    if constexpr (std::is_arithmetic_v<T>) {
      return a > b ? a : b;
    } else {
      return max(a, b);
    }
  }
};

// The most elements whose powers are added before the sum becomes a double.
template <class M, int bytes>
inline constexpr std::int64_t kMostPowers = 64 * Vec<M, bytes>::size;

// A vector whose lanes have the sum of exp(x - shift) of n elements.
template <class M, int bytes>
OPGEN_ALWAYS_INLINE Vec<M, bytes> powers_in_lanes(const M* from, std::int64_t n,
                                                  const Vec<M, bytes>& shift) {
  using V = Vec<M, bytes>;
  constexpr std::int64_t chains = 4;
  V sums[chains];
  for (std::int64_t k = 0; k < chains; ++k) sums[k] = V(M(0));
  std::int64_t k = 0;
  for (; k + chains * V::size <= n; k += chains * V::size) {
#pragma GCC unroll 4
    for (std::int64_t c = 0; c < chains; ++c) {
      sums[c] = sums[c] + vec::exp(V::load(from + k + c * V::size) - shift);
    }
  }
  for (; k + V::size <= n; k += V::size) {
    sums[0] = sums[0] + vec::exp(V::load(from + k) - shift);
  }
  if (k < n) {
    M last[V::size];
    V(-std::numeric_limits<M>::infinity()).store(last);
    for (std::int64_t c = 0; k + c < n; ++c) last[c] = from[k + c];
    sums[0] = sums[0] + vec::exp(V::load(last) - shift);
  }
  join(sums, SumOf());
  return sums[0];
}

// Sets sums[k] to the sum of exp(x - most[k]) of row k.
template <std::int64_t rows, class M, int bytes>
OPGEN_ALWAYS_INLINE void sums_of_exp(const M* from, std::int64_t step, std::int64_t n,
                                     std::int64_t count, const M* most, M* sums) {
  using V = Vec<M, bytes>;
  if (n > kMostPowers<M, bytes>) {
    for (std::int64_t k = 0; k < count; ++k) {
      double total = 0;
      for (std::int64_t i = 0; i < n; i += kMostPowers<M, bytes>) {
        const std::int64_t some = kMostPowers<M, bytes> < n - i ? kMostPowers<M, bytes> : n - i;
        total += static_cast<double>(
            join_vector(powers_in_lanes(from + k * step + i, some, V(most[k])), SumOf()));
      }
      sums[k] = static_cast<M>(total);
    }
    return;
  }
  // The lanes of several rows are combined together.
  V lanes[rows];
  for (std::int64_t k = 0; k < rows; ++k) {
    lanes[k] = k < count ? powers_in_lanes(from + k * step, n, V(most[k])) : V(M(1));
  }
  join_lanes<rows>(lanes, SumOf());
  M parts[rows][V::size / rows];
  lanes[0].store(parts[0]);
  for (std::int64_t k = 0; k < count; ++k) {
    join(parts[k], SumOf());
    sums[k] = parts[k][0];
  }
}

template <class M, int bytes>
OPGEN_ALWAYS_INLINE void softmax_row(M* to, const M* from, std::int64_t n) {
  using V = Vec<M, bytes>;
  const std::int64_t whole = n / V::size * V::size;
  const V most(fold_row_here<M, M, bytes>(Unchanged(), LargerOf(),
                                          -std::numeric_limits<M>::infinity(), from, n));
  for (std::int64_t i = 0; i < whole; i += V::size) {
    vec::exp(V::load(from + i) - most).store(to + i);
  }
  if (whole < n) {
    M last[V::size];
    most.store(last);
    for (std::int64_t i = whole; i < n; ++i) last[i - whole] = from[i];
    vec::exp(V::load(last) - most).store(last);
    for (std::int64_t i = whole; i < n; ++i) to[i] = last[i - whole];
  }
  const V sum(fold_row_here<M, M, bytes>(Unchanged(), SumOf(), M(0), to, n));
  for (std::int64_t i = 0; i < whole; i += V::size) (V::load(to + i) / sum).store(to + i);
  for (std::int64_t i = whole; i < n; ++i) to[i] /= sum[0];
}

template <class M, bool logarithm, int bytes>
OPGEN_ROWS void SoftmaxRows<M, logarithm, bytes>::rows(M* to, std::int64_t to_step, const M* from,
                                                       std::int64_t from_step, std::int64_t n,
                                                       std::int64_t count) {
  if constexpr (!logarithm) {
    for (std::int64_t r = 0; r < count; ++r) {
      softmax_row<M, bytes>(to + r * to_step, from + r * from_step, n);
    }
    return;
  }
  // The logarithms of the sums of several rows are computed at once.
  constexpr std::int64_t together = V::size < 8 ? V::size : 8;
  const VectorFold<M, M, Unchanged, LargerOf> largest{{}, {}, -std::numeric_limits<M>::infinity()};
  for (std::int64_t first = 0; first < count; first += together) {
    const std::int64_t some = together < count - first ? together : count - first;
    const M* const x = from + first * from_step;
    M most[together], sums[V::size];
    V(M(1)).store(sums);
    largest.template rows<bytes>(reinterpret_cast<const char*>(x), n,
                                 from_step * std::int64_t(sizeof(M)), some, most);
    sums_of_exp<together, M, bytes>(x, from_step, n, some, most, sums);
    vec::log(V::load(sums)).store(sums);
    for (std::int64_t k = 0; k < some; ++k) {
      const M* const row = x + k * from_step;
      M* const result = to + (first + k) * to_step;
      std::int64_t i = 0;
      for (; i + V::size <= n; i += V::size) {
        (V::load(row + i) - V(most[k]) - V(sums[k])).store(result + i);
      }
      for (; i < n; ++i) result[i] = row[i] - most[k] - sums[k];
    }
  }
}

template <class M, bool logarithm, int bytes>
OPGEN_ROWS void SoftmaxRows<M, logarithm, bytes>::columns(M* rows, std::int64_t n,
                                                          std::int64_t width, M* most, M* sums) {
  constexpr std::int64_t part = 64;
  for (std::int64_t k = 0; k < width; k += V::size) {
    V::load(rows + k).store(most + k);
    V(M(0)).store(sums + k);
  }
  for (std::int64_t r = 1; r < n; ++r) {
    for (std::int64_t k = 0; k < width; k += V::size) {
      LargerOf()(V::load(most + k), V::load(rows + r * width + k)).store(most + k);
    }
  }
  M* const sub = sums + width;
  for (std::int64_t r = 0; r < n; r += part) {
    const std::int64_t end = n < r + part ? n : r + part;
    for (std::int64_t k = 0; k < width; k += V::size) V(M(0)).store(sub + k);
    for (std::int64_t i = r; i < end; ++i) {
      M* const row = rows + i * width;
      for (std::int64_t k = 0; k < width; k += V::size) {
        const V power = vec::exp(V::load(row + k) - V::load(most + k));
        if constexpr (!logarithm) power.store(row + k);
        (V::load(sub + k) + power).store(sub + k);
      }
    }
    for (std::int64_t k = 0; k < width; k += V::size) {
      (V::load(sums + k) + V::load(sub + k)).store(sums + k);
    }
  }
  if constexpr (logarithm) {
    for (std::int64_t k = 0; k < width; k += V::size) vec::log(V::load(sums + k)).store(sums + k);
  }
  for (std::int64_t r = 0; r < n; ++r) {
    M* const row = rows + r * width;
    for (std::int64_t k = 0; k < width; k += V::size) {
      if constexpr (logarithm) {
        (V::load(row + k) - V::load(most + k) - V::load(sums + k)).store(row + k);
      } else {
        (V::load(row + k) / V::load(sums + k)).store(row + k);
      }
    }
  }
}

// Two vectors of adjacent elements: those of a half type with even and with odd positions, which
// are the halves of 32-bit numbers.
template <class T, class M, int bytes>
OPGEN_ALWAYS_INLINE void load_two(const T* from, Vec<M, bytes>& a, Vec<M, bytes>& b) {
  using V = Vec<M, bytes>;
  if constexpr (std::is_same_v<T, M>) {
    a = V::load(from);
    b = V::load(from + V::size);
  } else {
    using Wide = typename VectorOf<std::uint32_t, V::size>::type;
    Wide words;
    std::memcpy(&words, from, sizeof words);
    a = V::of(__builtin_bit_cast(typename V::Native, words << 16));
    b = V::of(__builtin_bit_cast(typename V::Native, words & 0xffff0000u));
  }
}
template <class T, class M, int bytes>
OPGEN_ALWAYS_INLINE void store_two(T* to, const Vec<M, bytes>& a, const Vec<M, bytes>& b) {
  using V = Vec<M, bytes>;
  if constexpr (std::is_same_v<T, M>) {
    a.store(to);
    b.store(to + V::size);
  } else {
    using Wide = typename VectorOf<std::uint32_t, V::size>::type;
    Wide lower = __builtin_bit_cast(Wide, a.values), upper = __builtin_bit_cast(Wide, b.values);
    round_to_bfloat16(lower);
    round_to_bfloat16(upper);
    const Wide words = (lower >> 16) | (upper & 0xffff0000u);
    std::memcpy(static_cast<void*>(to), &words, sizeof words);
  }
}

template <class T, class M, int bytes>
OPGEN_ROWS void SoftmaxGradient<T, M, bytes>::rows(char* to, const char* g, const char* y,
                                                   std::int64_t n, std::int64_t count,
                                                   const std::int64_t* steps) {
  constexpr std::int64_t pair = 2 * V::size, step = 2 * pair;
  for (std::int64_t r = 0; r < count; ++r) {
    const T* const grad = reinterpret_cast<const T*>(g + r * steps[1]);
    const T* const output = reinterpret_cast<const T*>(y + r * steps[2]);
    T* const result = reinterpret_cast<T*>(to + r * steps[0]);
    V sums[4];
    for (V& sum : sums) sum = V(M(0));
    V a, b, c, d;
    std::int64_t i = 0;
    for (; i + step <= n; i += step) {
      for (std::int64_t k = 0; k < 2; ++k) {
        load_two(grad + i + k * pair, a, b);
        load_two(output + i + k * pair, c, d);
        sums[2 * k] = multiply_add(a, c, sums[2 * k]);
        sums[2 * k + 1] = multiply_add(b, d, sums[2 * k + 1]);
      }
    }
    for (; i + pair <= n; i += pair) {
      load_two(grad + i, a, b);
      load_two(output + i, c, d);
      sums[0] = multiply_add(a, c, sums[0]);
      sums[1] = multiply_add(b, d, sums[1]);
    }
    join(sums, SumOf());
    M total = join_vector(sums[0], SumOf());
    for (; i < n; ++i) total += static_cast<M>(grad[i]) * static_cast<M>(output[i]);
    const V sum(total);
    for (i = 0; i + pair <= n; i += pair) {
      load_two(grad + i, a, b);
      load_two(output + i, c, d);
      store_two(result + i, (a - sum) * c, (b - sum) * d);
    }
    for (; i < n; ++i) {
      result[i] = static_cast<T>((static_cast<M>(grad[i]) - total) * static_cast<M>(output[i]));
    }
  }
}

// Adds four products to a sum before it goes back to memory.
template <class T, class M, int bytes>
OPGEN_ROWS void SoftmaxGradient<T, M, bytes>::columns(char* to, const char* g, const char* y,
                                                      std::int64_t n, std::int64_t count,
                                                      const std::int64_t* steps, M* sums) {
  constexpr std::int64_t together = 4, pair = 2 * V::size;
  const auto grad = [&](std::int64_t r) { return reinterpret_cast<const T*>(g + r * steps[1]); };
  const auto output = [&](std::int64_t r) { return reinterpret_cast<const T*>(y + r * steps[2]); };
  for (std::int64_t i = 0; i < count; ++i) sums[i] = M(0);
  V a, b, c, d;
  for (std::int64_t r = 0; r < n; r += together) {
    const std::int64_t some = together < n - r ? together : n - r;
    std::int64_t i = 0;
    for (; i + pair <= count; i += pair) {
      V first = V::load(sums + i), second = V::load(sums + i + V::size);
      for (std::int64_t k = r; k < r + some; ++k) {
        load_two(grad(k) + i, a, b);
        load_two(output(k) + i, c, d);
        first = multiply_add(a, c, first);
        second = multiply_add(b, d, second);
      }
      first.store(sums + i);
      second.store(sums + i + V::size);
    }
    for (; i < count; ++i) {
      for (std::int64_t k = r; k < r + some; ++k) {
        sums[i] += static_cast<M>(grad(k)[i]) * static_cast<M>(output(k)[i]);
      }
    }
  }
  for (std::int64_t r = 0; r < n; ++r) {
    T* const result = reinterpret_cast<T*>(to + r * steps[0]);
    const T *const x = grad(r), *const z = output(r);
    std::int64_t i = 0;
    for (; i + pair <= count; i += pair) {
      load_two(x + i, a, b);
      load_two(z + i, c, d);
      store_two(result + i, (a - V::load(sums + i)) * c, (b - V::load(sums + i + V::size)) * d);
    }
    for (; i < count; ++i) {
      result[i] = static_cast<T>((static_cast<M>(x[i]) - sums[i]) * static_cast<M>(z[i]));
    }
  }
}

template struct SoftmaxRows<float, false, OPGEN_ROWS_BYTES>;
template struct SoftmaxRows<float, true, OPGEN_ROWS_BYTES>;
template struct SoftmaxRows<double, false, OPGEN_ROWS_BYTES>;
template struct SoftmaxRows<double, true, OPGEN_ROWS_BYTES>;
template struct SoftmaxGradient<float, float, OPGEN_ROWS_BYTES>;
template struct SoftmaxGradient<double, double, OPGEN_ROWS_BYTES>;
template struct SoftmaxGradient<BFloat16, float, OPGEN_ROWS_BYTES>;
#endif

}  // namespace opgen::detail
