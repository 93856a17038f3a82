// fourfold.cpp: the kernel of library more, which calls a function and a method of library base.
#include <base/TensorBody.h>
#include <opgen/kernel.h>

#include <base/ops/twice.h>
#include <more/ops/fourfold_native.h>

OPGEN_KERNEL(fourfold_cpu)(const Tensor& self) {
  return base::twice(self).twice();
}
