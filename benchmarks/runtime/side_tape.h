// side_tape.h: opgen's side of the comparison of gradients: names that tape.cpp uses. The nodes are
// generated from the repository's derivatives.yaml.
#pragma once

#include <aten/Functions.h>
#include <opgen/autograd/autograd.h>
#include <opgen/core/parallel.h>

using at::Tensor;

namespace side {

inline void use_one_thread() {
  opgen::set_num_threads(1);
}
inline Tensor leaf(opgen::IntArrayRef sizes = {1}) {
  Tensor tensor = at::ones(sizes);
  opgen::autograd::set_requires_grad(tensor, true);
  return tensor;
}
inline void backward(const Tensor& out) {
  opgen::autograd::backward(out);
}
using NoGrad = opgen::NoGradGuard;
// Returns the gradient of a leaf, and removes it from there.
inline Tensor take_gradient(const Tensor& leaf) {
  Tensor gradient(opgen::autograd::grad_of(leaf));
  opgen::autograd::set_grad(leaf, {});
  return gradient;
}
inline void backward_retained(const Tensor& out) {
  opgen::autograd::backward(out, {}, true);
}

}  // namespace side
