// expect: could not convert|cannot convert|no viable conversion
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_KERNEL(plain_cpu)(const Tensor&, int64_t) { return "text"; }
