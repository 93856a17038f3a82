// main.cpp: two kernels and a program that calls them, for gdb to stop in.
#include <opgen/kernel.h>

#include <mylib/Functions.h>
#include <mylib/NativeFunctions.h>

using namespace opgen::types;

OPGEN_KERNEL(shift_cpu)(const Tensor& self, int64_t amount) {
  const opgen::DispatchKeySet keys = self.key_set();
  const opgen::DispatchKey key = keys.highestPriorityTypeId();
  const Tensor undefined;
  return amount == 0 && keys.has(key) && undefined.defined() ? Tensor() : self;
}

OPGEN_META_FUNC(scale)(const Tensor& self, const Scalar&) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

OPGEN_IMPL_FUNC(scale_out_cpu)(const Tensor& self, const Scalar&, const Tensor& out) {
  opgen::copy_(out, self);
}

int main() {
  Tensor grid = opgen::empty({2, 3}, opgen::TensorOptions());
  for (int64_t i = 0; i < grid.numel(); ++i) grid.mutable_data_ptr<float>()[i] = float(i);
  Tensor shifted = mylib::shift(grid, 1);
  Tensor scaled = mylib::scale(shifted, 2);
  Tensor transposed = opgen::as_strided(grid, {3, 2}, {1, 3});
  Tensor half = opgen::full({2}, 0.1, opgen::TensorOptions(opgen::kHalf));
  Tensor bfloat = opgen::full({2}, 0.1, opgen::TensorOptions(opgen::kBFloat16));
  Tensor flags = opgen::full({2}, true);
  Tensor complex = opgen::full({1}, opgen::complex<double>(1.5, -2));
  Tensor number = opgen::full({}, int64_t(-7));
  Tensor none = opgen::empty({0, 3});
  Tensor large = opgen::full({100, 2}, int64_t(1));
  Tensor meta = opgen::empty({2}, opgen::TensorOptions().device(opgen::kMeta));
  return scaled.numel() == 6 ? 0 : 1;
}
