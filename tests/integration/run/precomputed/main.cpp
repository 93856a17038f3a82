// main.cpp: calls a precomputed operator: functional, out and in place.
#include "../say.h"

#include <aten/Functions.h>

int main() {
  opgen::Tensor a = say::range({2, 3}), out = say::tensor({0});
  say::show("tails(a, -1)", at::tails(a, -1));
  say::show("tails_out(a, 0, 2)", at::tails_out(out, a, 0, 2));
  say::show("tails_(a, 1)", at::tails_(a, 1));
  say::show("on Meta", at::tails(say::meta({4, 5}), 0));
  say::refused("tails(a, 2)", [&] { at::tails(a, 2); });
}
