// main.cpp: calls factories with and without BackendSelect.
#include "../say.h"

#include <aten/CPUFunctions.h>
#include <aten/Functions.h>

int main() {
  using opgen::TensorOptions;
  say::show("filled", at::filled({2}, 3));
  say::show("filled with options", at::filled({2}, 3, TensorOptions().dtype(opgen::kLong)));
  say::show("filled with scattered options",
            at::filled({2, 1}, 3, opgen::kDouble, std::nullopt, opgen::kCPU, std::nullopt));
  say::show("filled on Meta", at::filled({2, 2}, 3, TensorOptions().device(opgen::kMeta)));
  say::show("at::cpu::filled", at::cpu::filled({1}, 3));
  say::show("like", at::like(say::range({3})));
  say::show("like on Meta", at::Tensor(say::range({3})).like(TensorOptions().device(opgen::kMeta)));
  say::show("like of Meta", at::like(say::meta({4})));
  at::Tensor out = say::tensor({0});
  say::show("filled.out", at::filled_out(out, {2}, 5));
  say::refused("filled on a device without kernels",
               [] { at::filled({2}, 3, TensorOptions().device(opgen::kCUDA)); });
}
