// vector_folds.h: sums, products and extremes of adjacent elements and of columns, by vectors of
// any size. Needs no tensors, so that a source for one instruction set may include it
// (vector_rows.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "opgen/core/half.h"
#include "opgen/cpu/vec.h"

// All functions of vectors are inlined: the ABI of vectors passed by value does not matter.
namespace opgen {

namespace detail {

// Integers wrap around, because signed overflow is undefined in C++.
template <class T>
using Wrapping = std::make_unsigned_t<std::conditional_t<(sizeof(T) < sizeof(int)), int, T>>;
template <class T>
inline constexpr bool kWraps = std::is_integral_v<T> && !std::is_same_v<T, bool>;

}  // namespace detail

// a + b, for numbers or vectors.
struct SumOf {
  template <class T>
  OPGEN_ALWAYS_INLINE T operator()(const T& a, const T& b) const {
    if constexpr (detail::kWraps<T>) {
      using U = detail::Wrapping<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return static_cast<T>(a + b);
    }
  }
};
// a * b, for numbers or vectors.
struct ProductOf {
  template <class T>
  OPGEN_ALWAYS_INLINE T operator()(const T& a, const T& b) const {
    if constexpr (detail::kWraps<T>) {
      using U = detail::Wrapping<T>;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    } else {
      return static_cast<T>(a * b);
    }
  }
};
// The larger of two, or the smaller, for numbers or vectors. NaN wins over all numbers; among
// vectors, its bits may change.
template <bool largest>
struct ExtremeOf {
  template <class T>
  OPGEN_ALWAYS_INLINE T operator()(const T& a, const T& b) const {
    if constexpr (std::is_integral_v<T>) {
      return (largest ? a < b : b < a) ? b : a;
    } else {
      return ((largest ? a < b : b < a) | (b != b)) ? b : a;  // NOLINT(misc-redundant-expression)
    }
  }
  template <class T, int bytes>
  OPGEN_ALWAYS_INLINE Vec<T, bytes> operator()(const Vec<T, bytes>& a,
                                               const Vec<T, bytes>& b) const {
    // If an element of either is NaN, this is that of `a`.
    const Vec<T, bytes> extreme = largest ? max(b, a) : min(b, a);
    if constexpr (std::is_integral_v<T>) {
      return extreme;
    } else {
      return Vec<T, bytes>::from_bits(extreme.bits() | (b != b));
    }
  }
};
// The number that never wins.
template <class T, bool largest>
[[nodiscard]] constexpr T least_extreme() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>) return largest ? Limits::min() : Limits::max();
  return largest ? -Limits::infinity() : Limits::infinity();
}
using LargestOf = ExtremeOf<true>;
using SmallestOf = ExtremeOf<false>;

namespace detail {

// The bytes of a vector for any processor. Vectors of 32 bytes, which it has not, would be compared
// element by element.
inline constexpr int kAnyVector = 16;
// Constants for folds along a row: the bytes of a vector and the number of vectors that accumulate
// independently (or twice as many of 16 bytes, half as many of 64, which are combined in the same
// order, so that sums have the same bits with each instruction set), the number of steps of each
// before they are combined, and the length (in elements) of the longest row that is not split in
// two. With these values, the sum of a million times 0.1f is wrong by one unit in the last place,
// as in libtorch; with twice the steps or four times the length, by three.
inline constexpr int kFoldBytes = 32;
inline constexpr std::int64_t kFoldVectors = 8;
inline constexpr std::int64_t kFoldSteps = 16;
inline constexpr std::int64_t kFoldRow = 8192;
// The number of bytes to prefetch ahead. The processor's own prefetcher stops at each page
// boundary, which makes a sum of a million floats 10 % slower, and 25 % slower if other programs
// use the memory, too.
inline constexpr std::int64_t kFoldAhead = 2048;
// Constants for folds down columns: the number of rows that are folded before they are folded into
// the states, and the largest number of rows that is not split in two.
inline constexpr std::int64_t kColumnRows = 8;
inline constexpr std::int64_t kColumnLeaf = 64;

struct Unchanged {
  template <class T>
  OPGEN_ALWAYS_INLINE T operator()(const T& x) const {
    return x;
  }
};

template <class T, std::int64_t count>
struct VectorOf {
  typedef T type __attribute__((vector_size(count * std::int64_t(sizeof(T)))));
};
// Returns half of each segment of `segment` lanes of a, the earlier or the later one, then those of
// b.
template <std::int64_t segment, bool later, class T, int bytes, std::size_t... i>
OPGEN_ALWAYS_INLINE Vec<T, bytes> halves_of(const Vec<T, bytes>& a, const Vec<T, bytes>& b,
                                            std::index_sequence<i...>) {
  using V = Vec<T, bytes>;
  constexpr auto lane = [](std::int64_t k) -> typename V::Lane {
    constexpr std::int64_t half = segment / 2, of_a = V::size / 2;
    const std::int64_t at = k % of_a;
    return static_cast<typename V::Lane>((k < of_a ? 0 : V::size) + at / half * segment +
                                         at % half + (later ? half : 0));
  };
// nvcc does not expand the pack.
#if __has_builtin(__builtin_shufflevector) && !defined(__CUDACC__)
  return V::of(__builtin_shufflevector(a.values, b.values, lane(i)...));
#else
  return V::of(__builtin_shuffle(a.values, b.values, typename V::Mask::Native{lane(i)...}));
#endif
}
// A vector of M from adjacent elements of In, which is M or, for floats, BFloat16; or, if spacing
// is 2, from every second element of M. Then it also reads the element after the last one.
template <class M, int bytes, std::int64_t spacing = 1, class In>
OPGEN_ALWAYS_INLINE Vec<M, bytes> load_vector(const In* from) {
  using V = Vec<M, bytes>;
  if constexpr (spacing == 2) {
    return halves_of<2, false>(V::load(from), V::load(from + V::size),
                               std::make_index_sequence<static_cast<std::size_t>(V::size)>());
  } else if constexpr (std::is_same_v<In, M>) {
    return V::load(from);
  } else {
    static_assert(std::is_same_v<In, BFloat16> && std::is_same_v<M, float>);
    using Bits32 = typename VectorOf<std::uint32_t, V::size>::type;
    typename VectorOf<std::uint16_t, V::size>::type halves;
    std::memcpy(&halves, from, sizeof halves);
    const Bits32 words = __builtin_convertvector(halves, Bits32) << 16;
    return V::of(__builtin_bit_cast(typename V::Native, words));
  }
}

// Combines all of `parts` into the first `left`.
template <std::int64_t left = 1, class T, std::int64_t count, class Combine>
OPGEN_ALWAYS_INLINE void join(T (&parts)[count], const Combine& combine) {
#pragma GCC unroll 5
  for (std::int64_t width = count / 2; width >= left; width /= 2) {
#pragma GCC unroll 16
    for (std::int64_t k = 0; k < width; ++k) parts[k] = combine(parts[k], parts[k + width]);
  }
}

// What vectors of `bytes` are folded into: at most kFoldBytes.
template <class T, int bytes>
using FoldedVector = Vec < T,
      bytes<kFoldBytes ? bytes : kFoldBytes>;

// Folds the whole vectors of kFoldBytes of n elements (see load_vector), lane by lane. Sets `done`
// to the number of elements that they hold. `map` and `combine` are functions of numbers and of
// vectors.
template <class Acc, class M, int bytes, std::int64_t spacing = 1, class In, class Map,
          class Combine>
OPGEN_ALWAYS_INLINE FoldedVector<Acc, bytes> fold_vectors_here(const Map& map,
                                                               const Combine& combine, Acc identity,
                                                               const In* at, std::int64_t n,
                                                               std::int64_t& done) {
  using V = Vec<M, bytes>;
  using A = Vec<Acc, bytes>;
  using Last = FoldedVector<M, bytes>;
  using Total = FoldedVector<Acc, bytes>;
  constexpr std::int64_t chains = kFoldVectors * kFoldBytes / bytes;
  constexpr std::int64_t step = chains * V::size;
  constexpr std::int64_t line = 64;
  // One vector of kFoldBytes.
  constexpr std::int64_t width = kFoldBytes / std::int64_t(sizeof(Total));
  Total totals[width];
  for (Total& total : totals) total = Total(identity);
  std::int64_t i = 0;
  while (i + step <= n) {
    A parts[chains];
    const std::int64_t last = n - step + 1;
    const std::int64_t end = i + kFoldSteps * step < last ? i + kFoldSteps * step : last;
#pragma GCC unroll 16
    for (std::int64_t k = 0; k < chains; ++k) {
      parts[k] = map(load_vector<M, bytes, spacing>(at + (i + k * V::size) * spacing));
    }
    for (i += step; i < end; i += step) {
      const char* ahead = reinterpret_cast<const char*>(at + i * spacing) + kFoldAhead;
      for (std::int64_t k = 0; k < step * spacing * std::int64_t(sizeof(In)) / line; ++k) {
        __builtin_prefetch(ahead + k * line);
      }
#pragma GCC unroll 16
      for (std::int64_t k = 0; k < chains; ++k) {
        parts[k] = combine(
            parts[k], A(map(load_vector<M, bytes, spacing>(at + (i + k * V::size) * spacing))));
      }
    }
    if constexpr (bytes > kFoldBytes) {
      join(parts, combine);
      Total halves[2];
      std::memcpy(&halves, &parts[0].values, sizeof halves);
      totals[0] = combine(totals[0], combine(halves[0], halves[1]));
    } else {
      join<width>(parts, combine);
      for (std::int64_t k = 0; k < width; ++k) totals[k] = combine(totals[k], parts[k]);
    }
  }
  for (; i + width * Last::size <= n; i += width * Last::size) {
    for (std::int64_t k = 0; k < width; ++k) {
      totals[k] = combine(
          totals[k],
          Total(map(load_vector<M, sizeof(Last), spacing>(at + (i + k * Last::size) * spacing))));
    }
  }
  join(totals, combine);
  done = i;
  return totals[0];
}
// Combines the lanes of each of `count` vectors, whose segments are those of one row each, until
// one vector is left with the segments of all rows. The lanes of a row are combined as `join` does.
template <std::int64_t count, class T, int bytes, class Combine>
OPGEN_ALWAYS_INLINE void join_lanes(Vec<T, bytes>* vectors, const Combine& combine) {
  if constexpr (count > 1) {
    constexpr std::int64_t size = Vec<T, bytes>::size;
    constexpr auto lanes = std::make_index_sequence<static_cast<std::size_t>(size)>();
    join_lanes<count / 2>(vectors, combine);
    join_lanes<count / 2>(vectors + count / 2, combine);
    constexpr std::int64_t segment = size / (count / 2);
    vectors[0] = combine(halves_of<segment, false>(vectors[0], vectors[count / 2], lanes),
                         halves_of<segment, true>(vectors[0], vectors[count / 2], lanes));
  }
}

// Combines the lanes of one vector in registers, as `join` does.
template <std::int64_t segment, class T, int bytes, class Combine, std::size_t... i>
OPGEN_ALWAYS_INLINE Vec<T, bytes> join_segment(const Vec<T, bytes>& v, const Combine& combine,
                                               std::index_sequence<i...> lanes) {
  const Vec<T, bytes> joined = combine(v, halves_of<segment, true>(v, v, lanes));
  if constexpr (segment > 2) {
    return join_segment<segment / 2>(joined, combine, lanes);
  } else {
    return joined;
  }
}
template <class T, int bytes, class Combine>
OPGEN_ALWAYS_INLINE T join_vector(const Vec<T, bytes>& v, const Combine& combine) {
  constexpr std::int64_t size = Vec<T, bytes>::size;
  if constexpr (requires { combine.join_bits(v); }) {
    return combine.join_bits(v);
  } else if constexpr (sizeof(T) < 4) {
    T lanes[size];
    v.store(lanes);
    join(lanes, combine);
    return lanes[0];
  } else {
    return join_segment<size>(v, combine,
                              std::make_index_sequence<static_cast<std::size_t>(size)>())[0];
  }
}

// Folds n adjacent elements.
template <class Acc, class M, int bytes, class Map, class Combine>
OPGEN_ALWAYS_INLINE Acc fold_row_here(const Map& map, const Combine& combine, Acc identity,
                                      const M* at, std::int64_t n) {
  std::int64_t i = 0;
  const auto total = fold_vectors_here<Acc, M, bytes>(map, combine, identity, at, n, i);
  Acc rest = identity;
  for (; i < n; ++i) rest = combine(rest, static_cast<Acc>(map(at[i])));
  return combine(join_vector(total, combine), rest);
}
// Folds element k of `rows` rows into acc[k]; if `fresh`, sets acc[k].
template <std::int64_t rows, class Acc, class M, int bytes, class In, class Map, class Combine>
OPGEN_ALWAYS_INLINE void fold_rows_into(const Map& map, const Combine& combine,
                                        const char* const* at, std::int64_t count, Acc* acc,
                                        bool fresh) {
  using V = Vec<M, bytes>;
  using A = Vec<Acc, bytes>;
  const In* row[rows];
  for (std::int64_t r = 0; r < rows; ++r) row[r] = reinterpret_cast<const In*>(at[r]);
  std::int64_t k = 0;
  for (; k + V::size <= count; k += V::size) {
    A parts[rows];
    for (std::int64_t r = 0; r < rows; ++r) parts[r] = map(load_vector<M, bytes>(row[r] + k));
    join(parts, combine);
    if (!fresh) parts[0] = combine(A::load(acc + k), parts[0]);
    parts[0].store(acc + k);
  }
  for (; k < count; ++k) {
    Acc parts[rows];
    for (std::int64_t r = 0; r < rows; ++r)
      parts[r] = static_cast<Acc>(map(static_cast<M>(row[r][k])));
    join(parts, combine);
    acc[k] = fresh ? parts[0] : combine(acc[k], parts[0]);
  }
}
template <class Acc, class M, int bytes, class In = M, class Map, class Combine>
OPGEN_ALWAYS_INLINE void fold_columns_here(const Map& map, const Combine& combine,
                                           const char* const* rows, std::int64_t n,
                                           std::int64_t count, Acc* acc) {
  std::int64_t i = 0;
  for (; i + kColumnRows <= n; i += kColumnRows) {
    fold_rows_into<kColumnRows, Acc, M, bytes, In>(map, combine, rows + i, count, acc, i == 0);
  }
  for (; i < n; ++i) {
    fold_rows_into<1, Acc, M, bytes, In>(map, combine, rows + i, count, acc, i == 0);
  }
}

// The functions that folds combine with.
enum class FoldKind { Sum, Product, Largest, Smallest, Other };
template <class Combine>
inline constexpr FoldKind kFoldKind = FoldKind::Other;
template <>
inline constexpr FoldKind kFoldKind<SumOf> = FoldKind::Sum;
template <>
inline constexpr FoldKind kFoldKind<ProductOf> = FoldKind::Product;
template <>
inline constexpr FoldKind kFoldKind<LargestOf> = FoldKind::Largest;
template <>
inline constexpr FoldKind kFoldKind<SmallestOf> = FoldKind::Smallest;

// The loops of cpu_reduce_vec that depend on the function only, for rows of type In, whose vectors
// are converted to M.
template <class Acc, class M, class Map, class Combine, class In = M>
struct VectorFold {
  using State = Acc;
  using Input = In;
  static constexpr FoldKind kKind = kFoldKind<Combine>;
  // Whether the runtime contains them for each instruction set.
  static constexpr bool kCompiledApart =
      kKind != FoldKind::Other && std::is_same_v<Map, Unchanged> && std::is_same_v<Acc, M> &&
      (std::is_same_v<In, float> || std::is_same_v<In, double> ||
       std::is_same_v<In, std::int64_t> || std::is_same_v<In, BFloat16>);
  Map map;
  Combine combine;
  Acc identity;

  template <int bytes>
  OPGEN_ALWAYS_INLINE void rows(const char* at, std::int64_t n, std::int64_t step,
                                std::int64_t count, Acc* acc) const {
    // Rows that are short take as long to combine the lanes as to fold: several rows do it
    // together.
    using A = FoldedVector<Acc, bytes>;
    // Lanes of fewer than four bytes cannot be moved so on any processor.
    constexpr std::int64_t together = sizeof(Acc) < 4 ? 1 : A::size < 8 ? A::size : 8;
    for (std::int64_t k = 0; k < count; k += together) {
      const std::int64_t some = together < count - k ? together : count - k;
      A totals[together];
      Acc rests[together];
      for (std::int64_t j = 0; j < some; ++j) {
        const In* row = reinterpret_cast<const In*>(at + (k + j) * step);
        std::int64_t i = 0;
        totals[j] = fold_vectors_here<Acc, M, bytes>(map, combine, identity, row, n, i);
        Acc rest = identity;
        for (; i < n; ++i) rest = combine(rest, static_cast<Acc>(map(static_cast<M>(row[i]))));
        rests[j] = rest;
      }
      if constexpr (together > 1) {
        if (some == together) {
          join_lanes<together>(totals, combine);
          Acc lanes[together][A::size / together];
          totals[0].store(lanes[0]);
          for (std::int64_t j = 0; j < together; ++j) {
            join(lanes[j], combine);
            acc[k + j] = combine(lanes[j][0], rests[j]);
          }
          continue;
        }
      }
      for (std::int64_t j = 0; j < some; ++j) {
        acc[k + j] = combine(join_vector(totals[j], combine), rests[j]);
      }
    }
  }
  // Folds every second element: n of them, which fill whole vectors. Also reads the one after.
  template <int bytes>
  OPGEN_ALWAYS_INLINE void every_second(const char* at, std::int64_t n, Acc* acc) const {
    std::int64_t done = 0;
    *acc = join_vector(fold_vectors_here<Acc, M, bytes, 2>(map, combine, identity,
                                                           reinterpret_cast<const M*>(at), n, done),
                       combine);
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE void columns(const char* const* rows, std::int64_t n, std::int64_t count,
                                   Acc* acc) const {
    fold_columns_here<Acc, M, bytes, In>(map, combine, rows, n, count, acc);
  }
};

// Those loops, with the address of the fold and of its states.
struct FoldFunctions {
  void (*rows)(const void* fold, const char* at, std::int64_t n, std::int64_t step,
               std::int64_t count, void* states);
  void (*columns)(const void* fold, const char* const* rows, std::int64_t n, std::int64_t count,
                  void* states);
  void (*every_second)(const void* fold, const char* at, std::int64_t n, void* state);  // or null
};

}  // namespace detail

}  // namespace opgen
