// main.cpp: calls with lists of tensors.
#include "../say.h"

#include <aten/Functions.h>

#include <vector>

int main() {
  opgen::Tensor a = say::range({2}), b = say::range({3});
  std::vector<opgen::Tensor> both{a, b};
  say::show("cat", at::cat(both));
  say::show("cat of a braced list", at::cat({b, a, b}));
  say::show("cat on Meta", at::cat({say::meta({2}), say::meta({5})}));

  opgen::List<std::optional<opgen::Tensor>> holes({a, std::nullopt, b});
  std::printf("given: %lld %lld\n", static_cast<long long>(at::count_given(holes)),
              static_cast<long long>(at::count_given({}, a)));

  std::vector<opgen::Tensor> cleared = at::_foreach_clear(both);
  say::show("_foreach_clear, second", cleared[1]);
  say::show("its argument", b);
  at::_foreach_clear_(both);
  say::show("_foreach_clear_", b);

  auto [first, second] = at::masked(a, {false, true});
  say::show("masked, first", first);
  say::show("masked, second", second);
}
