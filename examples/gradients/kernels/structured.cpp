// Element-wise operators with variants.
#include <graded/ops/bump_meta.h>
#include <graded/ops/bump_native.h>
#include <graded/ops/sin_cos_meta.h>
#include <graded/ops/sin_cos_native.h>
#include <graded/ops/squash_meta.h>
#include <graded/ops/squash_native.h>
#include <opgen/kernel.h>

#include <cmath>
#include <tuple>

using namespace opgen::types;

OPGEN_META_FUNC(bump)(const Tensor& self, double) {
  build_borrowing_unary_float_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(bump_out_cpu)(const Tensor&, double width, const Tensor&) {
  opgen::dispatch<float, double, opgen::ComplexTypes>(common_dtype(), "bump", [&]<class scalar_t> {
    const auto w = static_cast<scalar_t>(width);
    opgen::cpu_kernel(*this, [w](scalar_t x) -> scalar_t { return std::exp(-w * x * x); });
  });
}

OPGEN_META_FUNC(squash)(const Tensor& self) {
  build_borrowing_unary_float_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(squash_out_cpu)(const Tensor&, const Tensor&) {
  opgen::dispatch<float, double, opgen::ComplexTypes>(
      common_dtype(), "squash", [&]<class scalar_t> {
        const auto one = static_cast<scalar_t>(1);
        opgen::cpu_kernel(*this,
                          [one](scalar_t x) -> scalar_t { return one / (one + std::exp(-x)); });
      });
}

OPGEN_META_FUNC(sin_cos)(const Tensor& self) {
  build(TensorIteratorConfig()
            .add_output(maybe_get_output(0))
            .add_output(maybe_get_output(1))
            .add_const_input(self)
            .promote_inputs_to_common_dtype(true)
            .promote_integer_inputs_to_float(true)
            .cast_common_dtype_to_outputs(true)
            .enforce_safe_casting_to_output(true));
}
OPGEN_IMPL_FUNC(sin_cos_out_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<float, double>(common_dtype(), "sin_cos", [&]<class scalar_t> {
    opgen::cpu_kernel_multiple_outputs(*this, [](scalar_t x) -> std::tuple<scalar_t, scalar_t> {
      return {std::sin(x), std::cos(x)};
    });
  });
}
