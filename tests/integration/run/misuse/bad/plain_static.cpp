// expect: static_assert|expected
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

static OPGEN_KERNEL(plain_cpu)(const Tensor& self, int64_t) { return self; }
