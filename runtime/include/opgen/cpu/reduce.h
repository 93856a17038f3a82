// reduce.h: reductions of an iterator that make_reduction returns.
//
//   TensorIterator iter = make_reduction(out, self, dims, keepdim);
//   cpu_sum<float>(iter);
//       The sum, or a function of it: cpu_sum<float>(iter, [n](float sum) { return sum / n; }).
//   cpu_reduce_vec<float, float>(iter, 1.0f, ProductOf());
//       An associative function of two elements, which is also one of two vectors, as
//       [](auto a, auto b) { return a * b; } is. Or, with a function that is applied to elements
//       first: cpu_reduce_vec<float, float>(iter, 0.0f, SumOf(), [](auto x) { return x * x; }).
//   cpu_reduce<float, float>(iter, 0.0f,
//                            [](float acc, float x) { return acc + x; },  // add an element
//                            [](float a, float b) { return a + b; },      // combine two parts
//                            [](float acc) { return acc; });              // the value to store
//       Any other function.
//
// moments.h has means and variances, extremes.h maxima with their positions.
//
// Elements are combined pairwise, so that the rounding error of a sum grows with log n. The order
// in which elements are combined depends only on shape and strides, not on the number of threads,
// so a result has the same bits in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "opgen/core/atomic.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/dim_mask.h"
#include "opgen/cpu/loops.h"
#include "opgen/cpu/parallel_reduce.h"
#include "opgen/cpu/reduction_loops.h"
#include "opgen/cpu/row_buffers.h"
#include "opgen/cpu/vec.h"
#include "opgen/cpu/vector_folds.h"
#include "opgen/iterator/tensor_iterator.h"
#include "opgen/tensor/shape_utils.h"

// All functions of vectors are inlined: the ABI of vectors passed by value does not matter.
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
template <class T>
struct ComparedOf {
  using type = opmath_type<T>;
};
template <>
struct ComparedOf<bool> {
  using type = std::uint8_t;
};
}  // namespace detail
// The type in which elements are compared: float for half types, and bytes for bool.
template <class T>
using compared_type = typename detail::ComparedOf<T>::type;

namespace detail {

// Constants for functions of single elements: the longest row that is not split in two, the number
// of accumulators, and the largest number of rows.
inline constexpr std::int64_t kStepLeaf = 128;
inline constexpr std::int64_t kStepLanes = 8;
inline constexpr std::int64_t kStepColumnLeaf = 16;

// Whether rows of In are folded without a copy that is converted to M: a sum or an extreme would
// take half of its time for that. (Other folds do not, so that all types share their loops.)
template <class In, class M, class Combine>
inline constexpr bool kFoldsConverted =
    (std::is_same_v<Combine, SumOf> || std::is_same_v<Combine, LargestOf> ||
     std::is_same_v<Combine, SmallestOf>)&&std::is_same_v<In, BFloat16>&& std::is_same_v<M, float>;

// Returns the loops of a fold that opgen::kernels contains, with the largest vectors of this
// processor; null if that library is not loaded.
OPGEN_API extern constinit Atomic<FoldFunctions (*)(ScalarType dtype, FoldKind kind) noexcept>
    fold_finder;

// The loops of a fold, in any library. Each works with a copy, which stores of states cannot
// change.
template <class Fold, int bytes>
struct FoldLoops {
  static void rows(const void* fold, const char* at, std::int64_t n, std::int64_t step,
                   std::int64_t count, void* states) {
    const Fold held = *static_cast<const Fold*>(fold);
    held.template rows<bytes>(at, n, step, count, static_cast<typename Fold::State*>(states));
  }
  static void columns(const void* fold, const char* const* rows, std::int64_t n, std::int64_t count,
                      void* states) {
    const Fold held = *static_cast<const Fold*>(fold);
    held.template columns<bytes>(rows, n, count, static_cast<typename Fold::State*>(states));
  }
};
#if OPGEN_LOOPS_AVX2
template <class Fold>
struct FoldLoops<Fold, 32> {
  OPGEN_TARGET_AVX2 static void rows(const void* fold, const char* at, std::int64_t n,
                                     std::int64_t step, std::int64_t count, void* states) {
    const Fold held = *static_cast<const Fold*>(fold);
    held.template rows<32>(at, n, step, count, static_cast<typename Fold::State*>(states));
  }
  OPGEN_TARGET_AVX2 static void columns(const void* fold, const char* const* rows, std::int64_t n,
                                        std::int64_t count, void* states) {
    const Fold held = *static_cast<const Fold*>(fold);
    held.template columns<32>(rows, n, count, static_cast<typename Fold::State*>(states));
  }
};
#endif
// Returns the fastest loops of a fold in this process.
template <class Fold>
FoldFunctions fold_functions() noexcept {
  if constexpr (Fold::kCompiledApart) {
    if (const auto find = fold_finder.load_acquire(); find != nullptr) {
      return find(scalar_type_of<typename Fold::Input>, Fold::kKind);
    }
  }
#if OPGEN_LOOPS_AVX2
  if (use_avx2()) return {&FoldLoops<Fold, 32>::rows, &FoldLoops<Fold, 32>::columns, nullptr};
#endif
  return {&FoldLoops<Fold, kAnyVector>::rows, &FoldLoops<Fold, kAnyVector>::columns, nullptr};
}

// The part of ReductionLoops that depends on types: elements In in memory, M in rows, states State.
template <class In, class M, class State>
class TypedLoops : public ReductionLoops {
 public:
  static_assert(std::is_trivially_copyable_v<State>,
                "the state of a reduction must be trivially copyable");
  static_assert(alignof(State) <= alignof(std::max_align_t));
  TypedLoops(std::int64_t most_of_row, std::int64_t most_of_column) {
    item = sizeof(In);
    loaded = sizeof(M);
    state_size = sizeof(State);
    direct = std::is_same_v<In, M> || (std::is_same_v<In, bool> && sizeof(M) == sizeof(bool));
    row_leaf = most_of_row;
    column_leaf = most_of_column;
  }
  void load(void* to, const char* from, std::int64_t stride, std::int64_t n) const final {
    load_elements<In, M>(to, from, stride, n);
  }

 protected:
  ~TypedLoops() = default;
};

template <class Out, class In, class M, class Acc, class Fold, class Project>
class VectorLoops final : public TypedLoops<In, M, Acc> {
 public:
  VectorLoops(const Fold& fold, const Project& project)
      : TypedLoops<In, M, Acc>(kFoldRow, kColumnLeaf), fold_(fold), project_(project) {
    this->takes_every_second = this->direct && loops_.every_second != nullptr;
  }
  void rows(const char* at, std::int64_t n, std::int64_t step, std::int64_t count, std::int64_t,
            void* states) const override {
    loops_.rows(&fold_, at, n, step, count, states);
  }
  void every_second(const char* at, std::int64_t n, void* state) const override {
    loops_.every_second(&fold_, at, n, state);
  }
  void columns(const char* const* rows, std::int64_t n, std::int64_t count, std::int64_t,
               void* states) const override {
    loops_.columns(&fold_, rows, n, count, states);
  }
  void combine(void* states, const void* later, std::int64_t count) const override {
    Acc* to = static_cast<Acc*>(states);
    const Acc* from = static_cast<const Acc*>(later);
    for (std::int64_t k = 0; k < count; ++k) to[k] = fold_.combine(to[k], from[k]);
  }
  void clear(void* states, std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) static_cast<Acc*>(states)[k] = fold_.identity;
  }
  void store(char* out, std::int64_t stride, const void* states,
             std::int64_t count) const override {
    const Acc* from = static_cast<const Acc*>(states);
    for (std::int64_t k = 0; k < count; ++k) {
      *reinterpret_cast<Out*>(out + k * stride) = static_cast<Out>(project_(from[k]));
    }
  }

 private:
  const Fold& fold_;
  const Project& project_;
  const FoldFunctions loops_ = fold_functions<Fold>();
};

template <class Out, class In, class Acc, class Step, class Combine, class Project>
class StepLoops final : public TypedLoops<In, In, Acc> {
 public:
  StepLoops(const Acc& identity, const Step& step, const Combine& combine, const Project& project)
      : TypedLoops<In, In, Acc>(kFoldRow, kStepColumnLeaf),
        identity_(identity),
        step_(step),
        combine_(combine),
        project_(project) {}
  void rows(const char* at, std::int64_t n, std::int64_t step, std::int64_t count, std::int64_t,
            void* states) const override {
    for (std::int64_t k = 0; k < count; ++k) {
      static_cast<Acc*>(states)[k] = row(reinterpret_cast<const In*>(at + k * step), n);
    }
  }
  void columns(const char* const* rows, std::int64_t n, std::int64_t count, std::int64_t,
               void* states) const override {
    Acc* acc = static_cast<Acc*>(states);
    for (std::int64_t k = 0; k < count; ++k) acc[k] = identity_;
    for (std::int64_t i = 0; i < n; ++i) {
      const In* values = reinterpret_cast<const In*>(rows[i]);
      for (std::int64_t k = 0; k < count; ++k) acc[k] = step_(acc[k], element_at(values + k));
    }
  }
  void combine(void* states, const void* later, std::int64_t count) const override {
    Acc* to = static_cast<Acc*>(states);
    const Acc* from = static_cast<const Acc*>(later);
    for (std::int64_t k = 0; k < count; ++k) to[k] = combine_(to[k], from[k]);
  }
  void clear(void* states, std::int64_t count) const override {
    for (std::int64_t k = 0; k < count; ++k) static_cast<Acc*>(states)[k] = identity_;
  }
  void store(char* out, std::int64_t stride, const void* states,
             std::int64_t count) const override {
    const Acc* from = static_cast<const Acc*>(states);
    for (std::int64_t k = 0; k < count; ++k) {
      *reinterpret_cast<Out*>(out + k * stride) = static_cast<Out>(project_(from[k]));
    }
  }

 private:
  // Folds n elements into eight accumulators, which the compiler keeps in vector registers.
  [[nodiscard]] Acc row(const In* at, std::int64_t n) const {
    if (n > kStepLeaf) {
      const std::int64_t half = n / 2 / kStepLanes * kStepLanes;
      return combine_(row(at, half), row(at + half, n - half));
    }
    Acc lanes[kStepLanes];
    for (Acc& lane : lanes) lane = identity_;
    std::int64_t i = 0;
    for (; i + kStepLanes <= n; i += kStepLanes) {
      for (std::int64_t k = 0; k < kStepLanes; ++k)
        lanes[k] = step_(lanes[k], element_at(at + i + k));
    }
    for (std::int64_t k = 0; i < n; ++i, ++k) lanes[k] = step_(lanes[k], element_at(at + i));
    join(lanes, combine_);
    return lanes[0];
  }

  Acc identity_;
  const Step& step_;
  const Combine& combine_;
  const Project& project_;
};

}  // namespace detail

// Folds elements with `step`, and the results of parts with `combine`, into Acc, which must be
// trivially copyable; stores project(acc).
template <class Out, class In, class Acc, class Step, class Combine, class Project>
void cpu_reduce(TensorIteratorBase& iter, Acc identity, const Step& step, const Combine& combine,
                const Project& project) {
  detail::check_kernel_dtypes<Out, In>(iter, 1);
  detail::run_reduction(
      detail::ReductionPlan(iter),
      detail::StepLoops<Out, In, Acc, Step, Combine, Project>(identity, step, combine, project));
}

// Folds map(x) with `combine`, and stores project(result). `map` and `combine` are functions of
// numbers and of Vec; `combine` is associative, and `identity` does not change the other operand.
// Elements are converted to M, float for half types, before `map`, whose results have the type of
// `identity` and the size of an M.
template <class Out, class In, class M = opmath_type<In>, class Acc, class Combine,
          class Map = detail::Unchanged, class Project = detail::Unchanged>
void cpu_reduce_vec(TensorIteratorBase& iter, Acc identity, const Combine& combine,
                    const Map& map = {}, const Project& project = {}) {
  static_assert(sizeof(Acc) == sizeof(M), "cpu_reduce_vec: vectors of as many elements");
  detail::check_kernel_dtypes<Out, In>(iter, 1);
  using Row = std::conditional_t<detail::kFoldsConverted<In, M, Combine>, In, M>;
  using Fold = detail::VectorFold<Acc, M, Map, Combine, Row>;
  const Fold fold{map, combine, identity};
  detail::run_reduction(detail::ReductionPlan(iter),
                        detail::VectorLoops<Out, In, Row, Acc, Fold, Project>(fold, project));
}

// Adds in opmath_type<Out>, which is float for Half and BFloat16, and stores project(sum).
template <class Out, class In = Out, class Project>
void cpu_sum(TensorIteratorBase& iter, const Project& project) {
  using Acc = opmath_type<Out>;
  if constexpr (std::is_arithmetic_v<Acc> && !std::is_same_v<Acc, bool>) {
    cpu_reduce_vec<Out, In, Acc>(iter, Acc(0), SumOf(), detail::Unchanged(), project);
  } else {
    cpu_reduce<Out, In>(
        iter, Acc(0), [](Acc acc, In x) { return SumOf()(acc, static_cast<Acc>(x)); },
        [](Acc a, Acc b) { return SumOf()(a, b); }, project);
  }
}
template <class Out, class In = Out>
void cpu_sum(TensorIteratorBase& iter) {
  cpu_sum<Out, In>(iter, detail::Unchanged());
}

}  // namespace opgen
