// expect: no declaration matches|does not match any
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_IMPL_FUNC(shaped_out_cpu)(const Tensor&, const Scalar&, Tensor&) {}
