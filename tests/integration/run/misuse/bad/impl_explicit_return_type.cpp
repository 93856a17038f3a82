// expect: no declaration matches|differs|different
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

int at::native::structured_shaped_out_cpu::impl(const Tensor&, const Scalar&, const Tensor&) { return 0; }
