// pointwise.h: device_kernel applies a function of elements to the operands of an iterator, on the
// author's device.
//
//   opgen::device_kernel(*this, launch, [=](scalar_t a, scalar_t b) -> scalar_t { return a + b; });
//       Elements are converted from the operands' dtypes to the types of the function's parameters,
//       and from its result to the outputs' dtypes. For several outputs, the function returns a
//       std::tuple. There may be any number of inputs, or none. Numbers on the CPU are read once,
//       here, and passed by value.
//   launch(n, element) The author's function for the device. It must call element(i) for every i
//   from 0 to n - 1, in any order,
//       on the device. `element` is trivially copyable if the function is, so that a device kernel
//       can take it as an argument. On a GPU:
//       template <class E> __global__ void run(int64_t n, E element) {
//         for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; …) element(i);
//       }
// Elements are numbered in the iterator's order, which may not be the order of any tensor.
#pragma once

#include <c10/util/Metaprogramming.h>

#include <type_traits>
#include <utility>

#include "opgen/device/operands.h"

namespace opgen {

namespace detail {

template <class F, class Signature>
class PointwiseElement;
template <class F, class R, class... A>
class PointwiseElement<F, R(A...)> {
  using Outputs = DeviceOutputs<R>;
  using Inputs = DeviceInputs<Outputs::count, std::index_sequence_for<A...>, std::decay_t<A>...>;
  static constexpr std::size_t operands = Outputs::count + sizeof...(A);

 public:
  PointwiseElement(const TensorIteratorBase& iter, F function)
      : function_(std::move(function)), outputs_(iter), inputs_(iter) {
    for (int d = 0; d < iter.ndim(); ++d) {
      std::int64_t strides[operands];
      for (std::size_t n = 0; n < operands; ++n) strides[n] = iter.strides(static_cast<int>(n))[d];
      offsets_.add(iter.shape()[d], strides);
    }
  }

  C10_HOST_DEVICE void operator()(std::int64_t i) const {
    const auto at = offsets_(i);
    outputs_.store(at.of, inputs_.apply(function_, at.of));
  }

  static void check(const TensorIteratorBase& iter) {
    OPGEN_INTERNAL_ASSERT(iter.noutputs() == static_cast<int>(Outputs::count) &&
                              iter.ninputs() == static_cast<int>(sizeof...(A)),
                          "a function with ", sizeof...(A), " inputs and ", Outputs::count,
                          " outputs cannot run over an iterator with ", iter.ninputs(), " and ",
                          iter.noutputs());
  }

 private:
  F function_;
  Outputs outputs_;
  Inputs inputs_;
  ElementOffsets<operands> offsets_;
};

}  // namespace detail

template <class Launch, class F>
void device_kernel(TensorIteratorBase& iter, const Launch& launch, F function) {
  using Traits = c10::guts::infer_function_traits_t<F>;
  using Element = detail::PointwiseElement<F, typename Traits::func_type>;
  Element::check(iter);
  if (iter.numel() == 0) return;
  launch(iter.numel(), Element(iter, std::move(function)));
}

}  // namespace opgen
