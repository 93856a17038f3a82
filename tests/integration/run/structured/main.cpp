// main.cpp: new outputs, given ones, given ones with other strides, and prepared calls.
#include "../say.h"

#include <aten/Functions.h>
#include <aten/ops/ends_native.h>
#include <aten/ops/ends_ops.h>
#include <aten/ops/scaled_native.h>
#include <aten/ops/scaled_ops.h>
#include <opgen/prepared.h>

int main() {
  say::warnings();
  opgen::Tensor a = say::range({2, 3});
  say::show("scaled", at::scaled(a, 2));
  opgen::Tensor out = say::tensor({0});
  say::show("scaled_out", at::scaled_out(out, a, 3));
  opgen::Tensor across = say::transposed(say::tensor({3, 2}));
  say::show("scaled_out, strides kept", at::scaled_out(across, a, 3));
  opgen::Tensor same = say::range({2, 3});
  say::show("scaled_", at::scaled_(same, 10));
  say::show("scaled on Meta", at::scaled(say::meta({4, 5}), 2));
  opgen::Tensor ints = say::tensor({2, 3}, opgen::TensorOptions().dtype(opgen::kLong));
  say::refused("scaled_out of another dtype", [&] { at::scaled_out(ints, a, 3); });

  auto [first, last] = at::ends(a, -1);
  say::show("first", first);
  say::show("last", last);
  opgen::Tensor x = say::tensor({0}, opgen::TensorOptions().dtype(opgen::kDouble));
  opgen::Tensor y = opgen::alias_with_sizes_and_strides(say::tensor({4}), {2}, {2}, 0);
  at::ends_out(x, y, a, 1);
  say::show("first, in doubles", x);
  say::show("last, through a temporary", y);
  std::printf("dtypes: %s %s\n", opgen::toString(x.scalar_type()),
              opgen::toString(y.scalar_type()));
  auto [m, n] = at::ends(say::meta({4, 5}), 0);
  say::show("first on Meta", m);
  say::show("last on Meta", n);
  say::refused("ends(a, 2)", [&] { at::ends(a, 2); });

  {
    opgen::Prepared<at::native::structured_scaled_out_cpu, at::_ops::scaled_out> prepared(a, 2,
                                                                                          out);
    prepared();
    say::show("prepared", out);
    opgen::fill_(a, 4);
    prepared();
    say::show("prepared, other values, no meta", out);
  }
  {
    opgen::Tensor z = opgen::alias_with_sizes_and_strides(say::tensor({6}), {3}, {2}, 0);
    opgen::Tensor b = say::range({2, 3});
    opgen::Prepared<at::native::structured_ends_out_cpu, at::_ops::ends_out> prepared(b, 0, x, z);
    prepared();
    say::show("prepared first", x);
    say::show("prepared last, through a temporary", z);
    opgen::fill_(b, 7);
    prepared();
    say::show("once more", z);
  }
}
