// expect: static_assert|expected|extraneous|template
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

template <class T>
OPGEN_KERNEL(plain_cpu)(const Tensor& self, T) { return self; }
