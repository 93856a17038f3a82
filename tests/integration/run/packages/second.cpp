// second.cpp: the kernels of library second.
#include <opgen/kernel.h>

#include <second/ops/sub_native.h>
#include <second/ops/thrice_native.h>

OPGEN_KERNEL(thrice_cpu)(const Tensor& self) {
  Tensor result = opgen::clone(self);
  for (std::int64_t i = 0; i < result.numel(); ++i) result.mutable_data_ptr<float>()[i] *= 3;
  return result;
}

OPGEN_KERNEL(sub_cpu)(const Tensor& self, const Tensor&) {
  return self;
}
