// kernels.cpp: the kernels for five.yaml.
#include <opgen/kernel.h>

#include <five/ops/axpy_meta.h>
#include <five/ops/axpy_native.h>
#include <five/ops/ends_meta.h>
#include <five/ops/ends_native.h>
#include <five/ops/exceeds_meta.h>
#include <five/ops/exceeds_native.h>
#include <five/ops/softclip_meta.h>
#include <five/ops/softclip_native.h>
#include <five/ops/span_meta.h>
#include <five/ops/span_native.h>

#include <algorithm>

#include "loops.h"

// axpy
OPGEN_META_FUNC(axpy)(const Tensor& x, const Tensor& y, const Scalar&) {
  build_borrowing_binary_op(maybe_get_output(), x, y);
}
OPGEN_IMPL_FUNC(axpy_cpu)(const Tensor&, const Tensor&, const Scalar& a, const Tensor&) {
  loops::axpy(*this, a);
}

// softclip
OPGEN_META_FUNC(softclip)(const Tensor& self, double) {
  build_borrowing_unary_float_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(softclip_cpu)(const Tensor&, double limit, const Tensor&) {
  loops::softclip(*this, limit);
}

// exceeds
OPGEN_META_FUNC(exceeds)(const Tensor& self, const Tensor& other) {
  build_borrowing_comparison_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(exceeds_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  loops::exceeds(*this);
}

// span
OPGEN_META_FUNC(span)(const Tensor& self, int64_t dim) {
  OPGEN_CHECK(self.dim() > 0, "span: expected a tensor with at least one dimension");
  const int64_t removed = opgen::maybe_wrap_dim(dim, self.dim());
  OPGEN_CHECK_INDEX(self.size(removed) > 0, "span: dimension ", dim, " is empty");
  DimVector sizes(self.sizes());
  sizes.erase(sizes.begin() + removed);
  set_output_contiguous(0, sizes, self.options());
}
OPGEN_IMPL_FUNC(span_cpu)(const Tensor& self, int64_t dim, const Tensor& out) {
  loops::span(self, opgen::maybe_wrap_dim(dim, self.dim()), out);
}

// ends
OPGEN_META_FUNC(ends)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "ends: expected a vector, got ", self.dim(), " dimensions");
  set_output_contiguous(0, {}, self.options());
  set_output_contiguous(1, {}, self.options());
}
OPGEN_IMPL_FUNC(ends_cpu)(const Tensor& self, const Tensor& first, const Tensor& last) {
  loops::ends(self, first, last);
}
