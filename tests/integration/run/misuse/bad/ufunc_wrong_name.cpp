// expect: OPGEN_NativeFunctions_h_UFUNC_scalarwize|expected constructor|unknown type|a type specifier
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_UFUNC(scalarwize)(T self, T other) { return self + other; }
