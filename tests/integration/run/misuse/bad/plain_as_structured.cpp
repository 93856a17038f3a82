// expect: OPGEN_NativeFunctions_h_IMPL_plain_cpu
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_IMPL_FUNC(plain_cpu)(const Tensor&, int64_t, const Tensor&) {}
