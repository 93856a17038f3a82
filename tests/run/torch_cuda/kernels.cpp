// kernels.cpp: the meta functions of operators.yaml, and its CPU kernels.
#include <opgen/kernel.h>

#include <gpu/ops/missed_native.h>
#include <gpu/ops/plus_meta.h>
#include <gpu/ops/plus_native.h>
#include <gpu/ops/ramp_native.h>
#include <gpu/ops/total_meta.h>

OPGEN_META_FUNC(plus)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPGEN_META_FUNC(total)(const Tensor& self, int64_t dim, OptionalTensorRef weight) {
  DimVector sizes(self.sizes());
  const int64_t removed = opgen::maybe_wrap_dim(dim, self.dim());
  OPGEN_CHECK(!weight.has_value() || weight->numel() == sizes[removed],
              "total: one weight for each element");
  sizes.erase(sizes.begin() + removed);
  set_output_raw_strided(0, sizes, {}, self.options());
}

OPGEN_IMPL_FUNC(plus_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_ALL_BUT_BOOL(common_dtype(), "plus", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return a + b; });
  });
}

OPGEN_KERNEL(ramp_cpu)
(IntArrayRef size, std::optional<ScalarType>, std::optional<Layout>, std::optional<Device>,
 std::optional<bool>) {
  Tensor out = opgen::empty(size, TensorOptions(kFloat));
  float* const first = out.data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i) first[i] = static_cast<float>(i);
  return out;
}

OPGEN_KERNEL(missed_cpu)(const Tensor& self) {
  return opgen::clone(self);
}
