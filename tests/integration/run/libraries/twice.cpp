// twice.cpp: the kernels of library base.
#include <base/TensorBody.h>
#include <opgen/kernel.h>

#include <base/ops/add_one_native.h>
#include <base/ops/twice_native.h>

OPGEN_KERNEL(twice_cpu)(const Tensor& self) {
  Tensor result = opgen::clone(self);
  for (std::int64_t i = 0; i < result.numel(); ++i) result.mutable_data_ptr<float>()[i] *= 2;
  return result;
}

OPGEN_KERNEL(add_one_cpu)(Tensor& self) {
  for (std::int64_t i = 0; i < self.numel(); ++i) self.mutable_data_ptr<float>()[i] += 1;
  return self;
}
