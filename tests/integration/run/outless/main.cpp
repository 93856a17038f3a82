// main.cpp: views alias on CPU and on Meta, new tensors are filled, misuse is rejected.
#include "../say.h"

#include <aten/Functions.h>
#include <opgen/autograd/inplace_or_view.h>

int main() {
  at::Tensor a = say::range({3, 4});
  say::show("slanted", at::slanted(a));
  say::show("slanted by method, offset 2", a.slanted(2));
  say::show("slanted on Meta", at::slanted(say::meta({3, 4}), 2));
  say::show("slanted of a view", at::slanted(say::transposed(a), 1));
  say::refused("slanted(a, 5)", [&] { at::slanted(a, 5); });
  say::refused("slanted(a, 5) on Meta", [&] { at::slanted(say::meta({3, 4}), 5); });
  {
    at::Tensor b = say::range({2, 2});
    at::Tensor view = at::slanted(b);
    at::painted_(view, 9);
    say::show("written through the view", b);
    at::Tensor copy = at::slanted_copy(b);
    std::printf("the copy aliases: %s\n", copy.is_alias_of(b) ? "yes" : "no");
    at::Tensor kept = at::slanted(say::range({2, 2}));
    say::show("a view that outlives its base", kept);
  }
  std::printf("marked as a view of its argument: %s\n",
              opgen::is_view(at::slanted(a)) ? "yes" : "no");

  at::Tensor b = say::range({2, 3});
  say::show("flipped", at::flipped(b));
  at::Tensor& same = at::flipped_(b);
  say::show("flipped_", b);
  std::printf("flipped_ returns self: %s, version %lld\n", same.is_same(b) ? "yes" : "no",
              static_cast<long long>(b._version()));
  at::Tensor m = say::meta({2, 3});
  say::show("flipped_ on Meta", at::flipped_(m));

  auto [x, y] = at::heads(a, b);
  std::printf("heads alias: %s %s\n", x.is_alias_of(a) ? "x" : "-", y.is_alias_of(b) ? "y" : "-");

  auto [head, sum] = at::head_and_sum(a, -1);
  say::show("head", head);
  say::show("sum", sum);
  auto [meta_head, meta_sum] = at::head_and_sum(say::meta({3, 4}), -1);
  say::show("head on Meta", meta_head);
  say::show("sum on Meta", meta_sum);

  say::show("unit(2)", at::unit(2));
  say::show("unit(2) of ints", at::unit(2, opgen::kLong));
  say::show("unit(2) on Meta", at::unit(2, opgen::TensorOptions().device(opgen::kMeta)));
  say::refused("unit(-1)", [] { at::unit(-1); });
  say::refused("unit(-1) on Meta",
               [] { at::unit(-1, opgen::TensorOptions().device(opgen::kMeta)); });

  say::show("painted", at::painted(say::range({2, 2}), 7));
  say::show("painted on Meta", at::painted(say::meta({2, 2}), 7));
  at::Tensor c = say::range({2, 2});
  say::show("painted_", at::painted_(c, 5));

  say::show("halved", at::halved(say::range({7})));
  say::show("halved on Meta", at::halved(say::meta({7})));
  say::refused("halved of two dimensions", [&] { at::halved(a); });
  say::show("added", at::added(say::range({2, 1}), say::range({3})));
  say::show("added on Meta", at::added(say::meta({2, 1}), say::meta({3})));

  for (int how = 0; how <= 6; ++how) {
    say::refused("wrong", [&] { at::wrong(say::range({4}), how); });
  }
  say::refused("wrong_new", [&] { at::wrong_new(a); });
}
