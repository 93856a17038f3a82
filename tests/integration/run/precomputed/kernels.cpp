// kernels.cpp: meta wraps the dimension once, and the kernel gets it wrapped.
#include <opgen/kernel.h>

#include <aten/ops/tails_meta.h>
#include <aten/ops/tails_native.h>

OPGEN_PRECOMPUTE_META_FUNC(tails)(const Tensor& self, int64_t dim, const Scalar&) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
  int64_t wrapped = opgen::maybe_wrap_dim(dim, self.dim());
  return precompute_out<>()
      .set_wrapped_dim(wrapped)
      .set_length(self.size(wrapped))
      .set_row_major(self.is_contiguous());
}

OPGEN_IMPL_FUNC(tails_out_cpu)
(const Tensor& self, int64_t wrapped_dim, int64_t length, const Scalar& scale, bool row_major,
 const Tensor& out) {
  OPGEN_CHECK(length == self.size(wrapped_dim) && row_major == self.is_contiguous());
  opgen::fill_(out, static_cast<double>(wrapped_dim * 100 + length) * scale.to<double>());
}
