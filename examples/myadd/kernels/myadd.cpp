// myadd.cpp: the hand-written part of myops::myadd: the shape and dtype of the result, and its
// elements.
#include <opgen/kernel.h>

#include <myops/ops/myadd_meta.h>
#include <myops/ops/myadd_native.h>

OPGEN_META_FUNC(myadd)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPGEN_IMPL_FUNC(myadd_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::NumberTypes>(common_dtype(), "myadd", [&]<class scalar_t> {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return a + b; });
  });
}
