// expect: OPGEN_NativeMetaFunctions_h_META_shaped_Tensor
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_META_FUNC2(shaped, Tensor)(const Tensor&, const Scalar&) {}
