// reduce_of.h: reductions of a function of the elements of two tensors, without a tensor for its
// results.
//
//   TensorIterator iter = make_reduction_of(out, self, target, mask);
//   cpu_sum_of<float, float>(iter, [](float x, float y) { return (x - y) * (x - y); });
//       The sum, or a function of it:
//       cpu_sum_of<float, float>(iter, f, [n](float sum) { return sum / n; }).
//   cpu_reduce_of<float, float>(iter, 0.0f, LargestOf(), [](float x, float y) { return x * y; });
//       Any associative function of two numbers or vectors, as in cpu_reduce_vec.
//
// The function takes numbers of opmath_type<In>, float for half types, and its loop is compiled as
// that of cpu_kernel is. Its results are collected in blocks that stay in the first-level cache,
// and folded as cpu_reduce_vec folds elements: with the same accuracy, along rows and down columns,
// on several threads, and with the same bits for any number of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "opgen/cpu/loops.h"
#include "opgen/cpu/reduce.h"
#include "opgen/cpu/reduction_loops.h"
#include "opgen/iterator/tensor_iterator.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen {

// Returns an iteration over `a` and `b`, which are broadcast to a common shape, in which `result`
// has stride 0 along the dimensions of `mask`. `result` may keep these, with size 1, or not. Both
// inputs must have the dtype that the loop takes: they are not converted.
[[nodiscard]] OPGEN_API TensorIterator make_reduction_of(const TensorBase& result,
                                                         const TensorBase& a, const TensorBase& b,
                                                         DimMask mask);

namespace detail {

// The elements of two inputs, numbered in the order of the iteration: its first dimension is the
// fastest.
struct NumberedElements {
  const char* data[2];
  DimVector sizes;
  DimVector strides[2];  // in bytes

  OPGEN_API explicit NumberedElements(const TensorIteratorBase& iter);
  // Makes a plan whose addresses count elements from data[0]: an element has the size of one byte.
  [[nodiscard]] OPGEN_API ReductionPlan plan(const TensorIteratorBase& iter) const;
};
// The elements of number `at` and those that follow at distances of `step`.
class NumberedCursor {
 public:
  OPGEN_API NumberedCursor(const NumberedElements& elements, std::int64_t at, std::int64_t step);
  // Returns how many elements follow before the strides do not lead to the next one.
  [[nodiscard]] std::int64_t room() const noexcept { return size_ - index_[dim_]; }
  [[nodiscard]] const char* address(int k) const noexcept { return address_[k]; }
  [[nodiscard]] std::int64_t stride(int k) const noexcept { return stride_[k]; }
  // Goes on by `count` elements, which is at most room().
  void advance(std::int64_t count) noexcept {
    index_[dim_] += count;
    for (int k = 0; k < 2; ++k) address_[k] += count * stride_[k];
    if (index_[dim_] == size_) carry();
  }

 private:
  OPGEN_API void carry() noexcept;

  const NumberedElements& elements_;
  DimVector index_;
  std::size_t dim_;
  std::int64_t size_;
  const char* address_[2];
  std::int64_t stride_[2];
};

// The loops of a reduction whose elements are the results of `f`. `Loops` are those of results that
// lie in memory.
template <class In, class M, class F, class Loops>
class FunctionLoops final : public ReductionLoops {
 public:
  FunctionLoops(const NumberedElements& elements, const F& f, const Loops& loops)
      : elements_(elements), f_{f}, loops_(loops) {
    item = 1;
    loaded = sizeof(M);
    state_size = loops.state_size;
    direct = false;
    row_leaf = loops.row_leaf;
    column_leaf = loops.column_leaf;
  }
  void load(void* to, const char* from, std::int64_t stride, std::int64_t n) const override {
    char* out = static_cast<char*>(to);
    NumberedCursor cursor(elements_, from - elements_.data[0], stride);
    while (n > 0) {
      const std::int64_t count = std::min(n, cursor.room());
      // The loop only reads its inputs.
      char* data[] = {out, const_cast<char*>(cursor.address(0)),  // NOLINT
                      const_cast<char*>(cursor.address(1))};      // NOLINT
      const std::int64_t strides[] = {sizeof(M), cursor.stride(0), cursor.stride(1)};
      Row<M, In, In>::run(f_, wide_, data, strides, count);
      cursor.advance(count);
      out += count * std::int64_t(sizeof(M));
      n -= count;
    }
  }
  void rows(const char* at, std::int64_t n, std::int64_t step, std::int64_t count,
            std::int64_t first, void* states) const override {
    loops_.rows(at, n, step, count, first, states);
  }
  void columns(const char* const* rows, std::int64_t n, std::int64_t count, std::int64_t first,
               void* states) const override {
    loops_.columns(rows, n, count, first, states);
  }
  void combine(void* states, const void* later, std::int64_t count) const override {
    loops_.combine(states, later, count);
  }
  void clear(void* states, std::int64_t count) const override { loops_.clear(states, count); }
  void store(char* out, std::int64_t stride, const void* states,
             std::int64_t count) const override {
    loops_.store(out, stride, states, count);
  }

 private:
  // `f` of elements in memory.
  struct Widened {
    HeldFunction<F> f;
    OPGEN_ALWAYS_INLINE M operator()(In x, In y) const {
      return static_cast<M>(f(static_cast<M>(x), static_cast<M>(y)));
    }
  };
  const NumberedElements& elements_;
  Widened f_;
  const Loops& loops_;
  bool wide_ = use_avx2();
};

}  // namespace detail

// Folds f(x, y) with `combine`, and stores project(result). `f` is a function of two numbers of
// type opmath_type<In>, and `combine` and `identity` are those of cpu_reduce_vec. `iter` is what
// make_reduction_of returns.
template <class Out, class In, class Acc, class Combine, class F, class Project = detail::Unchanged>
void cpu_reduce_of(TensorIteratorBase& iter, Acc identity, const Combine& combine, const F& f,
                   const Project& project = {}) {
  using M = opmath_type<In>;
  static_assert(sizeof(Acc) == sizeof(M), "cpu_reduce_of: vectors of as many elements");
  detail::check_kernel_dtypes<Out, In, In>(iter, 1);
  using Fold = detail::VectorFold<Acc, M, detail::Unchanged, Combine, M>;
  using Loops = detail::VectorLoops<Out, M, M, Acc, Fold, Project>;
  const Fold fold{{}, combine, identity};
  const Loops loops(fold, project);
  const detail::NumberedElements elements(iter);
  detail::run_reduction(elements.plan(iter),
                        detail::FunctionLoops<In, M, F, Loops>(elements, f, loops));
}

// Adds f(x, y) in opmath_type<In>, and stores project(sum).
template <class Out, class In, class F, class Project = detail::Unchanged>
void cpu_sum_of(TensorIteratorBase& iter, const F& f, const Project& project = {}) {
  cpu_reduce_of<Out, In>(iter, opmath_type<In>(0), SumOf(), f, project);
}

}  // namespace opgen
