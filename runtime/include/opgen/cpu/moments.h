// moments.h: cpu_moments, means and sums of squared distances from the mean, in one pass over
// memory, for variances, standard deviations and normalisation.
//
//   cpu_moments<float, float>(iter, [](float* variance, const Moments& m) {
//     *variance = static_cast<float>(m.squares / (m.count - 1));
//   });
#pragma once

#include <cstdint>

#include "opgen/cpu/moment_sums.h"
#include "opgen/cpu/reduce.h"

// All functions of vectors are inlined: the ABI of vectors passed by value does not matter.
namespace opgen {

namespace detail {

inline constexpr std::int64_t kMomentsRow = 2048;

template <class M>
struct MomentsFold {
  // Vectors of doubles, and of as many elements.
  using D = Vec<double>;
  using V = Vec<M, int(4 * sizeof(M))>;
  OPGEN_ALWAYS_INLINE static D wide(const V& x) {
    return D::of(__builtin_convertvector(x.values, D::Native));
  }

  // `bytes` of the vectors in the first pass.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static Moments row_here(const M* at, std::int64_t n) {
    constexpr std::int64_t chains = 4, step = chains * D::size;
    const auto count = static_cast<double>(n);
    const M sum = fold_row_here<M, M, bytes>(Unchanged(), SumOf(), M(0), at, n);
    const double origin = origin_of(static_cast<double>(sum) / count, static_cast<double>(at[0]));
    const D from(origin);
    D sums[chains], squares[chains];
    for (std::int64_t k = 0; k < chains; ++k) sums[k] = squares[k] = D(0.0);
    std::int64_t i = 0;
    for (; i + step <= n; i += step) {
      for (std::int64_t k = 0; k < chains; ++k) {
        const D distance = wide(V::load(at + i + k * D::size)) - from;
        sums[k] = sums[k] + distance;
        squares[k] = squares[k] + distance * distance;
      }
    }
    join(sums, SumOf());
    join(squares, SumOf());
    double lanes[D::size], square_lanes[D::size];
    sums[0].store(lanes);
    squares[0].store(square_lanes);
    join(lanes, SumOf());
    join(square_lanes, SumOf());
    DistanceSums result{lanes[0], square_lanes[0]};
    for (; i < n; ++i) {
      const double distance = static_cast<double>(at[i]) - origin;
      result.sum += distance;
      result.squares += distance * distance;
    }
    return result.from(origin, count);
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void rows_here(const char* at, std::int64_t n, std::int64_t step,
                                            std::int64_t count, Moments* states) {
    for (std::int64_t k = 0; k < count; ++k) {
      states[k] = row_here<bytes>(reinterpret_cast<const M*>(at + k * step), n);
    }
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void columns_here(const char* const* rows, std::int64_t n,
                                               std::int64_t count, Moments* states) {
    constexpr std::int64_t width = 128;
    const auto rows_count = static_cast<double>(n);
    for (std::int64_t first = 0; first < count; first += width) {
      const std::int64_t some = std::min(width, count - first);
      // The origins are the means of the columns.
      M means[width];
      double origins[width], sums[width], squares[width];
      const char* at[kColumnLeaf];
      for (std::int64_t r = 0; r < n; ++r) at[r] = rows[r] + first * std::int64_t(sizeof(M));
      fold_columns_here<M, M, bytes>(Unchanged(), SumOf(), at, n, some, means);
      for (std::int64_t k = 0; k < some; ++k) {
        origins[k] = origin_of(static_cast<double>(means[k]) / rows_count,
                               static_cast<double>(reinterpret_cast<const M*>(at[0])[k]));
        sums[k] = squares[k] = 0;
      }
      for (std::int64_t r = 0; r < n; ++r) {
        const M* row = reinterpret_cast<const M*>(at[r]);
        std::int64_t k = 0;
        for (; k + D::size <= some; k += D::size) {
          const D distance = wide(V::load(row + k)) - D::load(origins + k);
          (D::load(sums + k) + distance).store(sums + k);
          (D::load(squares + k) + distance * distance).store(squares + k);
        }
        for (; k < some; ++k) {
          const double distance = static_cast<double>(row[k]) - origins[k];
          sums[k] += distance;
          squares[k] += distance * distance;
        }
      }
      for (std::int64_t k = 0; k < some; ++k) {
        states[first + k] = DistanceSums{sums[k], squares[k]}.from(origins[k], rows_count);
      }
    }
  }
#if OPGEN_LOOPS_AVX2
  OPGEN_NOINLINE OPGEN_TARGET_AVX2 static void rows_avx2(const char* at, std::int64_t n,
                                                         std::int64_t step, std::int64_t count,
                                                         Moments* states) {
    rows_here<32>(at, n, step, count, states);
  }
  OPGEN_NOINLINE OPGEN_TARGET_AVX2 static void columns_avx2(const char* const* rows, std::int64_t n,
                                                            std::int64_t count, Moments* states) {
    columns_here<32>(rows, n, count, states);
  }
#endif
  OPGEN_NOINLINE static void rows(const char* at, std::int64_t n, std::int64_t step,
                                  std::int64_t count, Moments* states) {
#if OPGEN_LOOPS_AVX2
    if (use_avx2()) return rows_avx2(at, n, step, count, states);
#endif
    rows_here<kAnyVector>(at, n, step, count, states);
  }
  OPGEN_NOINLINE static void columns(const char* const* rows, std::int64_t n, std::int64_t count,
                                     Moments* states) {
#if OPGEN_LOOPS_AVX2
    if (use_avx2()) return columns_avx2(rows, n, count, states);
#endif
    columns_here<kAnyVector>(rows, n, count, states);
  }
};

template <class In, class Store>
class MomentsLoops final : public TypedLoops<In, opmath_type<In>, Moments> {
 public:
  using M = opmath_type<In>;
  explicit MomentsLoops(const Store& store)
      : TypedLoops<In, M, Moments>(kMomentsRow, kColumnLeaf), store_(store) {}
  void rows(const char* at, std::int64_t n, std::int64_t step, std::int64_t count, std::int64_t,
            void* states) const override {
    MomentsFold<M>::rows(at, n, step, count, static_cast<Moments*>(states));
  }
  void columns(const char* const* rows, std::int64_t n, std::int64_t count, std::int64_t,
               void* states) const override {
    MomentsFold<M>::columns(rows, n, count, static_cast<Moments*>(states));
  }
  void combine(void* states, const void* later, std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) {
      static_cast<Moments*>(states)[k].add(static_cast<const Moments*>(later)[k]);
    }
  }
  void clear(void* states, std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) static_cast<Moments*>(states)[k] = Moments();
  }
  void store(char* out, std::int64_t stride, const void* states,
             std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) {
      store_(out + k * stride, static_cast<const Moments*>(states)[k]);
    }
  }

 private:
  const Store& store_;
};

}  // namespace detail

// Returns the moments of n adjacent numbers. Distances from the mean are added in their type, 512
// of them at a time, and then in doubles.
[[nodiscard]] OPGEN_API Moments moments_of_row(const float* at, std::int64_t n);
[[nodiscard]] OPGEN_API Moments moments_of_row(const double* at, std::int64_t n);

// Sets to[i] to (from[i] - mean) * factor * scale[i] + shift[i], for n adjacent numbers. `scale`
// and `shift` may be null; `to` may be `from`.
OPGEN_API void normalise_row(float* to, const float* from, std::int64_t n, double mean,
                             double factor, const float* scale = nullptr,
                             const float* shift = nullptr);
OPGEN_API void normalise_row(double* to, const double* from, std::int64_t n, double mean,
                             double factor, const double* scale = nullptr,
                             const double* shift = nullptr);

// Sets to[i] to (from[i] - mean) * factor + shift, for n adjacent numbers. `to` may be `from`.
OPGEN_API void scale_row(float* to, const float* from, std::int64_t n, double mean, double factor,
                         double shift);
OPGEN_API void scale_row(double* to, const double* from, std::int64_t n, double mean, double factor,
                         double shift);

// Computes the moments of the elements of each output, of a floating type In, in doubles, and calls
// store(pointer to the output, of type Out*, moments).
template <class Out, class In, class Store>
void cpu_moments(TensorIteratorBase& iter, const Store& store) {
  detail::check_kernel_dtypes<Out, In>(iter, 1);
  const auto store_at = [&](char* out, const Moments& moments) {
    store(reinterpret_cast<Out*>(out), moments);
  };
  detail::run_reduction(detail::ReductionPlan(iter),
                        detail::MomentsLoops<In, decltype(store_at)>(store_at));
}

}  // namespace opgen
