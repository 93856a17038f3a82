// expect: OPGEN_NativeFunctions_h_KERNEL_plain_cuda
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

OPGEN_KERNEL(plain_cuda)(const Tensor& self, int64_t) { return self; }
