// softmax.h: cpu_softmax, exp(x) divided by the sum of exp along a dimension, its logarithm, and
// its gradient.
//
//   cpu_softmax<float>(out, self, dim);
//   cpu_log_softmax<float>(out, self, dim);
//   cpu_softmax_backward<float>(grad_input, grad_output, output, dim);
//
// T is float, double, Half or BFloat16, the dtype of all tensors, which have the same sizes and at
// least one element. `dim` counts from the front. Half types are computed as floats.
#pragma once

#include <cstdint>

#include "opgen/tensor/tensor.h"

namespace opgen {

namespace detail {

OPGEN_API void softmax(const TensorBase& out, const TensorBase& self, std::int64_t dim,
                       bool logarithm);
OPGEN_API void softmax_backward(const TensorBase& to, const TensorBase& grad,
                                const TensorBase& output, std::int64_t dim);

}  // namespace detail

// Sets `out` to the softmax of `self` along `dim`.
template <class T>
void cpu_softmax(const TensorBase& out, const TensorBase& self, std::int64_t dim) {
  detail::softmax(out, self, dim, false);
}
// Does the same for the logarithm of the softmax.
template <class T>
void cpu_log_softmax(const TensorBase& out, const TensorBase& self, std::int64_t dim) {
  detail::softmax(out, self, dim, true);
}
// Sets `to` to (grad - sum of grad * output along `dim`) * output: the gradient of a softmax whose
// result was `output`.
template <class T>
void cpu_softmax_backward(const TensorBase& to, const TensorBase& grad, const TensorBase& output,
                          std::int64_t dim) {
  detail::softmax_backward(to, grad, output, dim);
}

}  // namespace opgen
