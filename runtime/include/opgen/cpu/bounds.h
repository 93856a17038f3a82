// bounds.h: cpu_bounds, the smallest and the largest element of each output, in one pass.
//
//   cpu_bounds<float, float>(iter, [=](float* out, float smallest, float largest) { ... });
//
// NaN counts as both. Elements of half types are compared as integers, without a conversion.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "opgen/core/half.h"
#include "opgen/cpu/reduce.h"

// All functions of vectors are inlined: the ABI of vectors passed by value does not matter.
namespace opgen {

namespace detail {

// The numbers that are compared in the place of elements In: integers in the same order for half
// types, whose NaN lie beyond infinity on both sides, and else the elements themselves.
template <class In>
struct BoundsKey {
  static constexpr bool is_half = std::is_same_v<In, Half> || std::is_same_v<In, BFloat16>;
  using Type = std::conditional_t<is_half, std::int16_t, compared_type<In>>;

  // Its own inverse.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static Vec<Type, bytes> of(const Vec<Type, bytes>& x) {
    if constexpr (is_half) {
      const auto bits = x.bits();
      return Vec<Type, bytes>::from_bits(bits ^ ((bits >> 15) & Type(0x7fff)));
    } else {
      return x;
    }
  }
  OPGEN_ALWAYS_INLINE static Type of(Type x) {
    if constexpr (is_half) return static_cast<Type>(x ^ ((x >> 15) & 0x7fff));
    return x;
  }
  static In element(Type key, bool is_nan) {
    if constexpr (is_half) {
      return __builtin_bit_cast(In,
                                is_nan ? static_cast<Type>(infinity | (infinity >> 1)) : of(key));
    } else {
      return static_cast<In>(key);
    }
  }
  // Whether NaN is among elements with these bounds, unless the bounds are NaN.
  static bool has_nan(Type low, Type high) {
    if constexpr (is_half) return low < static_cast<Type>(~infinity) || high > infinity;
    return false;
  }

 private:
  // Its bits. Those of NaN are more, and the key of its negative is the complement.
  static constexpr std::int16_t infinity = std::is_same_v<In, Half> ? 0x7c00 : 0x7f80;
};

template <class M>
struct BoundsState {
  M low, high;
};

// Combines the lanes of a vector.
template <class T, int bytes, class Combine>
OPGEN_ALWAYS_INLINE T join_bound(Vec<T, bytes> v, const Combine& combine) {
  if constexpr (sizeof(T) >= 4) {
    return join_vector(v, combine);
  } else {
    // Processors move pairs of small lanes more easily.
    using Words = Vec<std::int32_t, bytes>;
    constexpr auto lanes = std::make_index_sequence<static_cast<std::size_t>(Words::size)>();
    const auto fold = [&]<std::int64_t segment>(std::integral_constant<std::int64_t, segment>) {
      const Words words = Words::of(__builtin_bit_cast(typename Words::Native, v.values));
      const Words moved = halves_of<segment, true>(words, words, lanes);
      v = combine(
          v, Vec<T, bytes>::of(__builtin_bit_cast(typename Vec<T, bytes>::Native, moved.values)));
    };
    if constexpr (Words::size == 8) fold(std::integral_constant<std::int64_t, 8>());
    fold(std::integral_constant<std::int64_t, 4>());
    fold(std::integral_constant<std::int64_t, 2>());
    T result = v[0];
    for (std::int64_t i = 1; i < 4 / std::int64_t(sizeof(T)); ++i) result = combine(result, v[i]);
    return result;
  }
}

template <class In>
struct BoundsFold {
  using Key = BoundsKey<In>;
  using M = typename Key::Type;
  using State = BoundsState<M>;
  using Low = SmallestOf;
  using High = LargestOf;

  OPGEN_ALWAYS_INLINE static State none() {
    return {least_extreme<M, false>(), least_extreme<M, true>()};
  }
  OPGEN_ALWAYS_INLINE static void add(State& to, M low, M high) {
    to.low = Low()(to.low, low);
    to.high = High()(to.high, high);
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE static State row_here(const M* at, std::int64_t n) {
    using V = Vec<M, bytes>;
    constexpr std::int64_t chains = 4, step = chains * V::size, line = 64;
    V low(none().low), high(none().high);
    std::int64_t i = 0;
    if (n >= step) {
      V lows[chains], highs[chains];
      for (std::int64_t k = 0; k < chains; ++k) {
        lows[k] = low;
        highs[k] = high;
      }
      for (; i + step <= n; i += step) {
        const char* ahead = reinterpret_cast<const char*>(at + i) + kFoldAhead;
        for (std::int64_t k = 0; k < chains * bytes / line; ++k) {
          __builtin_prefetch(ahead + k * line);
        }
        for (std::int64_t k = 0; k < chains; ++k) {
          const V x = Key::of(V::load(at + i + k * V::size));
          lows[k] = Low()(lows[k], x);
          highs[k] = High()(highs[k], x);
        }
      }
      join(lows, Low());
      join(highs, High());
      low = lows[0];
      high = highs[0];
    }
    for (; i + V::size <= n; i += V::size) {
      const V x = Key::of(V::load(at + i));
      low = Low()(low, x);
      high = High()(high, x);
    }
    State state{join_bound(low, Low()), join_bound(high, High())};
    for (; i < n; ++i) add(state, Key::of(at[i]), Key::of(at[i]));
    return state;
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void rows_here(const char* at, std::int64_t n, std::int64_t step,
                                            std::int64_t count, State* states) {
    for (std::int64_t k = 0; k < count; ++k) {
      states[k] = row_here<bytes>(reinterpret_cast<const M*>(at + k * step), n);
    }
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void columns_here(const char* const* rows, std::int64_t n,
                                               std::int64_t count, State* states) {
    using V = Vec<M, bytes>;
    std::int64_t k = 0;
    for (; k + V::size <= count; k += V::size) {
      V low(none().low), high(none().high);
      for (std::int64_t r = 0; r < n; ++r) {
        const V x = Key::of(V::load(reinterpret_cast<const M*>(rows[r]) + k));
        low = Low()(low, x);
        high = High()(high, x);
      }
      for (std::int64_t i = 0; i < V::size; ++i) states[k + i] = {low[i], high[i]};
    }
    for (; k < count; ++k) {
      states[k] = none();
      for (std::int64_t r = 0; r < n; ++r) {
        const M x = Key::of(reinterpret_cast<const M*>(rows[r])[k]);
        add(states[k], x, x);
      }
    }
  }

#if OPGEN_LOOPS_AVX2
  OPGEN_NOINLINE OPGEN_TARGET_AVX2 static void rows_avx2(const char* at, std::int64_t n,
                                                         std::int64_t step, std::int64_t count,
                                                         State* states) {
    rows_here<32>(at, n, step, count, states);
  }
  OPGEN_NOINLINE OPGEN_TARGET_AVX2 static void columns_avx2(const char* const* rows, std::int64_t n,
                                                            std::int64_t count, State* states) {
    columns_here<32>(rows, n, count, states);
  }
#endif
  OPGEN_NOINLINE static void rows(const char* at, std::int64_t n, std::int64_t step,
                                  std::int64_t count, State* states) {
#if OPGEN_LOOPS_AVX2
    if (use_avx2()) return rows_avx2(at, n, step, count, states);
#endif
    rows_here<kAnyVector>(at, n, step, count, states);
  }
  OPGEN_NOINLINE static void columns(const char* const* rows, std::int64_t n, std::int64_t count,
                                     State* states) {
#if OPGEN_LOOPS_AVX2
    if (use_avx2()) return columns_avx2(rows, n, count, states);
#endif
    columns_here<kAnyVector>(rows, n, count, states);
  }
};

// The elements of half types are rows of their bits.
template <class In>
using BoundsRow = std::conditional_t<BoundsKey<In>::is_half, In, typename BoundsKey<In>::Type>;

template <class In, class Store>
class BoundsLoops final
    : public TypedLoops<In, BoundsRow<In>, BoundsState<typename BoundsKey<In>::Type>> {
 public:
  using Key = BoundsKey<In>;
  using M = typename Key::Type;
  using Fold = BoundsFold<In>;
  using State = BoundsState<M>;
  explicit BoundsLoops(const Store& store)
      : TypedLoops<In, BoundsRow<In>, State>(kFoldRow, kColumnLeaf), store_(store) {}
  void rows(const char* at, std::int64_t n, std::int64_t step, std::int64_t count, std::int64_t,
            void* states) const override {
    Fold::rows(at, n, step, count, static_cast<State*>(states));
  }
  void columns(const char* const* rows, std::int64_t n, std::int64_t count, std::int64_t,
               void* states) const override {
    Fold::columns(rows, n, count, static_cast<State*>(states));
  }
  void combine(void* states, const void* later, std::int64_t count) const override {
    State* to = static_cast<State*>(states);
    const State* from = static_cast<const State*>(later);
    for (std::int64_t k = 0; k < count; ++k) Fold::add(to[k], from[k].low, from[k].high);
  }
  void clear(void* states, std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) static_cast<State*>(states)[k] = Fold::none();
  }
  void store(char* out, std::int64_t stride, const void* states,
             std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) {
      const State& state = static_cast<const State*>(states)[k];
      const bool nan = Key::has_nan(state.low, state.high);
      store_(out + k * stride, Key::element(state.low, nan), Key::element(state.high, nan));
    }
  }

 private:
  const Store& store_;
};

}  // namespace detail

// Finds the smallest and the largest element of type In of each output, and calls
// store(pointer to the output, of type Out*, the smallest, the largest).
template <class Out, class In, class Store>
void cpu_bounds(TensorIteratorBase& iter, const Store& store) {
  detail::check_kernel_dtypes<Out, In>(iter, 1);
  const auto store_at = [&](char* out, In low, In high) {
    store(reinterpret_cast<Out*>(out), low, high);
  };
  detail::run_reduction(detail::ReductionPlan(iter),
                        detail::BoundsLoops<In, decltype(store_at)>(store_at));
}

}  // namespace opgen
