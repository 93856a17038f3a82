// expect: no declaration matches|does not match any|out-of-line definition
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_KERNEL(plain_cpu)(const Tensor& self, double) { return self; }
