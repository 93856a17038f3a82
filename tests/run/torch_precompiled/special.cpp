// special.cpp: has a definition of its own, so that it cannot read them.
#include <opgen/kernel.h>

#include <quick/ops/times_native.h>

OPGEN_KERNEL(times_cpu)(const Tensor& self) {
  return self.mul(Scalar(QUICK_FACTOR));
}
