// tape.cpp: measure gradients: calls that are recorded, and backward() over chains of calls.
// Compiled with opgen's runtime and with libtorch; side_tape.h contains the differences.
#include "bench.h"
#include "side_tape.h"

namespace {

constexpr int kLong = 1000;

Tensor chain(Tensor out, const Tensor& factor) {
  for (int i = 0; i < kLong; ++i) out = at::mul(out, factor);
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

}  // namespace

int main(int argc, char** argv) {
  side::use_one_thread();
  calls();
  backwards();
  return bench::run(argc, argv);
}
