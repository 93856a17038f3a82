// main.cpp: prints which function is called when names are shared.
#include "../say.h"

#include <aten/Functions.h>

int main() {
  at::Tensor a = say::range({3});
  say::show("spread", at::spread(a));
  say::show("spread.dim", std::get<1>(at::spread(a, 2)));
  say::show("first_name", at::first_name(a));
  say::show("second_name", at::second_name(a));
  say::show("shifted", at::shifted(a, a, 10));
  at::Tensor bytes = opgen::to_dtype(a, opgen::kByte);
  say::show("shifted, bytes", at::shifted(bytes, bytes, 2));
  at::Tensor half = opgen::to_dtype(a, opgen::kHalf);
  say::show("shifted, halves", at::shifted(half, half, 0.5));
  say::show("union_", at::union_(a));
  say::show("a.union_(2)", a.union_(2));
  say::show("polynomial", at::polynomial(2, a));
  say::show("a.polynomial(2)", a.polynomial(2));
  say::show("a.polynomial_(1)", a.polynomial_(1));
  say::refused("polynomial of a negative degree", [&] { at::polynomial(-1, a); });
}
