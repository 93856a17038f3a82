// reduce.h: cpu_reduce, which combines all elements that belong to one output, and cpu_sum.
// Elements are combined pairwise, so that the rounding error of a sum grows with log n.
//
//   TensorIterator iter = make_reduction(out, self, dims, keepdim);
//   cpu_reduce<float, float>(iter, 0.0f,
//                            [](float acc, float x) { return acc + x; },  // add an element
//                            [](float a, float b) { return a + b; },      // combine two parts
//                            [](float acc) { return acc; });              // the value to store
//
// The order in which elements are combined depends only on shape and strides, not on the number of
// threads, so a result has the same bits in every run.
#pragma once

#include <cstdint>

#include "opgen/core/parallel.h"
#include "opgen/core/parallel_reduce.h"
#include "opgen/cpu/loops.h"
#include "opgen/cpu/vec.h"
#include "opgen/iterator/tensor_iterator.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen {

// Returns an iteration over `self` in which `result` has stride 0 along `dims`; absent or empty
// `dims` mean all dimensions. Throws Error unless `result` already has the reduced shape.
[[nodiscard]] OPGEN_API TensorIterator make_reduction(const TensorBase& result,
                                                      const TensorBase& self,
                                                      OptionalIntArrayRef dims, bool keepdim);

// The same for a mask of dimensions. `result` may keep reduced dimensions, with size 1, or not.
[[nodiscard]] OPGEN_API TensorIterator make_reduction(const TensorBase& result,
                                                      const TensorBase& self, DimMask mask);

namespace detail {

// The dimensions of a reduction: those of the output, and those that are folded (reduced).
// Strides are in bytes.
struct ReductionPlan {
  char* out = nullptr;
  const char* in = nullptr;
  DimVector out_sizes;
  DimVector out_strides;
  DimVector in_strides;
  // The folded dimensions, fastest first. The first of them forms the rows.
  DimVector fold_sizes;
  DimVector fold_strides;
  std::int64_t outputs = 1;
  std::int64_t row = 1;
  std::int64_t row_stride = 0;
  std::int64_t rows = 1;

  OPGEN_API explicit ReductionPlan(const TensorIteratorBase& iter);
  // Finds the address of output i and that of the first element that is folded into it.
  OPGEN_API void locate_output(std::int64_t i, char*& out_at, const char*& in_at) const noexcept;
  [[nodiscard]] OPGEN_API const char* locate_row(const char* first, std::int64_t i) const noexcept;
  // Returns whether adjacent outputs have adjacent inputs, as in a sum over the rows of a matrix.
  [[nodiscard]] OPGEN_API bool folds_across_rows(std::size_t in_item) const noexcept;
};

inline constexpr std::int64_t kFoldLeaf = 128;
inline constexpr std::int64_t kFoldLanes = 8;
inline constexpr std::int64_t kBlockLeaf = 16;
// Constants for sums along a row: the number of vectors that accumulate independently, the number
// of additions to each before they are combined, and the length (in elements) of the longest row
// that is not split in two. With these values, the sum of a million times 0.1f is wrong by one unit
// in the last place, as in libtorch; with twice the steps or four times the length, by three.
inline constexpr std::int64_t kSumVectors = 8;
inline constexpr std::int64_t kSumSteps = 16;
inline constexpr std::int64_t kSumRow = 8192;
// The number of bytes to prefetch ahead. The processor's own prefetcher stops at each page
// boundary, which makes a sum of a million floats 10 % slower, and 25 % slower if other programs
// use the memory, too.
inline constexpr std::int64_t kSumAhead = 2048;
// Constants for sums down columns: the number of rows that are added up before they are added to
// the accumulators, the largest number of rows that is not split in two, and the number of columns
// per pass, chosen so that their accumulators stay in the first-level cache.
inline constexpr std::int64_t kColumnRows = 8;
inline constexpr std::int64_t kColumnLeaf = 64;
inline constexpr std::int64_t kColumnBlock = 1024;

// Returns a + b, for numbers or vectors. Integers wrap around, because signed overflow is undefined
// in C++.
template <class T>
OPGEN_ALWAYS_INLINE T sum_of(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return static_cast<T>(a + b);
  }
}
// The step function of cpu_sum.
template <class Acc, class In>
struct AddStep {
  OPGEN_ALWAYS_INLINE Acc operator()(Acc acc, In value) const {
    return sum_of(acc, static_cast<Acc>(value));
  }
};
// Whether a sum can add vectors: the elements are added in their own type.
template <class Step, class In>
inline constexpr bool kAddsVectors = false;
template <class T>
inline constexpr bool kAddsVectors<AddStep<T, T>, T> =
    std::is_floating_point_v<T> || std::is_same_v<T, std::int64_t> ||
    std::is_same_v<T, std::int32_t>;

// Adds all of `sums` into sums[0].
template <class T, std::int64_t count>
OPGEN_ALWAYS_INLINE void join(T (&sums)[count]) {
  for (std::int64_t width = count / 2; width > 0; width /= 2) {
    for (std::int64_t k = 0; k < width; ++k) sums[k] = sum_of(sums[k], sums[k + width]);
  }
}
// Returns the sum of n adjacent elements.
template <class T>
OPGEN_ALWAYS_INLINE T sum_row_here(const T* at, std::int64_t n) {
  using V = Vec<T>;
  constexpr std::int64_t step = kSumVectors * V::size;
  constexpr std::int64_t line = 64;
  auto fetch = [at](std::int64_t i) {
    const char* ahead = reinterpret_cast<const char*>(at + i) + kSumAhead;
    for (std::int64_t k = 0; k < step * std::int64_t(sizeof(T)) / line; ++k) {
      __builtin_prefetch(ahead + k * line);
    }
  };
  V total(T(0));
  std::int64_t i = 0;
  while (i + step <= n) {
    V sums[kSumVectors];
    fetch(i);
    for (std::int64_t k = 0; k < kSumVectors; ++k) sums[k] = V::load(at + i + k * V::size);
    std::int64_t end = std::min(i + kSumSteps * step, n - step + 1);
    for (i += step; i < end; i += step) {
      fetch(i);
      for (std::int64_t k = 0; k < kSumVectors; ++k) {
        sums[k] = sums[k] + V::load(at + i + k * V::size);
      }
    }
    join(sums);
    total = total + sums[0];
  }
  for (; i + V::size <= n; i += V::size) total = total + V::load(at + i);
  T rest(0);
  for (; i < n; ++i) rest = sum_of(rest, at[i]);
  T lanes[V::size];
  total.store(lanes);
  join(lanes);
  return sum_of(lanes[0], rest);
}
// Sets acc[k] to the sum of row k, for `count` rows of n elements, `stride` bytes apart.
template <class T>
OPGEN_ALWAYS_INLINE void sum_rows_here(const char* at, std::int64_t n, std::int64_t stride,
                                       std::int64_t count, T* acc) {
  for (std::int64_t k = 0; k < count; ++k) {
    acc[k] = sum_row_here(reinterpret_cast<const T*>(at + k * stride), n);
  }
}
template <class T>
void sum_rows(const char* at, std::int64_t n, std::int64_t stride, std::int64_t count, T* acc) {
  sum_rows_here(at, n, stride, count, acc);
}
// Adds element k of `rows` rows, `stride` bytes apart, to acc[k]; if `first`, sets acc[k] to it.
template <std::int64_t rows, class T>
OPGEN_ALWAYS_INLINE void add_rows(const char* at, std::int64_t stride, std::int64_t count, T* acc,
                                  bool first) {
  using V = Vec<T>;
  auto row = [&](std::int64_t r) { return reinterpret_cast<const T*>(at + r * stride); };
  std::int64_t k = 0;
  for (; k + V::size <= count; k += V::size) {
    V sums[rows];
    for (std::int64_t r = 0; r < rows; ++r) sums[r] = V::load(row(r) + k);
    join(sums);
    if (!first) sums[0] = V::load(acc + k) + sums[0];
    sums[0].store(acc + k);
  }
  for (; k < count; ++k) {
    T sums[rows];
    for (std::int64_t r = 0; r < rows; ++r) sums[r] = row(r)[k];
    join(sums);
    acc[k] = first ? sums[0] : sum_of(acc[k], sums[0]);
  }
}
// Sets acc[k] to the sum of element k of n rows, `stride` bytes apart. n > 0.
template <class T>
OPGEN_ALWAYS_INLINE void sum_columns_here(const char* at, std::int64_t n, std::int64_t stride,
                                          std::int64_t count, T* acc) {
  std::int64_t i = 0;
  for (; i + kColumnRows <= n; i += kColumnRows) {
    add_rows<kColumnRows>(at + i * stride, stride, count, acc, i == 0);
  }
  for (; i < n; ++i) add_rows<1>(at + i * stride, stride, count, acc, i == 0);
}
template <class T>
void sum_columns(const char* at, std::int64_t n, std::int64_t stride, std::int64_t count, T* acc) {
  sum_columns_here(at, n, stride, count, acc);
}
#if OPGEN_LOOPS_AVX2
template <class T>
OPGEN_TARGET_AVX2 void sum_rows_avx2(const char* at, std::int64_t n, std::int64_t stride,
                                     std::int64_t count, T* acc) {
  sum_rows_here(at, n, stride, count, acc);
}
template <class T>
OPGEN_TARGET_AVX2 void sum_columns_avx2(const char* at, std::int64_t n, std::int64_t stride,
                                        std::int64_t count, T* acc) {
  sum_columns_here(at, n, stride, count, acc);
}
#endif

template <class In, class Acc, class Step, class Combine>
struct Fold {
  const ReductionPlan& plan;
  Acc identity;
  const Step& step;
  const Combine& combine;

  static constexpr bool kVectors = kAddsVectors<Step, In>;

  static In load(const char* at) { return *reinterpret_cast<const In*>(at); }

  // Folds n elements, `stride` bytes apart, into eight accumulators, which the compiler keeps in
  // vector registers.
  [[nodiscard]] Acc row(const char* at, std::int64_t n, std::int64_t stride) const {
    if constexpr (kVectors) {
      if (stride == std::int64_t(sizeof(In)) && n <= kSumRow) {
        Acc sum;
        vector_rows(at, n, 0, 1, &sum);
        return sum;
      }
    }
    if (n > kFoldLeaf) {
      std::int64_t half = n / 2 / kFoldLanes * kFoldLanes;
      return combine(row(at, half, stride), row(at + half * stride, n - half, stride));
    }
    Acc lanes[kFoldLanes];
    for (Acc& lane : lanes) lane = identity;
    std::int64_t i = 0;
    for (; i + kFoldLanes <= n; i += kFoldLanes) {
      for (std::int64_t k = 0; k < kFoldLanes; ++k) {
        lanes[k] = step(lanes[k], load(at + (i + k) * stride));
      }
    }
    for (std::int64_t k = 0; i < n; ++i, ++k) lanes[k] = step(lanes[k], load(at + i * stride));
    for (std::int64_t width = kFoldLanes / 2; width > 0; width /= 2) {
      for (std::int64_t k = 0; k < width; ++k) lanes[k] = combine(lanes[k], lanes[k + width]);
    }
    return lanes[0];
  }
  // Sums `count` rows, `stride` bytes apart.
  static void vector_rows(const char* at, std::int64_t n, std::int64_t stride, std::int64_t count,
                          Acc* acc) {
#if OPGEN_LOOPS_AVX2
    if (use_avx2()) return sum_rows_avx2<In>(at, n, stride, count, acc);
#endif
    sum_rows<In>(at, n, stride, count, acc);
  }
  // Returns whether each output is the sum of one row, so that vector_rows can compute it.
  [[nodiscard]] bool by_vector_rows() const noexcept {
    return kVectors && plan.rows == 1 && plan.row_stride == std::int64_t(sizeof(In)) &&
           plan.row <= kSumRow;
  }
  [[nodiscard]] Acc rows(const char* first, std::int64_t begin, std::int64_t end) const {
    if (end - begin == 1) return row(plan.locate_row(first, begin), plan.row, plan.row_stride);
    std::int64_t middle = begin + (end - begin) / 2;
    return combine(rows(first, begin, middle), rows(first, middle, end));
  }
  // Folds the columns of `count` adjacent outputs at once.
  static constexpr std::int64_t kBlock = kVectors ? kColumnBlock : 512;
  static constexpr std::int64_t kLeaf = kVectors ? kColumnLeaf : kBlockLeaf;
  void block(const char* at, std::int64_t n, std::int64_t count, Acc* acc) const {
    if (n > kLeaf) {
      Acc upper[kBlock];
      std::int64_t half = n / 2 / kColumnRows * kColumnRows;
      block(at, half, count, acc);
      block(at + half * plan.row_stride, n - half, count, upper);
      for (std::int64_t k = 0; k < count; ++k) acc[k] = combine(acc[k], upper[k]);
      return;
    }
    if constexpr (kVectors) {
#if OPGEN_LOOPS_AVX2
      if (use_avx2()) return sum_columns_avx2<In>(at, n, plan.row_stride, count, acc);
#endif
      return sum_columns<In>(at, n, plan.row_stride, count, acc);
    }
    for (std::int64_t k = 0; k < count; ++k) acc[k] = identity;
    for (std::int64_t i = 0; i < n; ++i) {
      const In* values = reinterpret_cast<const In*>(at + i * plan.row_stride);
      for (std::int64_t k = 0; k < count; ++k) acc[k] = step(acc[k], values[k]);
    }
  }
};

}  // namespace detail

template <class Out, class In, class Acc, class Step, class Combine, class Project>
void cpu_reduce(TensorIteratorBase& iter, Acc identity, const Step& step, const Combine& combine,
                const Project& project) {
  detail::check_kernel_dtypes<Out, In>(iter, 1);
  detail::ReductionPlan plan(iter);
  detail::Fold<In, Acc, Step, Combine> fold{plan, identity, step, combine};
  std::int64_t folded = plan.row * plan.rows;
  auto store = [&](char* out, const Acc& acc) {
    *reinterpret_cast<Out*>(out) = static_cast<Out>(project(acc));
  };
  char* out = nullptr;
  const char* in = nullptr;

  if (plan.outputs == 1 && folded >= kGrainSize) {
    plan.locate_output(0, out, in);
    // Divide the rows among threads, or split the row if there is only one.
    bool by_rows = plan.rows > 1;
    std::int64_t grain = by_rows ? std::max<std::int64_t>(1, kGrainSize / plan.row) : kGrainSize;
    store(out, parallel_reduce(
                   0, by_rows ? plan.rows : plan.row, grain, identity,
                   [&](std::int64_t begin, std::int64_t end, const Acc&) {
                     return by_rows ? fold.rows(in, begin, end)
                                    : fold.row(in + begin * plan.row_stride, end - begin,
                                               plan.row_stride);
                   },
                   combine));
    return;
  }
  std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / std::max<std::int64_t>(1, folded));
  bool across = plan.folds_across_rows(sizeof(In));
  parallel_for(0, plan.outputs, grain, [&](std::int64_t begin, std::int64_t end) {
    char* out_at = nullptr;
    const char* in_at = nullptr;
    // Outputs of the same line are equally spaced.
    std::int64_t line = plan.out_sizes.empty() ? 1 : plan.out_sizes[0];
    for (std::int64_t i = begin; i < end;) {
      plan.locate_output(i, out_at, in_at);
      std::int64_t count = std::min(end - i, line - i % line);
      std::int64_t out_step = count > 1 ? plan.out_strides[0] : 0;
      std::int64_t in_step = count > 1 ? plan.in_strides[0] : 0;
      if (folded == 0) {
        for (std::int64_t k = 0; k < count; ++k) store(out_at + k * out_step, identity);
      } else if (across || fold.by_vector_rows()) {
        constexpr std::int64_t most = decltype(fold)::kBlock;
        if (most < count) count = most;
        Acc acc[most];
        if (across) {
          fold.block(in_at, plan.row, count, acc);
        } else if constexpr (decltype(fold)::kVectors) {
          fold.vector_rows(in_at, plan.row, in_step, count, acc);
        }
        for (std::int64_t k = 0; k < count; ++k) store(out_at + k * out_step, acc[k]);
      } else {
        for (std::int64_t k = 0; k < count; ++k) {
          store(out_at + k * out_step, fold.rows(in_at + k * in_step, 0, plan.rows));
        }
      }
      i += count;
    }
  });
}

// Adds in opmath_type<Out>, which is float for Half and BFloat16, and stores project(sum).
template <class Out, class In = Out, class Project>
void cpu_sum(TensorIteratorBase& iter, const Project& project) {
  using Acc = opmath_type<Out>;
  cpu_reduce<Out, In>(
      iter, Acc(0), detail::AddStep<Acc, In>(), [](Acc a, Acc b) { return detail::sum_of(a, b); },
      project);
}
template <class Out, class In = Out>
void cpu_sum(TensorIteratorBase& iter) {
  cpu_sum<Out, In>(iter, [](opmath_type<Out> acc) { return acc; });
}

}  // namespace opgen
