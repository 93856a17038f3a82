// expect: ambiguating|differ|different|no declaration matches|conflicting
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

int at::native::opgen_plain_cpu::plain_cpu(const Tensor&, int64_t n) { return static_cast<int>(n); }
