// reduce.h: the reductions of the runtime's <opgen/cpu/reduce.h> that ATen's iterator can do:
// make_reduction, cpu_reduce and cpu_sum.
//
// A result has the same bits for any number of threads: elements are added one after the other in
// parts of kGrainSize, and the parts are combined in order. (The runtime adds pairwise, so sums in
// float have other bits there.)
#pragma once

#include <ATen/AccumulateType.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/ops/as_strided.h>
#include <c10/util/Load.h>

#include <cstdint>
#include <type_traits>

#include "opgen/core/error.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/parallel_reduce.h"
#include "opgen/tensor_functions.h"

namespace opgen {

// Returns an iteration over `self` in which `result` has stride 0 along the dimensions of the mask.
// `result` may keep reduced dimensions, with size 1, or not.
[[nodiscard]] inline at::TensorIterator make_reduction(const at::Tensor& result,
                                                       const at::Tensor& self, DimMask mask) {
  DimVector sizes(result.sizes()), strides(result.strides());
  if (result.dim() != self.dim()) {
    for (std::int64_t d = 0; d < self.dim(); ++d) {
      if (!has_dim(mask, d)) continue;
      sizes.insert(sizes.begin() + d, 1);
      strides.insert(strides.begin() + d, 0);
    }
  }
  at::Tensor kept = at::as_strided(result, sizes, strides, result.storage_offset());
  return at::TensorIterator::reduce_op(kept, self);
}

// The same for a list of dimensions; absent or empty `dims` mean all. Throws Error unless `result`
// already has the reduced shape.
[[nodiscard]] inline at::TensorIterator make_reduction(const at::Tensor& result,
                                                       const at::Tensor& self,
                                                       at::OptionalIntArrayRef dims, bool keepdim) {
  const DimMask mask = make_dim_mask(dims, self.dim());
  const DimVector expected = shape_from_dim_mask(self.sizes(), mask, keepdim);
  OPGEN_CHECK(result.sizes() == at::IntArrayRef(expected), "the output of a reduction of sizes ",
              self.sizes(), " has sizes ", result.sizes(), " instead of ", expected);
  return make_reduction(result, self, mask);
}

// For each output: starts with `identity`, computes acc = step(acc, element), joins parts with
// combine(a, b), and stores project(acc).
template <class Out, class In, class Acc, class Step, class Combine, class Project>
void cpu_reduce(at::TensorIteratorBase& iter, Acc identity, const Step& step,
                const Combine& combine, const Project& project) {
  iter.foreach_reduced_elt([&](at::TensorIteratorBase& one) {
    const auto part = [&](std::int64_t first, std::int64_t last, Acc acc) {
      const auto row = [&](char** data, const std::int64_t* strides, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          acc = step(acc, c10::load<In>(data[1] + i * strides[1]));
        }
      };
      one.serial_for_each(row, {first, last});
      return acc;
    };
    const Acc total = parallel_reduce(0, one.numel(), kGrainSize, identity, part, combine);
    *static_cast<Out*>(one.data_ptr(0)) = static_cast<Out>(project(total));
  });
}

// Sums: in float for halves, in double for float, and in integers that wrap around.
template <class Out, class In = Out, class Project>
void cpu_sum(at::TensorIteratorBase& iter, const Project& project) {
  using Acc = at::acc_type<Out, false>;
  const auto add = [](Acc a, Acc b) -> Acc {
    if constexpr (std::is_integral_v<Acc> && !std::is_same_v<Acc, bool>) {
      using U = std::make_unsigned_t<Acc>;
      return static_cast<Acc>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return static_cast<Acc>(a + b);
    }
  };
  const auto step = [add](Acc sum, In x) { return add(sum, static_cast<Acc>(x)); };
  cpu_reduce<Out, In>(iter, Acc(0), step, add, project);
}
template <class Out, class In = Out>
void cpu_sum(at::TensorIteratorBase& iter) {
  cpu_sum<Out, In>(iter, [](auto sum) { return sum; });
}

}  // namespace opgen
