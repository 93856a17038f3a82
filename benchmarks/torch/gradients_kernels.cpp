// gradients_kernels.cpp: the kernels for gradients.yaml.
#include <graded/NativeFunctions.h>
#include <opgen/kernel.h>

#include "gradients_work.h"

OPGEN_KERNEL(scale_cpu)(const Tensor& self, double by) {
  return work::scale(self, by);
}
OPGEN_KERNEL(times_cpu)(const Tensor& self, const Tensor& other) {
  return work::times(self, other);
}
OPGEN_KERNEL(grow_cpu)(const Tensor& self) {
  return work::grow(self);
}
