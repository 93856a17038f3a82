// expect: OPGEN_NativeMetaFunctions_h_META_ahead
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_META_FUNC(ahead)(const Tensor&, int64_t) {}
