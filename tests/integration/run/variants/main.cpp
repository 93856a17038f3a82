// main.cpp: calls one structured operator in all possible ways.
#include "../say.h"

#include <aten/CPUFunctions.h>
#include <aten/Functions.h>
#include <aten/MetaFunctions.h>

int main() {
  say::warnings();
  at::Tensor a = say::range({2, 3}), row = say::range({1, 3});
  say::show("plus(a, row)", at::plus(a, row));
  say::show("a.plus(row, 10)", a.plus(row, 10));
  say::show("plus of views", at::plus(say::transposed(a), say::transposed(row)));

  at::Tensor empty = say::tensor({0});
  at::plus_out(empty, a, row);
  say::show("out, from empty", empty);
  at::Tensor wrong = say::tensor({4});
  at::plus_out(wrong, a, row);
  say::show("out, from another shape", wrong);
  at::Tensor same = say::tensor({2, 3});
  std::printf("returns its out: %d\n", at::plus_outf(a, row, 1, same).is_same(same));
  say::refused("out of another dtype", [&] {
    at::Tensor ints = say::tensor({2, 3}, opgen::TensorOptions().dtype(opgen::kLong));
    at::doubled_out(ints, a);
  });

  at::Tensor columns = say::transposed(say::tensor({3, 2}));
  at::plus_out(columns, a, row);
  say::show("out with strides of its own", columns);
  at::doubled_out(columns, a);
  say::show("out through a proxy", columns);

  say::refused("in place, another shape", [&] { row.plus_(a); });
  std::int64_t version = a._version();
  a.plus_(row, 2);
  say::show("in place", a);
  std::printf("version: %lld\n", static_cast<long long>(a._version() - version));

  say::show("on Meta", at::plus(say::meta({2, 1}), say::meta({3})));
  say::show("at::meta::plus", at::meta::plus(say::meta({2, 1}), say::meta({3})));
  at::Tensor shaped = say::meta({0});
  at::doubled_out(shaped, say::meta({5, 4}));
  say::show("out on Meta", shaped);
  say::refused("on Meta, shapes that do not fit", [] { at::plus(say::meta({2}), say::meta({3})); });

  say::show("at::cpu::plus", at::cpu::plus(a, row, -1));
  say::show("at::cpu::plus_", at::cpu::plus_(a, row, -1));
  say::show("at::cpu::plus_out", at::cpu::plus_out(same, a, a));
  say::show("at::cpu::total", at::cpu::total(a));
  say::show("sum_of_squares", a.sum_of_squares());
  say::refused("total on Meta", [] { at::total(say::meta({2})); });
}
