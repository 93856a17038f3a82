// main.cpp: what a selective build keeps, and what it rejects.
#include "../say.h"

#include <opgen/dispatch/dispatcher.h>
#include <opgen/stub.h>

#include <aten/Functions.h>

int main() {
  at::Tensor a = say::range({3});
  say::show("selected", at::twice(a));
  say::show("its method", a.twice());
  at::Tensor whole(opgen::to_dtype(a, opgen::kLong));
  say::show("another type", at::twice(whole));
  at::Tensor wide(opgen::to_dtype(a, opgen::kDouble));
  say::refused("a type that is not selected", [&] { at::twice(wide); });
  at::Tensor out = say::tensor({3});
  say::show("all overloads", at::twice_out(out, a));
  say::show("without overloads", at::scale(a, a));
  say::refused("a type of another name", [&] { at::scale(whole, whole); });
  say::refused("a type of no name", [&] { at::scale(wide, wide); });
  say::refused("calls what is not selected", [&] { at::scale_out(out, a, a); });
  say::refused("a method that is not selected", [&] { a.thrice(); });
  for (const char* name : {"aten::twice", "aten::thrice", "aten::scale"}) {
    for (const char* overload : {"", "out"}) {
      const bool found = opgen::Dispatcher::singleton().findSchema(name, overload).has_value();
      std::printf("%s.%s: %s\n", name, overload, found ? "registered" : "not registered");
    }
  }
  std::printf("stubs: %zu\n", opgen::opgen_stub_report().size());
}
