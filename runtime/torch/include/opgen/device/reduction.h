// reduction.h: device_reduce combines the elements that share an output, on the author's device.
//
//   TensorIterator iter = at::meta::make_reduction(self, out, dims, keepdim, dtype);
//   opgen::device_reduce(iter, launch, 0.0,                                      // nothing folded
//                        [](double acc, scalar_t x) { return acc + x; },         // fold an element
//                        [](double acc) -> scalar_t { return scalar_t(acc); });  // what is stored
//       Elements are converted to and from the functions' types, and `launch` is the function
//       described in pointwise.h. `fold` may take the element's index along the folded dimensions
//       as its third argument; for a contiguous input it is the row-major index. `finish` returns a
//       std::tuple if the iterator has several outputs. With no elements to fold, finish(initial)
//       is stored.
#pragma once

#include <c10/util/Metaprogramming.h>

#include <type_traits>
#include <utility>

#include "opgen/device/operands.h"

namespace opgen {

namespace detail {

template <class Acc, class T, class R, class Fold, class Finish>
class ReductionElement {
  using Outputs = DeviceOutputs<R>;
  static constexpr std::size_t operands = Outputs::count + 1;

 public:
  ReductionElement(const TensorIteratorBase& iter, Acc initial, Fold fold, Finish finish)
      : initial_(initial),
        fold_(std::move(fold)),
        finish_(std::move(finish)),
        outputs_(iter),
        input_(iter, static_cast<int>(Outputs::count)) {
    for (int d = 0; d < iter.ndim(); ++d) {
      std::int64_t strides[operands];
      for (std::size_t n = 0; n < operands; ++n) strides[n] = iter.strides(static_cast<int>(n))[d];
      // The output has stride 0 along dimensions that are folded.
      if (strides[0] == 0) {
        // An array, because nvcc interprets braces around one number as the number itself.
        const std::int64_t stride[1] = {strides[Outputs::count]};
        folded_.add(iter.shape()[d], stride);
      } else {
        kept_.add(iter.shape()[d], strides);
      }
    }
  }

  [[nodiscard]] std::int64_t count() const noexcept { return kept_.count; }

  C10_HOST_DEVICE void operator()(std::int64_t i) const {
    const auto at = kept_(i);
    Acc acc = initial_;
    for (std::int64_t j = 0; j < folded_.count; ++j) {
      const T element = input_.load(at.of[Outputs::count] + folded_(j).of[0]);
      if constexpr (requires { fold_(acc, element, j); }) {
        acc = fold_(acc, element, j);
      } else {
        acc = fold_(acc, element);
      }
    }
    outputs_.store(at.of, finish_(acc));
  }

 private:
  Acc initial_;
  Fold fold_;
  Finish finish_;
  Outputs outputs_;
  DeviceInput<T> input_;
  ElementOffsets<operands> kept_;
  ElementOffsets<1> folded_;
};

}  // namespace detail

template <class Launch, class Acc, class Fold, class Finish>
void device_reduce(TensorIteratorBase& iter, const Launch& launch, Acc initial, Fold fold,
                   Finish finish) {
  using Parameters = typename c10::guts::infer_function_traits_t<Fold>::parameter_types;
  using T = std::decay_t<c10::guts::typelist::element_t<1, Parameters>>;
  using R = typename c10::guts::infer_function_traits_t<Finish>::return_type;
  OPGEN_INTERNAL_ASSERT(iter.ninputs() == 1 && iter.noutputs() >= 1, "not a reduction");
  const detail::ReductionElement<Acc, T, R, Fold, Finish> element(iter, initial, std::move(fold),
                                                                  std::move(finish));
  if (element.count() != 0) launch(element.count(), element);
}

}  // namespace opgen
