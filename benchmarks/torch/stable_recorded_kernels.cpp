// stable_recorded_kernels.cpp: the kernel for stable_recorded.yaml.
#include <opgen/kernel.h>

#include <stable/ops/times_meta.h>
#include <stable/ops/times_native.h>

OPGEN_META_FUNC(times)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(times_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_FLOATING_TYPES(common_dtype(), "times", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return a * b; });
  });
}
