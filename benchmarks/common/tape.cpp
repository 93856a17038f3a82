// tape.cpp: measure gradients: calls that are recorded, and backward() over chains of calls.
// Compiled with opgen's runtime and with libtorch; side_tape.h contains the differences.
#include <cstdlib>

#include "bench.h"
#include "side_tape.h"

namespace {

constexpr int kLong = 1000;

Tensor chain(Tensor out, const Tensor& factor, int length = kLong) {
  for (int i = 0; i < length; ++i) out = at::mul(out, factor);
  return out;
}

void calls() {
  Tensor plain = at::ones({1}), other = at::ones({1});
  Tensor leaf = side::leaf(), another = side::leaf();
  BENCH_RESULT("tape.mul.not_recorded", at::mul(plain, other));
  BENCH_RESULT("tape.mul.recorded", at::mul(leaf, other));
  BENCH_RESULT("tape.mul.recorded_both", at::mul(leaf, another));
}

// Each graph has 1,000 nodes.
void backwards() {
  Tensor leaf = side::leaf(), another = side::leaf(), other = at::ones({1});
  Tensor one = chain(leaf, other), both = chain(leaf, another);
  BENCH_N("tape.backward.1000", 10, side::backward_retained(one));
  BENCH_N("tape.backward_both.1000", 10, side::backward_retained(both));
  BENCH_N("tape.chain_and_backward.1000", 10, side::backward(chain(leaf, other)));
}

// Several operators, most of which save something: 1,000 nodes.
Tensor mixed_chain(Tensor out, const Tensor& other) {
  for (int i = 0; i < kLong / 5; ++i) {
    out = at::exp(at::neg(at::sigmoid(at::add(at::mul(out, other), other))));
  }
  return out;
}
void mixed() {
  Tensor leaf = side::leaf(), other = at::ones({1});
  BENCH_N("tape.mixed_and_backward.1000", 10, side::backward(mixed_chain(leaf, other)));
}

// Not counted: callgrind would need minutes.
void many_nodes() {
  if (std::getenv("BENCH_INSTRUCTIONS") != nullptr) return;
  Tensor leaf = side::leaf(), other = at::ones({1});
  BENCH_N("tape.record_and_free.1M", 1, bench::keep(chain(leaf, other, 1'000'000)));
}

// A batch of 32, layers of 64, 64 and 10, and a step of gradient descent.
void training() {
  Tensor x = at::ones({32, 64});
  Tensor w1 = side::leaf({64, 64}), b1 = side::leaf({64}), w2 = side::leaf({64, 10});
  Tensor b2 = side::leaf({10});
  BENCH_N("tape.mlp_step", 50, {
    Tensor hidden = at::relu(at::addmm(b1, x, w1));
    Tensor out = at::addmm(b2, hidden, w2);
    side::backward(at::mean(at::mul(out, out)));
    side::NoGrad no_grad;
    for (Tensor* one : {&w1, &b1, &w2, &b2}) one->add_(side::take_gradient(*one), -1e-6);
  });
}

}  // namespace

int main(int argc, char** argv) {
  side::use_one_thread();
  calls();
  backwards();
  mixed();
  many_nodes();
  training();
  return bench::run(argc, argv);
}
