// expect: no declaration matches|does not match any
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_KERNEL(plain_cpu)(const Tensor& self, int64_t, bool = false) { return self; }
