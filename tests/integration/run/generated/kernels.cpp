// kernels.cpp: only the kernels that are not generated.
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

#include <vector>

using opgen::Tensor;

namespace {

void scale(const Tensor& t, float by, float plus) {
  float* data = t.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < t.numel(); ++i) data[i] = data[i] * by + plus;
}

Tensor scaled(const Tensor& t, float by) {
  Tensor result = opgen::clone(t);
  scale(result, by, 0);
  return result;
}

}  // namespace

OPGEN_KERNEL(raise_cpu_)(Tensor& self, const Scalar& value) {
  scale(self, 1, value.to<float>());
  return self;
}

OPGEN_KERNEL(parts_cpu)(const Tensor& self) {
  return {scaled(self, 0.5F), scaled(self, 2)};
}

OPGEN_KERNEL(each_doubled_cpu)(TensorList tensors) {
  std::vector<Tensor> results;
  for (const Tensor& t : tensors) results.push_back(scaled(t, 2));
  return results;
}

OPGEN_KERNEL(swapped)(const Tensor& self) {
  return opgen::alias_with_sizes_and_strides(
      self, {self.size(1), self.size(0)}, {self.stride(1), self.stride(0)}, self.storage_offset());
}

OPGEN_KERNEL(rows)(const Tensor& self) {
  std::vector<Tensor> results;
  for (std::int64_t i = 0; i < self.size(0); ++i) {
    results.push_back(opgen::alias_with_sizes_and_strides(
        self, {self.size(1)}, {self.stride(1)}, self.storage_offset() + i * self.stride(0)));
  }
  return results;
}
