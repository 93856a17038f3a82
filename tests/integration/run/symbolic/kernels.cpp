// kernels.cpp: the impls, which leave the work to ATen: the tests are about the tensors that metas
// made.
#include <ATen/ops/add.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/copy.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/fill.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <opgen/kernel.h>

#include <symb/NativeFunctions.h>

namespace {

// Out arguments of ATen's functions are not const.
at::Tensor& written(const at::Tensor& out) {
  return const_cast<at::Tensor&>(out);
}

}  // namespace

OPGEN_IMPL_FUNC(plus_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  at::add_out(written(out), self, other);
}
OPGEN_IMPL_FUNC(quotient_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  at::div_out(written(out), self, other);
}
OPGEN_IMPL_FUNC(below_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  at::lt_out(written(out), self, other);
}
OPGEN_IMPL_FUNC(opposite_out)(const Tensor& self, const Tensor& out) {
  at::neg_out(written(out), self);
}
OPGEN_IMPL_FUNC(root_out)(const Tensor& self, const Tensor& out) {
  at::sqrt_out(written(out), self);
}
OPGEN_IMPL_FUNC(vanishes_out)(const Tensor& self, const Tensor& out) {
  at::eq_out(written(out), self, 0);
}
OPGEN_IMPL_FUNC(blend_out)
(const Tensor& self, const Tensor& a, const Tensor& b, const Tensor& out) {
  const at::Tensor product = at::mul(a, b);
  at::add_out(written(out), self, product);
}
OPGEN_IMPL_FUNC(bounded_out)
(const Tensor& self, OptionalScalarRef min, OptionalScalarRef max, const Tensor& out) {
  const auto value = [](OptionalScalarRef bound) {
    return bound.has_value() ? std::optional<Scalar>(bound.get()) : std::nullopt;
  };
  at::clamp_out(written(out), self, value(min), value(max));
}
OPGEN_IMPL_FUNC(divided_out)
(const Tensor& self, const Tensor& other, const Tensor& quotient, const Tensor& rest) {
  at::add_out(written(quotient), self, other);
  at::add_out(written(rest), self, other, -1);
}
OPGEN_IMPL_FUNC(filled_out)
(const Tensor&, at::ArrayRef<int64_t>, const Scalar& value, const Tensor& out) {
  written(out).fill_(value);
}
OPGEN_IMPL_FUNC(in_order_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  at::add_out(written(out), self, other);
}
OPGEN_IMPL_FUNC(summed_out)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType>,
 const Tensor& out) {
  at::sum_out(written(out), self, dim, keepdim, out.scalar_type());
}
OPGEN_IMPL_FUNC(extremes_out)
(const Tensor& self, int64_t wrapped, const Tensor& least, const Tensor& greatest) {
  at::amin_out(written(least), self, wrapped);
  at::amax_out(written(greatest), self, wrapped);
}
OPGEN_IMPL_FUNC(columns_out)(const Tensor& self, const Tensor& out) {
  OPGEN_CHECK(out.stride(0) == 1, "columns: meta requested these strides");
  written(out).copy_(self);
}
OPGEN_IMPL_FUNC(enlarged_out)(const Tensor& self, IntArrayRef size, const Tensor& out) {
  at::upsample_nearest2d_out(written(out), self, size);
}
OPGEN_IMPL_FUNC(windows_out)
(const Tensor& self, int64_t n, std::optional<int64_t> step, const Tensor& out) {
  written(out).copy_(self.unfold(0, n, step.value_or(1)));
}
OPGEN_IMPL_FUNC(spread_out)
(const Tensor& self, std::optional<IntArrayRef>, const Tensor& out) {
  written(out).copy_(self);
}
OPGEN_IMPL_FUNC(scaled_out)
(const Tensor& self, OptionalTensorRef weight, OptionalTensorRef bias, const Tensor& out) {
  at::Tensor result = weight.has_value() ? at::mul(self, *weight) : self;
  if (bias.has_value()) result = at::add(result, *bias);
  written(out).copy_(result);
}
OPGEN_IMPL_FUNC(joined_out)
(const ITensorListRef& tensors, int64_t wrapped, bool any, const Tensor& out) {
  OPGEN_CHECK(any, "joined: meta has rejected this");
  at::cat_out(written(out), tensors, wrapped);
}
OPGEN_IMPL_FUNC(present_out)(const Tensor& self, IOptTensorListRef, const Tensor& out) {
  written(out).copy_(self.reshape({1, self.numel()}));
}
