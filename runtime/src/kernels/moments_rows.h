// moments_rows.h: the moments of adjacent numbers, and their normalisation, by vectors of `bytes`
// (with_vectors.h).
#pragma once

#include <cstdint>

#include "opgen/cpu/moment_sums.h"
#include "opgen/cpu/vector_folds.h"
#include "opgen/cpu/vector_rows.h"

namespace opgen::detail {

template <class T, int bytes>
struct MomentsRows {
  using V = Vec<T, bytes>;
  OPGEN_ROWS static Moments moments(const T* at, std::int64_t n);
  OPGEN_ROWS static void normalise(T* to, const T* from, std::int64_t n, double mean, double factor,
                                   const T* scale, const T* shift);
  OPGEN_ROWS static void scale(T* to, const T* from, std::int64_t n, double mean, double factor,
                               double shift);
};

#ifdef OPGEN_ROWS_TARGET

template <class T, int bytes>
OPGEN_ROWS Moments MomentsRows<T, bytes>::moments(const T* at, std::int64_t n) {
  // This many distances are added in the numbers' own type, and then in doubles.
  constexpr std::int64_t distances = 512;
  constexpr std::int64_t chains = 4 * 32 / bytes, step = chains * V::size;
  const auto count = static_cast<double>(n);
  const T total = fold_row_here<T, T, bytes>(Unchanged(), SumOf(), T(0), at, n);
  const T origin =
      static_cast<T>(origin_of(static_cast<double>(total) / count, static_cast<double>(at[0])));
  const V from(origin);
  DistanceSums result;
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t end = n < i + distances ? n : i + distances;
    V sums[chains], squares[chains];
    for (std::int64_t k = 0; k < chains; ++k) sums[k] = squares[k] = V(T(0));
    for (; i + step <= end; i += step) {
      for (std::int64_t k = 0; k < chains; ++k) {
        const V distance = V::load(at + i + k * V::size) - from;
        sums[k] = sums[k] + distance;
        squares[k] = squares[k] + distance * distance;
      }
    }
    for (; i + V::size <= end; i += V::size) {
      const V distance = V::load(at + i) - from;
      sums[0] = sums[0] + distance;
      squares[0] = squares[0] + distance * distance;
    }
    join(sums, SumOf());
    join(squares, SumOf());
    result.sum += static_cast<double>(join_vector(sums[0], SumOf()));
    result.squares += static_cast<double>(join_vector(squares[0], SumOf()));
    for (; i < end; ++i) {
      const double distance = static_cast<double>(at[i]) - static_cast<double>(origin);
      result.sum += distance;
      result.squares += distance * distance;
    }
  }
  return result.from(static_cast<double>(origin), count);
}

enum class Shift : std::uint8_t { None, Same, Each };

// `shift`: of all numbers if it is the same, else of each.
template <bool scales, Shift shifts, class T, int bytes>
OPGEN_ALWAYS_INLINE void normalise_with(T* to, const T* from, std::int64_t n, double mean,
                                        double factor, const T* scale, const T* shift) {
  using V = Vec<T, bytes>;
  // The mean has two parts, so that the difference is as exact as that of doubles.
  const T high = static_cast<T>(mean), low = static_cast<T>(mean - static_cast<double>(high));
  const T by = static_cast<T>(factor), same = shifts == Shift::Same ? *shift : T(0);
  std::int64_t i = 0;
  for (; i + V::size <= n; i += V::size) {
    V x = (V::load(from + i) - V(high) - V(low)) * V(by);
    if constexpr (scales) x = x * V::load(scale + i);
    if constexpr (shifts == Shift::Same) x = x + V(same);
    if constexpr (shifts == Shift::Each) x = x + V::load(shift + i);
    x.store(to + i);
  }
  for (; i < n; ++i) {
    T x = (from[i] - high - low) * by;
    if constexpr (scales) x *= scale[i];
    if constexpr (shifts == Shift::Same) x += same;
    if constexpr (shifts == Shift::Each) x += shift[i];
    to[i] = x;
  }
}

template <class T, int bytes>
OPGEN_ROWS void MomentsRows<T, bytes>::normalise(T* to, const T* from, std::int64_t n, double mean,
                                                 double factor, const T* scale, const T* shift) {
  if (scale == nullptr) {
    if (shift == nullptr) {
      normalise_with<false, Shift::None, T, bytes>(to, from, n, mean, factor, scale, shift);
    } else {
      normalise_with<false, Shift::Each, T, bytes>(to, from, n, mean, factor, scale, shift);
    }
  } else if (shift == nullptr) {
    normalise_with<true, Shift::None, T, bytes>(to, from, n, mean, factor, scale, shift);
  } else {
    normalise_with<true, Shift::Each, T, bytes>(to, from, n, mean, factor, scale, shift);
  }
}

template <class T, int bytes>
OPGEN_ROWS void MomentsRows<T, bytes>::scale(T* to, const T* from, std::int64_t n, double mean,
                                             double factor, double shift) {
  const T plus = static_cast<T>(shift);
  normalise_with<false, Shift::Same, T, bytes>(to, from, n, mean, factor, nullptr, &plus);
}

template struct MomentsRows<float, OPGEN_ROWS_BYTES>;
template struct MomentsRows<double, OPGEN_ROWS_BYTES>;
#endif

}  // namespace opgen::detail
