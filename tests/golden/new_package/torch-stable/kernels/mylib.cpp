// mylib.cpp: meta functions and kernels of mylib's operators.
#include <opgen/kernel.h>

#include <mylib/ops/mix_meta.h>
#include <mylib/ops/mix_native.h>
#include <mylib/ops/running_sum_native.h>

using namespace opgen::types;

// (1 - weight) * self + weight * other: shapes are broadcast, dtypes promoted.
OPGEN_META_FUNC(mix)(const Tensor& self, const Tensor& other, double) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPGEN_IMPL_FUNC(mix_cpu)(const Tensor&, const Tensor&, double weight, const Tensor&) {
  OPGEN_DISPATCH_FLOATING_TYPES(common_dtype(), "mix", [&] {
    const auto w = static_cast<scalar_t>(weight);
    opgen::cpu_kernel(*this, [w](scalar_t a, scalar_t b) -> scalar_t { return a + w * (b - a); });
  });
}

// The sums of the first, the first two, ... elements of a vector; with reverse, of the last, the
// last two, ...
OPGEN_KERNEL(running_sum_cpu)(const Tensor& self, bool reverse) {
  OPGEN_CHECK(self.dim() == 1, "running_sum: self has ", self.dim(), " dimensions, not 1");
  Tensor result = opgen::empty_like(self);
  OPGEN_DISPATCH_FLOATING_TYPES(self.scalar_type(), "running_sum", [&] {
    const scalar_t* source = self.const_data_ptr<scalar_t>();
    scalar_t* to = result.mutable_data_ptr<scalar_t>();
    const int64_t last = self.numel() - 1;
    scalar_t sum = 0;
    for (int64_t step = 0; step <= last; ++step) {
      const int64_t i = reverse ? last - step : step;
      sum += source[i * self.stride(0)];
      to[i * result.stride(0)] = sum;
    }
  });
  return result;
}

// The result on meta tensors, which have a shape and a dtype but no elements.
OPGEN_KERNEL(running_sum_meta)(const Tensor& self, bool) {
  OPGEN_CHECK(self.dim() == 1, "running_sum: self has ", self.dim(), " dimensions, not 1");
  return opgen::empty_like(self);
}
