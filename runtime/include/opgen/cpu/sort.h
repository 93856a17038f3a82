// sort.h: stable sorts and selections of one line of elements. An element becomes an unsigned
// integer of the same order, its key, so that one radix sort serves every dtype: NaN is the
// largest, and both zeros are equal.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "opgen/core/macros.h"
#include "opgen/cpu/convert_rows.h"
#include "opgen/cpu/vec.h"

namespace opgen {

// The key of an element of type T: 64 bits for types of 8 bytes, 32 for smaller ones.
template <class T>
using SortKey = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;

// Returns a key that is smaller if the element comes earlier. In descending order, the key is
// inverted, so that equal elements keep their order either way.
template <class T>
[[nodiscard]] OPGEN_ALWAYS_INLINE SortKey<T> sort_key(T value, bool descending) noexcept {
  using Key = SortKey<T>;
  constexpr Key top = Key(1) << (sizeof(Key) * 8 - 1);
  Key key;
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      using Signed = std::make_signed_t<Key>;
      key = static_cast<Key>(static_cast<Signed>(value)) ^ top;
    } else {
      key = static_cast<Key>(value);
    }
  } else {
    // Half types as floats, whose order is the same.
    using Float = std::conditional_t<(sizeof(T) > 4), double, float>;
    const Float number = static_cast<Float>(value);
    const Key bits = std::bit_cast<Key>(number);
    const Key sign = static_cast<Key>(Key(0) - (bits >> (sizeof(Key) * 8 - 1)));
    key = bits ^ (sign | top);
    key = number == 0 ? top : key;
    key = number != number ? ~Key(0) : key;
  }
  return descending ? static_cast<Key>(~key) : key;
}

// A key with the position of its element. Keys of 32 bits and their positions are one integer,
// which is compared as a whole.
template <class Key>
struct KeyedPlace;

template <>
struct KeyedPlace<std::uint32_t> {
  std::uint64_t both;

  static KeyedPlace of(std::uint32_t key, std::int64_t place) noexcept {
    return {(static_cast<std::uint64_t>(key) << 32) | static_cast<std::uint32_t>(place)};
  }
  [[nodiscard]] std::uint32_t key() const noexcept {
    return static_cast<std::uint32_t>(both >> 32);
  }
  [[nodiscard]] std::int64_t place() const noexcept {
    return static_cast<std::int64_t>(both & 0xffffffffu);
  }
  friend bool operator<(const KeyedPlace& a, const KeyedPlace& b) noexcept {
    return a.both < b.both;
  }
};

template <>
struct KeyedPlace<std::uint64_t> {
  std::uint64_t bits;
  std::int64_t at;

  static KeyedPlace of(std::uint64_t key, std::int64_t place) noexcept { return {key, place}; }
  [[nodiscard]] std::uint64_t key() const noexcept { return bits; }
  [[nodiscard]] std::int64_t place() const noexcept { return at; }
  friend bool operator<(const KeyedPlace& a, const KeyedPlace& b) noexcept {
    return a.bits < b.bits || (a.bits == b.bits && a.at < b.at);
  }
};

// The longest line whose positions fit KeyedPlace<std::uint32_t>.
inline constexpr std::int64_t kMostPlaces = std::int64_t(1) << 32;

namespace detail {

template <class Key>
void insertion_sort(KeyedPlace<Key>* line, std::int64_t n) noexcept {
  for (std::int64_t i = 1; i < n; ++i) {
    const KeyedPlace<Key> moved = line[i];
    std::int64_t j = i;
    for (; j > 0 && moved < line[j - 1]; --j) line[j] = line[j - 1];
    line[j] = moved;
  }
}

}  // namespace detail

// Sorts by key, in place. Elements with equal keys keep their order, if their positions ascend.
// `spare` has room for as many elements: a radix sort by bytes, which skips those that all keys
// share.
template <class Key>
void sort_keyed(KeyedPlace<Key>* line, KeyedPlace<Key>* spare, std::int64_t n) {
  constexpr std::size_t bytes = sizeof(Key);
  if (n <= 24) return detail::insertion_sort(line, n);
  if (n <= std::int64_t(bytes) * 16) return std::sort(line, line + n);
  using Counts = std::array<std::int64_t, 256>;
  std::array<Counts, bytes> counts{};
  for (std::int64_t i = 0; i < n; ++i) {
    const Key key = line[i].key();
    for (std::size_t b = 0; b < bytes; ++b) ++counts[b][(key >> (8 * b)) & 255];
  }
  KeyedPlace<Key>* from = line;
  KeyedPlace<Key>* to = spare;
  for (std::size_t b = 0; b < bytes; ++b) {
    Counts& starts = counts[b];
    if (starts[(from[0].key() >> (8 * b)) & 255] == n) continue;
    std::int64_t sum = 0;
    for (std::int64_t& start : starts) {
      const std::int64_t count = start;
      start = sum;
      sum += count;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      to[starts[(from[i].key() >> (8 * b)) & 255]++] = from[i];
    }
    std::swap(from, to);
  }
  if (from != line) std::copy(from, from + n, line);
}

// Moves the first `k` of n elements to the front, in order, as sort_keyed() would.
template <class Key>
void select_keyed(KeyedPlace<Key>* line, KeyedPlace<Key>* spare, std::int64_t n, std::int64_t k) {
  if (k >= n) return sort_keyed(line, spare, n);
  if (k <= 32) {
    // Inserts the few elements that come before the last of those found so far.
    detail::insertion_sort(line, k);
    for (std::int64_t i = k; i < n; ++i) {
      const KeyedPlace<Key> tried = line[i];
      if (OPGEN_LIKELY(!(tried < line[k - 1]))) continue;
      std::int64_t j = k - 1;
      for (; j > 0 && tried < line[j - 1]; --j) line[j] = line[j - 1];
      line[j] = tried;
    }
    return;
  }
  // The sort needs ascending positions, which the search for the last element does not keep.
  std::copy(line, line + n, spare);
  std::nth_element(spare, spare + (k - 1), spare + n);
  const KeyedPlace<Key> last = spare[k - 1];
  static_cast<void>(
      std::remove_if(line, line + n, [&](const KeyedPlace<Key>& each) { return last < each; }));
  sort_keyed(line, spare, k);
}

// Neighbouring short lines are sorted together, one in each lane of vectors, by comparing pairs of
// positions that do not depend on the elements (K. E. Batcher's merge exchange; D. E. Knuth, The
// Art of Computer Programming, volume 3, algorithm 5.2.2M). That pays where vectors of integers of
// 64 bits are compared by one instruction.
namespace sort_together {

inline constexpr std::int64_t kLines = 8, kLongest = 1024;

// Keys of 32 bits and positions, as numbers with a sign.
[[nodiscard]] OPGEN_ALWAYS_INLINE std::int64_t entry_of(std::uint32_t key,
                                                        std::int64_t place) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(key ^ 0x80000000u) << 32) | place;
}
[[nodiscard]] OPGEN_ALWAYS_INLINE std::int64_t place_of(std::int64_t entry) noexcept {
  return entry & 0xffffffff;
}

[[nodiscard]] inline bool pays(std::int64_t size) noexcept {
#if OPGEN_LOOPS_AVX2
  return size <= kLongest && detail::use_avx2();
#else
  return static_cast<void>(size), false;
#endif
}

// Sorts kLines lines of n entries; entry k of line j is at k * kLines + j.
OPGEN_NOINLINE OPGEN_TARGET_AVX2 inline void sort(std::int64_t* entries, std::int64_t n) noexcept {
  using V = Vec<std::int64_t>;
  std::int64_t top = 1;
  while (top * 2 < n) top *= 2;
  for (std::int64_t p = top; p > 0; p /= 2) {
    std::int64_t first = 0, distance = p;
    for (std::int64_t q = top;; q /= 2) {
      for (std::int64_t begin = first; begin < n - distance; begin += 2 * p) {
        std::int64_t* const low = entries + begin * kLines;
        std::int64_t* const high = low + distance * kLines;
        const std::int64_t count = std::min(p, n - distance - begin) * kLines;
        for (std::int64_t i = 0; i < count; i += V::size) {
          const V a = V::load(low + i), b = V::load(high + i);
          const auto in_order = a < b;
          select(in_order, a, b).store(low + i);
          select(in_order, b, a).store(high + i);
        }
      }
      if (q == p) break;
      distance = q - p;
      first = p;
    }
  }
}

}  // namespace sort_together

}  // namespace opgen
