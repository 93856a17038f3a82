// expect: OPGEN_NativeFunctions_h_KERNEL_shaped_out_cpu
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_KERNEL(shaped_out_cpu)(const Tensor& self, const Scalar&, const Tensor&) { return self; }
