// expect: OPGEN_NativeMetaFunctions_h_PRECOMPUTE_META_shaped
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_PRECOMPUTE_META_FUNC(shaped)(const Tensor&, const Scalar&) { return meta_return_ty(); }
