// expect: return-statement with a value|should not return a value
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_IMPL_FUNC(shaped_out_cpu)(const Tensor& self, const Scalar&, const Tensor&) { return self; }
