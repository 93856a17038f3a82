// expect: namespace|enclos
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

namespace mine {
OPGEN_KERNEL(plain_cpu)(const Tensor& self, int64_t) { return self; }
}
