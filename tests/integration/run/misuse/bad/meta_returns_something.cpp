// expect: return-statement with a value|should not return a value
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_META_FUNC(shaped)(const Tensor& self, const Scalar&) { return self; }
