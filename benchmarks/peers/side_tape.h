// side_tape.h: libtorch's side of the comparison of gradients: names that tape.cpp uses.
#pragma once

#include <torch/torch.h>

using at::Tensor;

namespace side {

inline void use_one_thread() {
  at::set_num_threads(1);
}
inline Tensor leaf() {
  return torch::ones({1}).requires_grad_(true);
}
inline void backward(const Tensor& out) {
  out.backward();
}
inline void backward_retained(const Tensor& out) {
  out.backward({}, /*retain_graph=*/true);
}

}  // namespace side
