// truth.cpp: any, all and count look at the bits of elements, so that all dtypes of a size share a
// loop.
#include "opgen/cpu/truth.h"

#include <cstdint>
#include <type_traits>

#include "opgen/core/error.h"
#include "opgen/core/scalar_type.h"
#include "opgen/cpu/reduce.h"

namespace opgen {

namespace {

// All bits, for a number that is what is looked for: one that is not zero, or, if `flip` has all
// bits, zero. `significant` has the bits that are not zero in some number other than zero: all but
// the signs.
template <class Bits>
struct Found {
  Bits significant;
  Bits flip;
  OPGEN_ALWAYS_INLINE Bits operator()(Bits x) const {
    return static_cast<Bits>(((x & significant) != 0 ? Bits(-1) : Bits(0)) ^ flip);
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE Vec<Bits, bytes> operator()(const Vec<Bits, bytes>& x) const {
    using V = Vec<Bits, bytes>;
    return V::of(((x.values & significant) != Bits(0)) ^ flip);
  }
};
struct Or {
  template <class Bits>
  OPGEN_ALWAYS_INLINE Bits operator()(const Bits& a, const Bits& b) const {
    return static_cast<Bits>(a | b);
  }
  template <class Bits, int bytes>
  OPGEN_ALWAYS_INLINE Vec<Bits, bytes> operator()(const Vec<Bits, bytes>& a,
                                                  const Vec<Bits, bytes>& b) const {
    return Vec<Bits, bytes>::of(a.values | b.values);
  }
  template <class Bits, int bytes>
  OPGEN_ALWAYS_INLINE Bits join_bits(const Vec<Bits, bytes>& x) const {
    using Words = typename detail::VectorOf<std::uint64_t, bytes / 8>::type;
    const Words words = __builtin_bit_cast(Words, x.values);
    std::uint64_t all = 0;
    for (int k = 0; k < bytes / 8; ++k) all |= words[k];
    for (int shift = 32; shift >= 8 * int(sizeof(Bits)); shift /= 2) all |= all >> shift;
    return static_cast<Bits>(all);
  }
};

// The bits of both parts of a complex number: zero if both are. Elements are read into rows of
// these.
struct Pair {
  std::uint64_t real, imag;
  explicit OPGEN_ALWAYS_INLINE operator std::int64_t() const {
    return static_cast<std::int64_t>((real | imag) << 1);
  }
};

// Stores whether some element is found, or its opposite for `all`: all elements are other than zero
// if no zero is found. A bool and a byte that is 0 or 1 are the same in memory.
template <class In, class Bits>
void truth_of_bits(TensorIteratorBase& iter, bool all, std::uint64_t significant) {
  using Fold = detail::VectorFold<Bits, Bits, Found<Bits>, Or>;
  const Fold fold{{static_cast<Bits>(significant), all ? Bits(-1) : Bits(0)}, Or(), Bits(0)};
  const auto result = [all](Bits found) { return (found != 0) != all; };
  detail::run_reduction(
      detail::ReductionPlan(iter),
      detail::VectorLoops<std::uint8_t, In, Bits, Bits, Fold, decltype(result)>(fold, result));
}

// The sum of lanes that are not negative. Neighbours are added in lanes of twice the size.
template <class Bits, int bytes>
OPGEN_ALWAYS_INLINE std::int64_t sum_of_lanes(const Vec<Bits, bytes>& x) {
  if constexpr (sizeof(Bits) == sizeof(std::int64_t)) {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < Vec<Bits, bytes>::size; ++k) sum += x[k];
    return sum;
  } else {
    using Wide =
        std::conditional_t<sizeof(Bits) == 1, std::int16_t,
                           std::conditional_t<sizeof(Bits) == 2, std::int32_t, std::int64_t>>;
    using V = Vec<Wide, bytes>;
    constexpr int half = 8 * sizeof(Bits);
    const auto pairs = __builtin_bit_cast(typename V::Native, x.values);
    const V low(static_cast<Wide>((Wide(1) << half) - 1));
    return sum_of_lanes(V::of((pairs & low.values) + (pairs >> half)));
  }
}

// Counts numbers that are found, in lanes of their size, which are emptied before they overflow.
template <class Bits>
struct CountFold {
  Found<Bits> found;
  static constexpr std::int64_t kMost = 127;

  // Elements are adjacent, or `spacing` is 2 (load_vector).
  template <int bytes, std::int64_t spacing = 1>
  OPGEN_ALWAYS_INLINE std::int64_t row_here(const Bits* at, std::int64_t n) const {
    using V = Vec<Bits, bytes>;
    constexpr std::int64_t chains = 4, step = chains * V::size;
    std::int64_t count = 0, i = 0;
    while (i + step <= n) {
      V lanes[chains] = {V(Bits(0)), V(Bits(0)), V(Bits(0)), V(Bits(0))};
      const std::int64_t last =
          n - step < i + (kMost - 1) * step ? n - step : i + (kMost - 1) * step;
      for (; i <= last; i += step) {
        for (std::int64_t k = 0; k < chains; ++k) {
          const auto elements =
              detail::load_vector<Bits, bytes, spacing>(at + (i + k * V::size) * spacing);
          lanes[k] = V::of(lanes[k].values - found(elements).values);
        }
      }
      for (const V& each : lanes) count += sum_of_lanes(each);
    }
    for (; i < n; ++i) count -= found(at[i * spacing]);
    return count;
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE void rows_here(const char* at, std::int64_t n, std::int64_t step,
                                     std::int64_t count, std::int64_t* states) const {
    for (std::int64_t k = 0; k < count; ++k) {
      states[k] = row_here<bytes>(reinterpret_cast<const Bits*>(at + k * step), n);
    }
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE void columns_here(const char* const* rows, std::int64_t n, std::int64_t count,
                                        std::int64_t* states) const {
    using V = Vec<Bits, bytes>;
    static_assert(detail::kColumnLeaf <= kMost);
    std::int64_t k = 0;
    for (; k + V::size <= count; k += V::size) {
      V lanes(Bits(0));
      for (std::int64_t r = 0; r < n; ++r) {
        const Bits* row = reinterpret_cast<const Bits*>(rows[r]);
        lanes = V::of(lanes.values - found(V::load(row + k)).values);
      }
      for (std::int64_t j = 0; j < V::size; ++j) states[k + j] = lanes[j];
    }
    for (; k < count; ++k) {
      states[k] = 0;
      for (std::int64_t r = 0; r < n; ++r) {
        states[k] -= found(reinterpret_cast<const Bits*>(rows[r])[k]);
      }
    }
  }
#if OPGEN_LOOPS_AVX2
  OPGEN_NOINLINE OPGEN_TARGET_AVX2 std::int64_t every_second_avx2(const Bits* at,
                                                                  std::int64_t n) const {
    return row_here<32, 2>(at, n);
  }
  OPGEN_NOINLINE OPGEN_TARGET_AVX2 void rows_avx2(const char* at, std::int64_t n, std::int64_t step,
                                                  std::int64_t count, std::int64_t* states) const {
    rows_here<32>(at, n, step, count, states);
  }
  OPGEN_NOINLINE OPGEN_TARGET_AVX2 void columns_avx2(const char* const* rows, std::int64_t n,
                                                     std::int64_t count,
                                                     std::int64_t* states) const {
    columns_here<32>(rows, n, count, states);
  }
#endif
};

template <class In, class Bits>
class CountLoops final : public detail::TypedLoops<In, Bits, std::int64_t> {
 public:
  explicit CountLoops(std::uint64_t significant)
      : detail::TypedLoops<In, Bits, std::int64_t>(detail::kFoldRow, detail::kColumnLeaf),
        fold_{{static_cast<Bits>(significant), Bits(0)}} {
#if OPGEN_LOOPS_AVX2
    this->takes_every_second = this->direct && sizeof(Bits) == 8 && detail::use_avx2();
#endif
  }
#if OPGEN_LOOPS_AVX2
  void every_second(const char* at, std::int64_t n, void* state) const override {
    if constexpr (sizeof(Bits) == 8) {
      *static_cast<std::int64_t*>(state) =
          fold_.every_second_avx2(reinterpret_cast<const Bits*>(at), n);
    }
  }
#endif
  void rows(const char* at, std::int64_t n, std::int64_t step, std::int64_t count, std::int64_t,
            void* states) const override {
    auto* counts = static_cast<std::int64_t*>(states);
#if OPGEN_LOOPS_AVX2
    if (detail::use_avx2()) return fold_.rows_avx2(at, n, step, count, counts);
#endif
    fold_.template rows_here<detail::kAnyVector>(at, n, step, count, counts);
  }
  void columns(const char* const* rows, std::int64_t n, std::int64_t count, std::int64_t,
               void* states) const override {
    auto* counts = static_cast<std::int64_t*>(states);
#if OPGEN_LOOPS_AVX2
    if (detail::use_avx2()) return fold_.columns_avx2(rows, n, count, counts);
#endif
    fold_.template columns_here<detail::kAnyVector>(rows, n, count, counts);
  }
  void combine(void* states, const void* later, std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) {
      static_cast<std::int64_t*>(states)[k] += static_cast<const std::int64_t*>(later)[k];
    }
  }
  void clear(void* states, std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) static_cast<std::int64_t*>(states)[k] = 0;
  }
  void store(char* out, std::int64_t stride, const void* states,
             std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) {
      *reinterpret_cast<std::int64_t*>(out + k * stride) =
          static_cast<const std::int64_t*>(states)[k];
    }
  }

 private:
  CountFold<Bits> fold_;
};

// Calls f(element, zero, significant) for numbers of this dtype: `zero` has the type of the bits
// that elements are read as.
template <class F>
void with_bits(ScalarType dtype, const F& f) {
  constexpr std::uint64_t bits = ~std::uint64_t(0), half = bits >> 33;
  const auto numbers = [&f](auto zero, std::uint64_t significant) { f(zero, zero, significant); };
  switch (dtype) {
    case kComplexDouble:
      return f(Pair(), std::int64_t(), bits);
    case kComplexFloat:
      return numbers(std::int64_t(), half << 32 | half);
    case kDouble:
      return numbers(std::int64_t(), bits >> 1);
    case kFloat:
      return numbers(std::int32_t(), bits >> 33);
    case kHalf:
    case kBFloat16:
      return numbers(std::int16_t(), bits >> 49);
    default:
      break;
  }
  switch (elementSize(dtype)) {
    case 1:
      return numbers(std::int8_t(), bits);
    case 2:
      return numbers(std::int16_t(), bits);
    case 4:
      return numbers(std::int32_t(), bits);
    default:
      return numbers(std::int64_t(), bits);
  }
}

void truth(TensorIteratorBase& iter, bool all) {
  const ScalarType result = iter.dtype(0);
  OPGEN_CHECK(iter.ntensors() == 2 && (result == kBool || result == kByte),
              all ? "cpu_all" : "cpu_any", ": expected an output of dtype Bool or Byte, got ",
              result);
  with_bits(iter.dtype(1), [&](auto element, auto zero, std::uint64_t significant) {
    truth_of_bits<decltype(element), decltype(zero)>(iter, all, significant);
  });
}

}  // namespace

void cpu_any(TensorIteratorBase& iter) {
  truth(iter, false);
}
void cpu_all(TensorIteratorBase& iter) {
  truth(iter, true);
}

void cpu_count(TensorIteratorBase& iter) {
  OPGEN_CHECK(iter.ntensors() == 2 && iter.dtype(0) == kLong,
              "cpu_count: expected an output of dtype Long, got ", iter.dtype(0));
  with_bits(iter.dtype(1), [&](auto element, auto zero, std::uint64_t significant) {
    detail::run_reduction(detail::ReductionPlan(iter),
                          CountLoops<decltype(element), decltype(zero)>(significant));
  });
}

}  // namespace opgen
