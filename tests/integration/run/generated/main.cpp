// main.cpp: calls generated functional and out variants, and copies of views.
#include "../say.h"

#include <aten/Functions.h>

#include <vector>

int main() {
  say::warnings();
  at::Tensor a = say::range({2, 3}), out = say::tensor({0}), other = say::tensor({0});

  say::show("raise, functional", at::raise(a, 10));
  say::show("raise_out", at::raise_out(out, a, 20));
  say::show("its argument is not written", a);
  say::show("raise_", a.raise_(1));

  auto [low, high] = at::parts_out(out, other, a);
  say::show("parts.out, low", out);
  say::show("parts.out, high", other);
  std::printf("returns its outs: %d %d\n", low.is_same(out), high.is_same(other));

  std::vector<at::Tensor> outs{say::tensor({0}), say::tensor({0})};
  at::each_doubled_out(outs, std::vector<at::Tensor>{a, out});
  say::show("each_doubled.out, first", outs[0]);
  say::show("each_doubled.out, second", outs[1]);
  say::refused("each_doubled.out, two outs for one result", [&] {
    at::each_doubled_out(outs, std::vector<at::Tensor>{a});
  });

  at::Tensor view = at::swapped(a), copy = at::swapped_copy(a);
  say::show("swapped", view);
  say::show("swapped_copy", copy);
  std::printf("share memory: %d %d\n", view.is_alias_of(a), copy.is_alias_of(a));
  say::show("swapped_copy.out", at::swapped_copy_out(other, a));
  std::vector<at::Tensor> rows = at::rows_copy(a);
  say::show("rows_copy, second", rows[1]);
  std::printf("share memory: %d %d\n", at::rows(a)[1].is_alias_of(a), rows[1].is_alias_of(a));
  at::rows_copy_out(outs, a);
  say::show("rows_copy.out, second", outs[1]);
}
