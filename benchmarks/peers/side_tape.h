// side_tape.h: libtorch's side of the comparison of gradients: names that tape.cpp uses.
#pragma once

#include <torch/torch.h>

using at::Tensor;

namespace side {

inline void use_one_thread() {
  at::set_num_threads(1);
}
inline Tensor leaf(at::IntArrayRef sizes = {1}) {
  return torch::ones(sizes).requires_grad_(true);
}
using NoGrad = at::NoGradGuard;
// Returns the gradient of a leaf, and removes it from there.
inline Tensor take_gradient(const Tensor& leaf) {
  Tensor gradient = leaf.grad();
  leaf.mutable_grad() = Tensor();
  return gradient;
}
inline void backward(const Tensor& out) {
  out.backward();
}
inline void backward_retained(const Tensor& out) {
  out.backward({}, /*retain_graph=*/true);
}

}  // namespace side
