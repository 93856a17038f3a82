// aliases.cpp: second names of operators. Each calls the operator of the first name, which has the
// kernels and the gradient.
#include <opgen/kernel.h>

#include <aten/ops/abs.h>
#include <aten/ops/absolute_native.h>
#include <aten/ops/acos.h>
#include <aten/ops/acosh.h>
#include <aten/ops/arccos_native.h>
#include <aten/ops/arccosh_native.h>
#include <aten/ops/arcsin_native.h>
#include <aten/ops/arcsinh_native.h>
#include <aten/ops/arctan_native.h>
#include <aten/ops/arctanh_native.h>
#include <aten/ops/asin.h>
#include <aten/ops/asinh.h>
#include <aten/ops/atan.h>
#include <aten/ops/atanh.h>
#include <aten/ops/cat.h>
#include <aten/ops/clamp.h>
#include <aten/ops/clip_native.h>
#include <aten/ops/concat_native.h>
#include <aten/ops/concatenate_native.h>
#include <aten/ops/div.h>
#include <aten/ops/divide_native.h>
#include <aten/ops/fix_native.h>
#include <aten/ops/ge.h>
#include <aten/ops/ger_native.h>
#include <aten/ops/greater_equal_native.h>
#include <aten/ops/greater_native.h>
#include <aten/ops/gt.h>
#include <aten/ops/le.h>
#include <aten/ops/less_equal_native.h>
#include <aten/ops/less_native.h>
#include <aten/ops/lt.h>
#include <aten/ops/moveaxis_native.h>
#include <aten/ops/movedim.h>
#include <aten/ops/mul.h>
#include <aten/ops/multiply_native.h>
#include <aten/ops/ne.h>
#include <aten/ops/neg.h>
#include <aten/ops/negative_native.h>
#include <aten/ops/not_equal_native.h>
#include <aten/ops/outer.h>
#include <aten/ops/row_stack_native.h>
#include <aten/ops/sub.h>
#include <aten/ops/subtract_native.h>
#include <aten/ops/swapaxes_native.h>
#include <aten/ops/swapdims_native.h>
#include <aten/ops/true_divide_native.h>
#include <aten/ops/trunc.h>
#include <aten/ops/vstack.h>

OPGEN_KERNEL(absolute)(const Tensor& self) {
  return at::abs(self);
}
OPGEN_KERNEL(absolute_)(Tensor& self) {
  return self.abs_();
}
OPGEN_KERNEL(absolute_out)(const Tensor& self, Tensor& out) {
  return at::abs_out(out, self);
}
OPGEN_KERNEL(negative)(const Tensor& self) {
  return at::neg(self);
}
OPGEN_KERNEL(negative_)(Tensor& self) {
  return self.neg_();
}
OPGEN_KERNEL(negative_out)(const Tensor& self, Tensor& out) {
  return at::neg_out(out, self);
}
OPGEN_KERNEL(fix)(const Tensor& self) {
  return at::trunc(self);
}
OPGEN_KERNEL(fix_)(Tensor& self) {
  return self.trunc_();
}
OPGEN_KERNEL(fix_out)(const Tensor& self, Tensor& out) {
  return at::trunc_out(out, self);
}
OPGEN_KERNEL(arcsin)(const Tensor& self) {
  return at::asin(self);
}
OPGEN_KERNEL(arcsin_)(Tensor& self) {
  return self.asin_();
}
OPGEN_KERNEL(arcsin_out)(const Tensor& self, Tensor& out) {
  return at::asin_out(out, self);
}
OPGEN_KERNEL(arccos)(const Tensor& self) {
  return at::acos(self);
}
OPGEN_KERNEL(arccos_)(Tensor& self) {
  return self.acos_();
}
OPGEN_KERNEL(arccos_out)(const Tensor& self, Tensor& out) {
  return at::acos_out(out, self);
}
OPGEN_KERNEL(arctan)(const Tensor& self) {
  return at::atan(self);
}
OPGEN_KERNEL(arctan_)(Tensor& self) {
  return self.atan_();
}
OPGEN_KERNEL(arctan_out)(const Tensor& self, Tensor& out) {
  return at::atan_out(out, self);
}
OPGEN_KERNEL(arcsinh)(const Tensor& self) {
  return at::asinh(self);
}
OPGEN_KERNEL(arcsinh_)(Tensor& self) {
  return self.asinh_();
}
OPGEN_KERNEL(arcsinh_out)(const Tensor& self, Tensor& out) {
  return at::asinh_out(out, self);
}
OPGEN_KERNEL(arccosh)(const Tensor& self) {
  return at::acosh(self);
}
OPGEN_KERNEL(arccosh_)(Tensor& self) {
  return self.acosh_();
}
OPGEN_KERNEL(arccosh_out)(const Tensor& self, Tensor& out) {
  return at::acosh_out(out, self);
}
OPGEN_KERNEL(arctanh)(const Tensor& self) {
  return at::atanh(self);
}
OPGEN_KERNEL(arctanh_)(Tensor& self) {
  return self.atanh_();
}
OPGEN_KERNEL(arctanh_out)(const Tensor& self, Tensor& out) {
  return at::atanh_out(out, self);
}
OPGEN_KERNEL(multiply)(const Tensor& self, const Tensor& other) {
  return at::mul(self, other);
}
OPGEN_KERNEL(multiply_)(Tensor& self, const Tensor& other) {
  return self.mul_(other);
}
OPGEN_KERNEL(multiply_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::mul_out(out, self, other);
}
OPGEN_KERNEL(multiply)(const Tensor& self, const Scalar& other) {
  return at::mul(self, other);
}
OPGEN_KERNEL(multiply_)(Tensor& self, const Scalar& other) {
  return self.mul_(other);
}
OPGEN_KERNEL(true_divide)(const Tensor& self, const Tensor& other) {
  return at::div(self, other);
}
OPGEN_KERNEL(true_divide_)(Tensor& self, const Tensor& other) {
  return self.div_(other);
}
OPGEN_KERNEL(true_divide_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::div_out(out, self, other);
}
OPGEN_KERNEL(true_divide)(const Tensor& self, const Scalar& other) {
  return at::div(self, other);
}
OPGEN_KERNEL(true_divide_)(Tensor& self, const Scalar& other) {
  return self.div_(other);
}
OPGEN_KERNEL(divide)(const Tensor& self, const Tensor& other) {
  return at::div(self, other);
}
OPGEN_KERNEL(divide_)(Tensor& self, const Tensor& other) {
  return self.div_(other);
}
OPGEN_KERNEL(divide_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::div_out(out, self, other);
}
OPGEN_KERNEL(divide)(const Tensor& self, const Scalar& other) {
  return at::div(self, other);
}
OPGEN_KERNEL(divide_)(Tensor& self, const Scalar& other) {
  return self.div_(other);
}
OPGEN_KERNEL(divide)
(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return at::div(self, other, rounding_mode);
}
OPGEN_KERNEL(divide_)
(Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return self.div_(other, rounding_mode);
}
OPGEN_KERNEL(divide_out)
(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode,
 Tensor& out) {
  return at::div_out(out, self, other, rounding_mode);
}
OPGEN_KERNEL(divide)
(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return at::div(self, other, rounding_mode);
}
OPGEN_KERNEL(divide_)
(Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return self.div_(other, rounding_mode);
}
OPGEN_KERNEL(subtract)(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::sub(self, other, alpha);
}
OPGEN_KERNEL(subtract_)(Tensor& self, const Tensor& other, const Scalar& alpha) {
  return self.sub_(other, alpha);
}
OPGEN_KERNEL(subtract_out)
(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  return at::sub_out(out, self, other, alpha);
}
OPGEN_KERNEL(subtract)(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return at::sub(self, other, alpha);
}
OPGEN_KERNEL(subtract_)(Tensor& self, const Scalar& other, const Scalar& alpha) {
  return self.sub_(other, alpha);
}
OPGEN_KERNEL(greater)(const Tensor& self, const Tensor& other) {
  return at::gt(self, other);
}
OPGEN_KERNEL(greater_)(Tensor& self, const Tensor& other) {
  return self.gt_(other);
}
OPGEN_KERNEL(greater_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::gt_out(out, self, other);
}
OPGEN_KERNEL(greater)(const Tensor& self, const Scalar& other) {
  return at::gt(self, other);
}
OPGEN_KERNEL(greater_)(Tensor& self, const Scalar& other) {
  return self.gt_(other);
}
OPGEN_KERNEL(greater_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::gt_out(out, self, other);
}
OPGEN_KERNEL(greater_equal)(const Tensor& self, const Tensor& other) {
  return at::ge(self, other);
}
OPGEN_KERNEL(greater_equal_)(Tensor& self, const Tensor& other) {
  return self.ge_(other);
}
OPGEN_KERNEL(greater_equal_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::ge_out(out, self, other);
}
OPGEN_KERNEL(greater_equal)(const Tensor& self, const Scalar& other) {
  return at::ge(self, other);
}
OPGEN_KERNEL(greater_equal_)(Tensor& self, const Scalar& other) {
  return self.ge_(other);
}
OPGEN_KERNEL(greater_equal_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::ge_out(out, self, other);
}
OPGEN_KERNEL(less)(const Tensor& self, const Tensor& other) {
  return at::lt(self, other);
}
OPGEN_KERNEL(less_)(Tensor& self, const Tensor& other) {
  return self.lt_(other);
}
OPGEN_KERNEL(less_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::lt_out(out, self, other);
}
OPGEN_KERNEL(less)(const Tensor& self, const Scalar& other) {
  return at::lt(self, other);
}
OPGEN_KERNEL(less_)(Tensor& self, const Scalar& other) {
  return self.lt_(other);
}
OPGEN_KERNEL(less_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::lt_out(out, self, other);
}
OPGEN_KERNEL(less_equal)(const Tensor& self, const Tensor& other) {
  return at::le(self, other);
}
OPGEN_KERNEL(less_equal_)(Tensor& self, const Tensor& other) {
  return self.le_(other);
}
OPGEN_KERNEL(less_equal_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::le_out(out, self, other);
}
OPGEN_KERNEL(less_equal)(const Tensor& self, const Scalar& other) {
  return at::le(self, other);
}
OPGEN_KERNEL(less_equal_)(Tensor& self, const Scalar& other) {
  return self.le_(other);
}
OPGEN_KERNEL(less_equal_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::le_out(out, self, other);
}
OPGEN_KERNEL(not_equal)(const Tensor& self, const Tensor& other) {
  return at::ne(self, other);
}
OPGEN_KERNEL(not_equal_)(Tensor& self, const Tensor& other) {
  return self.ne_(other);
}
OPGEN_KERNEL(not_equal_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::ne_out(out, self, other);
}
OPGEN_KERNEL(not_equal)(const Tensor& self, const Scalar& other) {
  return at::ne(self, other);
}
OPGEN_KERNEL(not_equal_)(Tensor& self, const Scalar& other) {
  return self.ne_(other);
}
OPGEN_KERNEL(not_equal_out)(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::ne_out(out, self, other);
}
OPGEN_KERNEL(clip)
(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  return at::clamp(self, min, max);
}
OPGEN_KERNEL(clip_)
(Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  return self.clamp_(min, max);
}
OPGEN_KERNEL(clip_out)
(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max,
 Tensor& out) {
  return at::clamp_out(out, self, min, max);
}
OPGEN_KERNEL(clip)
(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  return at::clamp(self, min, max);
}
OPGEN_KERNEL(clip_)
(Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  return self.clamp_(min, max);
}
OPGEN_KERNEL(clip_out)
(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max,
 Tensor& out) {
  return at::clamp_out(out, self, min, max);
}
OPGEN_KERNEL(concat)(TensorList tensors, int64_t dim) {
  return at::cat(tensors, dim);
}
OPGEN_KERNEL(concat_out)(TensorList tensors, int64_t dim, Tensor& out) {
  return at::cat_out(out, tensors, dim);
}
OPGEN_KERNEL(concatenate)(TensorList tensors, int64_t dim) {
  return at::cat(tensors, dim);
}
OPGEN_KERNEL(concatenate_out)(TensorList tensors, int64_t dim, Tensor& out) {
  return at::cat_out(out, tensors, dim);
}
OPGEN_KERNEL(row_stack)(TensorList tensors) {
  return at::vstack(tensors);
}
OPGEN_KERNEL(row_stack_out)(TensorList tensors, Tensor& out) {
  return at::vstack_out(out, tensors);
}
OPGEN_KERNEL(swapaxes)(const Tensor& self, int64_t axis0, int64_t axis1) {
  return self.transpose(axis0, axis1);
}
OPGEN_KERNEL(swapaxes_)(Tensor& self, int64_t axis0, int64_t axis1) {
  return self.transpose_(axis0, axis1);
}
OPGEN_KERNEL(swapdims)(const Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose(dim0, dim1);
}
OPGEN_KERNEL(swapdims_)(Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose_(dim0, dim1);
}
OPGEN_KERNEL(moveaxis)(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  return at::movedim(self, source, destination);
}
OPGEN_KERNEL(moveaxis)(const Tensor& self, int64_t source, int64_t destination) {
  return at::movedim(self, source, destination);
}
OPGEN_KERNEL(ger)(const Tensor& self, const Tensor& vec2) {
  return at::outer(self, vec2);
}
OPGEN_KERNEL(ger_out)(const Tensor& self, const Tensor& vec2, Tensor& out) {
  return at::outer_out(out, self, vec2);
}
