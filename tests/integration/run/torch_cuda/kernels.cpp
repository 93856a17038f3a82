// kernels.cpp: the meta functions of operators.yaml, and its CPU kernels.
#include <opgen/kernel.h>

#include <gpu/ops/missed_native.h>
#include <gpu/ops/plus_meta.h>
#include <gpu/ops/plus_native.h>
#include <gpu/ops/ramp_native.h>
#include <gpu/ops/rms_norm_meta.h>
#include <gpu/ops/rms_norm_native.h>
#include <gpu/ops/sum_of_meta.h>
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

OPGEN_META_FUNC(sum_of)(const Tensor& self, ArrayRef<int64_t> dim, bool keepdim) {
  DimVector sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    bool folds = dim.empty();
    for (const int64_t one : dim) folds |= opgen::maybe_wrap_dim(one, self.dim()) == d;
    if (!folds) {
      sizes.push_back(self.size(d));
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  set_output_raw_strided(0, sizes, {}, self.options());
}

OPGEN_META_FUNC(rms_norm)(const Tensor& self, const Tensor& weight, double) {
  OPGEN_CHECK(self.dim() > 0 && weight.dim() == 1, "rms_norm: one weight for each column");
  OPGEN_SYM_CHECK(opgen::sym_eq(weight.size(0), self.size(self.dim() - 1)),
                  "rms_norm: one weight for each column");
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

OPGEN_IMPL_FUNC(rms_norm_cpu)
(const Tensor& self, const Tensor& weight, double eps, const Tensor& out) {
  const Tensor squares = self.pow(2).mean(-1, /*keepdim=*/true);
  opgen::copy_(out, self.mul(squares.add(eps).rsqrt()).mul(weight));
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
