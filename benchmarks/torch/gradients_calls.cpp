// gradients_calls.cpp: call operators with formulas, the same operators written by hand, and
// at::mul, alternately: see calls.h. `scale` is recorded, `scale.plain` has no argument that
// requires a gradient, and `scale.backward` is a recorded call with its backward pass.
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/autograd.h>

#include "calls.h"

namespace {

using at::Tensor;
using calls::call;
using calls::Call;
using calls::handle;

Tensor leaf() {
  return at::ones({4, 4}).set_requires_grad(true);
}

// Add three calls of one operator. `f` calls it with tensors.
template <class F>
void add_forms(std::vector<Call>& calls, const std::string& name, const F& f) {
  const Tensor x = leaf(), y = leaf(), a = at::ones({4, 4}), b = at::ones({4, 4});
  calls.push_back(call(name, [=] { f(x, y); }));
  calls.push_back(call(name + ".plain", [=] { f(a, b); }));
  calls.push_back(call(name + ".backward", [=] {
    torch::autograd::grad({f(x, b)}, {x}, {at::ones({4, 4})});
  }));
}

void add_all(std::vector<Call>& calls) {
  for (const std::string library : {"graded", "by_hand"}) {
    const auto scale = handle<Tensor(const Tensor&, double)>(library + "::scale");
    const auto times = handle<Tensor(const Tensor&, const Tensor&)>(library + "::times");
    const auto grow = handle<Tensor(const Tensor&)>(library + "::grow");
    const auto by_two = [=](const Tensor& x, const Tensor&) { return scale.call(x, 2.0); };
    add_forms(calls, library + "::scale", by_two);
    add_forms(calls, library + "::times",
              [=](const Tensor& x, const Tensor& y) { return times.call(x, y); });
    add_forms(calls, library + "::grow",
              [=](const Tensor& x, const Tensor&) { return grow.call(x); });
  }
  add_forms(calls, "at::mul", [](const Tensor& x, const Tensor& y) { return at::mul(x, y); });
}

}  // namespace

int main(int given, char** arguments) {
  return calls::run(given, arguments, &add_all);
}
