// extremes.h: cpu_extremes, the largest or smallest element of each output and its position.
//
//   cpu_extremes<std::int64_t, float, true>(
//       iter, [](std::int64_t* out, float largest, std::int64_t position) { *out = position; });
//
// NaN counts as both the largest and the smallest. The position is that of the first such element
// in the order of the reduced dimension; reduce one dimension.
#pragma once

#include <cstdint>
#include <cstring>

#include "opgen/cpu/reduce.h"

// All functions of vectors are inlined: the ABI of vectors passed by value does not matter.
namespace opgen {

// The most extreme of some elements and its position, counted from 0.
template <class M>
struct Extreme {
  M value;
  std::int64_t position;
};

namespace detail {

// The most elements of a row, and those of a block, whose largest is found before its position.
inline constexpr std::int64_t kExtremesRow = 65536;
inline constexpr std::int64_t kExtremesBlock = 2048;

template <class M, bool largest>
struct ExtremesFold {
  using State = Extreme<M>;
  using Lane = typename Vec<M>::Lane;
  using Best = ExtremeOf<largest>;

  OPGEN_ALWAYS_INLINE static bool is_nan(M x) {
    if constexpr (std::is_integral_v<M>) return false;
    return x != x;  // NOLINT(misc-redundant-expression)
  }
  OPGEN_ALWAYS_INLINE static M worst() { return least_extreme<M, largest>(); }
  // Whether a later element wins.
  OPGEN_ALWAYS_INLINE static bool wins(M later, M best) {
    return !is_nan(best) && (is_nan(later) || (largest ? later > best : later < best));
  }
  // Returns the position of the first element that is `value`; some element is.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static std::int64_t find(const M* at, std::int64_t n, M value) {
    using V = Vec<M, bytes>;
    constexpr std::int64_t chains = 4, words = bytes / 8;
    const bool nan = is_nan(value);
    const V wanted(value);
    std::int64_t i = 0;
    for (; i + chains * V::size <= n; i += chains * V::size) {
      typename V::Mask any{};
      for (std::int64_t k = 0; k < chains; ++k) {
        const V x = V::load(at + i + k * V::size);
        any |= nan ? (x != x) : (x == wanted);
      }
      std::int64_t bits[words];
      std::memcpy(bits, &any, sizeof bits);
      join(bits, [](std::int64_t a, std::int64_t b) { return a | b; });
      if (bits[0] != 0) break;
    }
    for (; i < n; ++i) {
      if (nan ? is_nan(at[i]) : at[i] == value) return i;
    }
    return 0;
  }
  // The same for rows of a few vectors: without branches, which a processor cannot predict. The
  // last vectors come first, so that the first position is kept.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static std::int64_t find_in_short(const M* at, std::int64_t n, M value) {
    using V = Vec<M, bytes>;
    using L = Vec<Lane, bytes>;
    const V wanted(value);
    const std::int64_t whole = n / V::size * V::size;
    Lane rest = 0;
    for (std::int64_t i = n; i-- > whole;) rest = at[i] == value ? static_cast<Lane>(i) : rest;
    L places;
    for (std::int64_t k = 0; k < V::size; ++k) {
      places.values[k] = static_cast<Lane>(whole + k);
    }
    const Lane none = std::numeric_limits<Lane>::max();
    L found(none);
    for (std::int64_t i = whole; i > 0;) {
      i -= V::size;
      places = places - L(static_cast<Lane>(V::size));
      found = select(V::load(at + i) == wanted, places, found);
    }
    const Lane first = join_vector(found, SmallestOf());
    return first == none ? rest : first;
  }
  // A long row: the position is sought in one block only.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static State blocks_here(const M* row, std::int64_t n, std::int64_t first) {
    M best = worst();
    std::int64_t best_block = 0;
    for (std::int64_t begin = 0; begin < n; begin += kExtremesBlock) {
      const std::int64_t some = std::min(kExtremesBlock, n - begin);
      const M value = fold_row_here<M, M, bytes>(Unchanged(), Best(), worst(), row + begin, some);
      if (begin != 0 && !wins(value, best)) continue;
      best = value;
      best_block = begin;
    }
    const std::int64_t some = std::min(kExtremesBlock, n - best_block);
    return {best, first + best_block + find<bytes>(row + best_block, some, best)};
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void rows_here(const char* at, std::int64_t n, std::int64_t step,
                                            std::int64_t count, std::int64_t first, State* states) {
    for (std::int64_t k = 0; k < count; ++k) {
      const M* row = reinterpret_cast<const M*>(at + k * step);
      if (n > kExtremesBlock) {
        states[k] = blocks_here<bytes>(row, n, first);
        continue;
      }
      const M value = fold_row_here<M, M, bytes>(Unchanged(), Best(), worst(), row, n);
      constexpr std::int64_t few = 32;
      const bool is_short = sizeof(M) >= 4 && n <= few * Vec<M, bytes>::size && !is_nan(value);
      const std::int64_t place =
          is_short ? find_in_short<bytes>(row, n, value) : find<bytes>(row, n, value);
      states[k] = {value, first + place};
    }
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void columns_here(const char* const* rows, std::int64_t n,
                                               std::int64_t count, std::int64_t first,
                                               State* states) {
    using V = Vec<M, bytes>;
    using L = Vec<Lane, bytes>;
    constexpr std::int64_t together = 8;
    M best[kWidth];
    Lane place[kWidth];
    for (std::int64_t from = 0; from < count; from += kWidth) {
      const std::int64_t some = std::min(kWidth, count - from);
      const auto row = [&](std::int64_t r) { return reinterpret_cast<const M*>(rows[r]) + from; };
      for (std::int64_t k = 0; k < some; ++k) {
        best[k] = row(0)[k];
        place[k] = 0;
      }
      for (std::int64_t r = 1; r < n; r += together) {
        const std::int64_t end = std::min(r + together, n);
        std::int64_t k = 0;
        for (; k + V::size <= some; k += V::size) {
          V value = V::load(best + k);
          L at = L::load(place + k);
          for (std::int64_t i = r; i < end; ++i) {
            const V x = V::load(row(i) + k);
            auto win = largest ? x > value : x < value;
            if constexpr (!std::is_integral_v<M>) win |= (x != x) & (value == value);
            value = select(win, x, value);
            at = select(win, L(static_cast<Lane>(i)), at);
          }
          value.store(best + k);
          at.store(place + k);
        }
        for (; k < some; ++k) {
          for (std::int64_t i = r; i < end; ++i) {
            if (!wins(row(i)[k], best[k])) continue;
            best[k] = row(i)[k];
            place[k] = static_cast<Lane>(i);
          }
        }
      }
      for (std::int64_t k = 0; k < some; ++k) {
        states[from + k] = {best[k], first + static_cast<std::int64_t>(place[k])};
      }
    }
  }
  static constexpr std::int64_t kWidth = 256;

#if OPGEN_LOOPS_AVX2
  OPGEN_NOINLINE OPGEN_TARGET_AVX2 static void rows_avx2(const char* at, std::int64_t n,
                                                         std::int64_t step, std::int64_t count,
                                                         std::int64_t first, State* states) {
    rows_here<32>(at, n, step, count, first, states);
  }
  OPGEN_NOINLINE OPGEN_TARGET_AVX2 static void columns_avx2(const char* const* rows, std::int64_t n,
                                                            std::int64_t count, std::int64_t first,
                                                            State* states) {
    columns_here<32>(rows, n, count, first, states);
  }
#endif
  OPGEN_NOINLINE static void rows(const char* at, std::int64_t n, std::int64_t step,
                                  std::int64_t count, std::int64_t first, State* states) {
#if OPGEN_LOOPS_AVX2
    if (use_avx2()) return rows_avx2(at, n, step, count, first, states);
#endif
    rows_here<kAnyVector>(at, n, step, count, first, states);
  }
  OPGEN_NOINLINE static void columns(const char* const* rows, std::int64_t n, std::int64_t count,
                                     std::int64_t first, State* states) {
#if OPGEN_LOOPS_AVX2
    if (use_avx2()) return columns_avx2(rows, n, count, first, states);
#endif
    columns_here<kAnyVector>(rows, n, count, first, states);
  }
};

template <class In, bool largest, class Store>
class ExtremesLoops final : public TypedLoops<In, compared_type<In>, Extreme<compared_type<In>>> {
 public:
  using M = compared_type<In>;
  using Fold = ExtremesFold<M, largest>;
  using State = Extreme<M>;
  explicit ExtremesLoops(const Store& store)
      : TypedLoops<In, M, State>(kExtremesRow, kColumnLeaf), store_(store) {
    this->direct =
        std::is_same_v<In, M>;  // The first of all true bools wins, whatever their bytes.
  }
  void rows(const char* at, std::int64_t n, std::int64_t step, std::int64_t count,
            std::int64_t first, void* states) const override {
    Fold::rows(at, n, step, count, first, static_cast<State*>(states));
  }
  void columns(const char* const* rows, std::int64_t n, std::int64_t count, std::int64_t first,
               void* states) const override {
    Fold::columns(rows, n, count, first, static_cast<State*>(states));
  }
  void combine(void* states, const void* later, std::int64_t count) const override {
    State* to = static_cast<State*>(states);
    const State* from = static_cast<const State*>(later);
    for (std::int64_t k = 0; k < count; ++k) {
      if (Fold::wins(from[k].value, to[k].value)) to[k] = from[k];
    }
  }
  void clear(void* states, std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) static_cast<State*>(states)[k] = {Fold::worst(), -1};
  }
  void store(char* out, std::int64_t stride, const void* states,
             std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) {
      const State& state = static_cast<const State*>(states)[k];
      store_(out + k * stride, static_cast<In>(state.value), state.position);
    }
  }

 private:
  const Store& store_;
};

}  // namespace detail

// Finds the largest (or smallest) element of type In of each output, and calls
// store(pointer to the output, of type Out*, the element, its position).
template <class Out, class In, bool largest, class Store>
void cpu_extremes(TensorIteratorBase& iter, const Store& store) {
  detail::check_kernel_dtypes<Out, In>(iter, 1);
  const auto store_at = [&](char* out, In value, std::int64_t position) {
    store(reinterpret_cast<Out*>(out), value, position);
  };
  detail::run_reduction(detail::ReductionPlan(iter),
                        detail::ExtremesLoops<In, largest, decltype(store_at)>(store_at));
}

}  // namespace opgen
