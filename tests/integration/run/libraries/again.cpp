// again.cpp: the kernels of library again.
#include <opgen/kernel.h>

#include <again/ops/once_native.h>
#include <again/ops/twice_native.h>

OPGEN_KERNEL(twice_cpu)(const Tensor&) {
  return opgen::full({1}, -1, opgen::kFloat);
}

OPGEN_KERNEL(once_cpu)(const Tensor& self) {
  return self;
}
