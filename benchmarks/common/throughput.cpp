// throughput.cpp: measure operators on large tensors with one thread, which are limited by memory
// and loops. Compiled with opgen's runtime and with libtorch, like calls.cpp.
#include "bench.h"
#include "side.h"

namespace {

constexpr long kMillion = 1 << 20;

#ifdef SIDE_HAS_CACHE
using CachedMemory = side::CachedMemory;
#else
using CachedMemory = bench::NoScope;
#endif
#define BENCH_CACHED(id, calls, ...) \
  ::bench::add<CachedMemory>(id, calls, [=]() mutable { __VA_ARGS__; })

void elementwise() {
  for (long millions : {1L, 16L}) {
    long n = millions * kMillion;
    std::string size = std::to_string(millions) + "M";
    Tensor a = at::ones({n}), b = at::ones({n}), o = at::ones({n});
    BENCH_N("add.out." + size, 2, at::add_out(o, a, b));
    BENCH_N("add.functional." + size, 2, Tensor r = at::add(a, b); bench::keep(r));
    // libtorch has no such cache, so it does the same as above.
    BENCH_CACHED("add.functional_cached." + size, 2, Tensor r = at::add(a, b); bench::keep(r));
  }
  Tensor a = at::ones({1024, 1024}), b = at::ones({1024, 1024}), o = at::ones({1024, 1024});
  Tensor row = at::ones({1024}), at_ = a.t(), bt = b.t();
  BENCH_N("add.row", 2, at::add_out(o, a, row));
  BENCH_N("add.one_transposed", 2, at::add_out(o, at_, b));
  BENCH_N("add.both_transposed", 2, at::add_out(o, at_, bt));
  BENCH_N("copy.transposed", 2, o.copy_(at_));
  BENCH_N("mul.out.1M", 2, at::mul_out(o, a, b));
  BENCH_N("exp.out.1M", 2, at::exp_out(o, a));
}

void reductions() {
  Tensor a = at::ones({1024, 1024}), flat = a.view({kMillion}), o = at::empty({1024});
  BENCH_N("sum.all", 2, Tensor r = at::sum(flat); bench::keep(r));
  BENCH_N("sum.last", 2, at::sum_out(o, a, side::Dims{1}));
  BENCH_N("sum.first", 2, at::sum_out(o, a, side::Dims{0}));
}

void products() {
  Tensor a = at::ones({256, 256}), b = at::ones({256, 256}), o = at::ones({256, 256});
  BENCH_N("mm.256", 2, at::mm_out(o, a, b));
}

}  // namespace

int main(int argc, char** argv) {
  side::Scope scope;
  elementwise();
  reductions();
  products();
  return bench::run(argc, argv);
}
