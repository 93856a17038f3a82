// mix.cpp: the shape and dtype of the result of mixops::mix, and its elements.
#include <opgen/kernel.h>

#include <mixops/ops/mix_meta.h>
#include <mixops/ops/mix_native.h>

OPGEN_META_FUNC(mix)(const Tensor& self, const Tensor& other, double) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPGEN_IMPL_FUNC(mix_out_cpu)(const Tensor&, const Tensor&, double weight, const Tensor&) {
  opgen::dispatch<float, double>(common_dtype(), "mix", [&]<class scalar_t> {
    opgen::cpu_kernel(*this, [weight](scalar_t a, scalar_t b) -> scalar_t {
      return static_cast<scalar_t>((1 - weight) * a + weight * b);
    });
  });
}
