// expect: const
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_KERNEL(plain_cpu)(const Tensor& self, int64_t) const { return self; }
