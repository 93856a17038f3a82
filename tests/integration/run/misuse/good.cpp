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
  opgen::copy_(out, self);
}
OPGEN_PRECOMPUTE_META_FUNC(ahead)(const Tensor& self, int64_t dim) {
  return precompute_out<>().set_wrapped(dim).set_length(self.size(dim));
}
OPGEN_IMPL_FUNC(ahead_out_cpu)(const Tensor&, int64_t, int64_t, const Tensor&) {}
OPGEN_META_FUNC(scalarwise)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_UFUNC(scalarwise)(T self, T other) { return self + other; }
