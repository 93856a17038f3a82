// kernels.cpp: the metas; the CPU kernels are not needed here.
#include <opgen/kernel.h>

#include <aten/ops/doubled_native.h>
#include <aten/ops/lonely_meta.h>
#include <aten/ops/plus.h>
#include <aten/ops/plus_meta.h>
#include <aten/ops/tail_meta.h>

OPGEN_META_FUNC(plus)(const Tensor& self, const Tensor& other) {
  set_output_raw_strided(0, other.sizes(), {}, self.options());
}

OPGEN_META_FUNC(tail)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1 && self.size(0) > 0, "tail of nothing");
  set_output_view(0, {self.size(0) - 1}, {self.stride(0)}, self.storage_offset() + self.stride(0));
}

OPGEN_META_FUNC(doubled)(const Tensor& self) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(double_all)(const Tensor& self, const Tensor& out) {
  Tensor result = out;
  at::plus_out(result, self, self);
}

OPGEN_META_FUNC(lonely)(const Tensor& self) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
