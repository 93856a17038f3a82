// expect: could not convert|cannot convert|no viable
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_PRECOMPUTE_META_FUNC(ahead)(const Tensor&, int64_t dim) {
  return precompute_out<>().set_wrapped(dim);
}
