// calls.cpp: measure calls: dispatch, tensors, and operators on one element. Compiled with opgen's
// runtime and with libtorch; side.h contains the differences.
#include <memory>

#include "bench.h"
#include "side.h"

namespace {

void dispatch() {
  Tensor a = at::empty({1}), b = at::empty({1});
  BENCH("dispatch.noop", side::noop(a, b));
  BENCH("dispatch.noop_boxed_kernel", side::noop_boxed(a, b));
  {
    [[maybe_unused]] side::Recording recording;
    Tensor c = at::empty({1}), d = at::empty({1});
    BENCH_IN(side::Recording, "dispatch.noop_redispatch", side::noop_redispatch(c, d));
  }
  // The same call without a dispatcher, which is the cost of the loop.
  BENCH("dispatch.direct_call", side::noop_direct(a, b));
  static side::BoxedNoop boxed;
  BENCH("boxed.owned", boxed.call(a, b));
#ifdef SIDE_HAS_BORROWED
  BENCH("boxed.borrowed", boxed.call_borrowed(a, b));
#endif
}

void tensors() {
  Tensor a = at::empty({2, 3});
  BENCH_RESULT("tensor.empty", at::empty({2, 3}));
  BENCH_RESULT("tensor.empty_strided", at::empty_strided({2, 3}, {3, 1}));
  BENCH_RESULT("tensor.empty_like", at::empty_like(a));
  BENCH_RESULT("tensor.view", a.view({6}));
  BENCH_RESULT("tensor.handle_copy", Tensor(a));
}

void adds() {
  Tensor a = at::zeros({1}), b = at::zeros({1}), o = at::zeros({1});
  BENCH_RESULT("add.functional", at::add(a, b));
  BENCH("add.out", at::add_out(o, a, b));
  BENCH("add.inplace", a.add_(b));
  // One element with another number of dimensions, so that the iterator uses its general path.
  Tensor matrix = at::zeros({1, 1});
  BENCH_RESULT("add.general.functional", at::add(matrix, b));
  BENCH("add.general.out", at::add_out(matrix, a, matrix));
  BENCH("add.general.inplace", matrix.add_(b));
  Tensor column = at::zeros({4, 1}), row = at::zeros({1, 4}), table = at::zeros({4, 4});
  BENCH_RESULT("add.broadcast.functional", at::add(column, row));
  BENCH("add.broadcast.out", at::add_out(table, column, row));
  Tensor strided = at::zeros({2, 2}).t(), dense = at::zeros({2, 2});
  BENCH_RESULT("add.strided.functional", at::add(strided, dense));
  Tensor number = at::zeros({});
  BENCH_RESULT("add.with_0d.functional", at::add(a, number));
  BENCH_RESULT("add.scalar.functional", at::add(a, 1.5));
  Tensor integers = at::ones({1}, side::integers());
  BENCH_RESULT("add.promoting.functional", at::add(a, integers));
#ifdef SIDE_HAS_PREPARED
  auto prepared = std::make_shared<side::PreparedAdd>(a, b, 1, o);
  BENCH("add.prepared", (*prepared)());
#endif
  Tensor c = at::zeros({1024}), d = at::zeros({1024}), e = at::zeros({1024});
  BENCH_RESULT("add.1k.functional", at::add(c, d));
  BENCH("add.1k.out", at::add_out(e, c, d));
}

void metas() {
  Tensor a = at::empty({1}, side::meta()), b = at::empty({1}, side::meta());
  Tensor big = at::empty({8, 1024, 64}, side::meta()), row = at::empty({64}, side::meta());
  BENCH_RESULT("meta.add", at::add(a, b));
  BENCH_RESULT("meta.add.broadcast", at::add(big, row));
}

}  // namespace

int main(int argc, char** argv) {
  side::Scope scope;
  dispatch();
  tensors();
  adds();
  metas();
  return bench::run(argc, argv);
}
