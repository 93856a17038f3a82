// all.cpp: every kernel as it should be.
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

using opgen::Scalar;
using opgen::Tensor;

namespace at::native {
int helper(int x);
int helper(int x) { return x; }
OPGEN_KERNEL(plain_cpu)(const Tensor& self, int64_t n) {
  return helper(static_cast<int>(n)) > 0 ? self : Tensor();
}
}  // namespace at::native
OPGEN_META_FUNC(shaped)(const Tensor& self, const Scalar&) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(shaped_out_cpu)(const Tensor& self, const Scalar&, const Tensor& out) {
  opgen::detail::copy_(out, self);
}
