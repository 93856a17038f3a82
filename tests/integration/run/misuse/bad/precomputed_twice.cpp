// expect: wrapped is already set
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_PRECOMPUTE_META_FUNC(ahead)(const Tensor&, int64_t dim) {
  return precompute_out<>().set_wrapped(dim).set_length(dim).set_wrapped(dim);
}
