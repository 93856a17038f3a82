// thrice.cpp: the kernels of library second.
#include <opgen/kernel.h>

#include <second/ops/thrice_each_native.h>
#include <second/ops/thrice_native.h>

OPGEN_KERNEL(thrice_cpu)(const Tensor& self) {
  Tensor result = opgen::clone(self);
  for (std::int64_t i = 0; i < result.numel(); ++i) result.mutable_data_ptr<float>()[i] *= 3;
  return result;
}

OPGEN_KERNEL(thrice_each_cpu)(TensorList tensors) {
  std::vector<second::Tensor> results;
  for (const second::Tensor& tensor : tensors) results.push_back(tensor.thrice());
  return results;
}
