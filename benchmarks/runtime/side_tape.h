// side_tape.h: opgen's side of the comparison of gradients: names that tape.cpp uses, and the
// formula of mul as opgen generates it from derivatives.yaml.
#pragma once

#include <aten/Functions.h>
#include <aten/ops/mul_ops.h>
#include <opgen/autograd/derived.h>
#include <opgen/core/parallel.h>

using at::Tensor;

namespace side {

struct MulBackward0 {
  static constexpr const char* kName = "MulBackward0";
  static constexpr const char* kOperator = "aten::mul.Tensor";
  using Inputs = std::index_sequence<0, 1>;
  using Outputs = std::index_sequence<0>;
  opgen::autograd::Saved<Tensor> other_;
  opgen::autograd::Saved<Tensor> self_;
  void for_each_saved(auto&& f) {
    f(other_);
    f(self_);
  }
  void save(const opgen::autograd::Recording& call, const auto& self, const auto& other) {
    if (call.needs(0)) other_.save(other);
    if (call.needs(1)) self_.save(self);
  }
  void backward(opgen::autograd::BackwardCall& call, const auto& gradients) {
    const Tensor& gradient = gradients[0];
    const auto other = other_.get(call);
    const auto self = self_.get(call);
    if (call.computes(0)) call.give<0>(at::mul(gradient, other));
    if (call.computes(1)) call.give<1>(at::mul(gradient, self));
  }
};

inline const opgen::KernelRow rows[] = {
    opgen::autograd::recorded<MulBackward0, at::_ops::mul_Tensor,
                              opgen::autograd::Kind::functional>(),
};
inline const opgen::KernelTable table("tape", opgen::DispatchKey::Autograd, rows);

inline void use_one_thread() {
  opgen::set_num_threads(1);
}
inline Tensor leaf() {
  Tensor tensor = at::ones({1});
  opgen::autograd::set_requires_grad(tensor, true);
  return tensor;
}
inline void backward(const Tensor& out) {
  opgen::autograd::backward(out);
}
inline void backward_retained(const Tensor& out) {
  opgen::autograd::backward(out, {}, true);
}

}  // namespace side
