// The shapes, for all devices, and the kernel for the CPU.
#include <cmath>

#include <opgen/kernel.h>

#include <norms/ops/rms_norm_meta.h>
#include <norms/ops/rms_norm_native.h>

// Runs on every device, also for meta tensors and symbolic sizes, before a kernel runs.
OPGEN_META_FUNC(rms_norm)(const Tensor& self, const Tensor& weight, double) {
  OPGEN_CHECK(self.dim() > 0 && weight.dim() == 1, "rms_norm: one weight for each column");
  OPGEN_SYM_CHECK(opgen::sym_eq(weight.size(0), self.size(self.dim() - 1)),
                  "rms_norm: one weight for each column");
  OPGEN_CHECK(weight.scalar_type() == self.scalar_type(),
              "rms_norm: self and weight have different dtypes");
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

OPGEN_IMPL_FUNC(rms_norm_cpu)
(const Tensor& self, const Tensor& weight, double eps, const Tensor& out) {
  const Tensor rows = self.contiguous(), weights = weight.contiguous();
  const Tensor to = out.is_contiguous() ? out : opgen::empty(out.sizes(), out.options());
  const int64_t columns = rows.size(-1), count = columns == 0 ? 0 : rows.numel() / columns;
  OPGEN_DISPATCH_FLOATING_TYPES_AND2(Half, BFloat16, rows.scalar_type(), "rms_norm", [&] {
    const scalar_t* const in = rows.const_data_ptr<scalar_t>();
    const scalar_t* const factors = weights.const_data_ptr<scalar_t>();
    scalar_t* const result = to.data_ptr<scalar_t>();
    for (int64_t i = 0; i < count; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < columns; ++j) {
        const double x = static_cast<double>(in[i * columns + j]);
        sum += x * x;
      }
      const double scale = 1 / std::sqrt(sum / static_cast<double>(columns) + eps);
      for (int64_t j = 0; j < columns; ++j) {
        const double x = static_cast<double>(in[i * columns + j]);
        result[i * columns + j] =
            static_cast<scalar_t>(x * scale * static_cast<double>(factors[j]));
      }
    }
  });
  if (!to.is_same(out)) opgen::copy_(out, to);
}
