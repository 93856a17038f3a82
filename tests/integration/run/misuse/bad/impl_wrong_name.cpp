// expect: OPGEN_NativeFunctions_h_IMPL_shaped_cpu
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_IMPL_FUNC(shaped_cpu)(const Tensor&, const Scalar&, const Tensor&) {}
