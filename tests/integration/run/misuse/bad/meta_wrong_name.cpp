// expect: OPGEN_NativeMetaFunctions_h_META_shapd
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_META_FUNC(shapd)(const Tensor&, const Scalar&) {}
