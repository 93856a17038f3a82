// metas.cpp: metas of every kind, each written once for known sizes, for symbolic ones, and for
// opgen's own runtime.
#include <opgen/kernel.h>

#include <symb/NativeMetaFunctions.h>

OPGEN_META_FUNC(plus)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC(quotient)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_float_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC(below)(const Tensor& self, const Tensor& other) {
  build_borrowing_comparison_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC(opposite)(const Tensor& self) {
  OPGEN_CHECK(self.scalar_type() != kBool, "opposite: not defined for bool");
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(root)(const Tensor& self) {
  build_borrowing_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(vanishes)(const Tensor& self) {
  build_borrowing_unary_force_boolean_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(blend)(const Tensor& self, const Tensor& a, const Tensor& b) {
  build_ternary_op(maybe_get_output(), self, a, b);
}
OPGEN_META_FUNC(bounded)(const Tensor& self, OptionalScalarRef min, OptionalScalarRef max) {
  OPGEN_CHECK(min.has_value() || max.has_value(), "bounded: min or max is required");
  build_borrowing_unary_op(maybe_get_output(), self);
  OPGEN_CHECK(dtype() == self.scalar_type() && ninputs() == 1, "the iterator has not been built");
}

OPGEN_META_FUNC(divided)(const Tensor& self, const Tensor& other) {
  build(TensorIteratorConfig()
            .add_output(maybe_get_output(0))
            .add_output(maybe_get_output(1))
            .add_input(self)
            .add_input(other)
            .promote_inputs_to_common_dtype(true)
            .cast_common_dtype_to_outputs(true)
            .enforce_safe_casting_to_output(true));
}
OPGEN_META_FUNC(filled)(const Tensor& self, IntArrayRef size, const Scalar&) {
  build(TensorIteratorConfig()
            .add_output(maybe_get_output())
            .check_all_same_dtype(false)
            .resize_outputs(false)
            .declare_static_dtype_and_device(self.scalar_type(), self.device())
            .declare_static_shape(size));
}
OPGEN_META_FUNC(in_order)(const Tensor& self, const Tensor& other) {
  build(TensorIteratorConfig()
            .add_output(maybe_get_output())
            .add_input(self)
            .add_input(other)
            .promote_inputs_to_common_dtype(true)
            .cast_common_dtype_to_outputs(true)
            .enforce_linear_iteration());
}

OPGEN_META_FUNC(summed)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const opgen::DimMask mask = opgen::make_dim_mask(dim, self.dim());
  const DimVector shape = opgen::shape_from_dim_mask(self.sizes(), mask, keepdim);
  set_output_raw_strided(0, shape, {}, self.options().dtype(dtype.value_or(self.scalar_type())));
}
OPGEN_PRECOMPUTE_META_FUNC(extremes)(const Tensor& self, int64_t dim) {
  const int64_t wrapped = opgen::maybe_wrap_dim(dim, self.dim());
  OPGEN_SYM_CHECK(opgen::sym_gt(self.size(wrapped), 0), "extremes: dimension ", wrapped,
                  " is empty");
  DimVector shape(self.sizes().begin(), self.sizes().end());
  shape.erase(shape.begin() + wrapped);
  set_output_raw_strided(0, shape, {}, self.options());
  set_output_contiguous(1, shape, self.options());
  return precompute_out<>().set_wrapped(wrapped);
}
OPGEN_META_FUNC(columns)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 2, "columns: a matrix is expected, got ", self.dim(), " dimensions");
  const auto rows = self.size(0);
  set_output_strided(0, {rows, self.size(1)}, {1, opgen::sym_max(rows, 1)}, self.options());
}
OPGEN_META_FUNC(enlarged)(const Tensor& self, IntArrayRef size) {
  OPGEN_CHECK(self.dim() == 4, "enlarged: 4 dimensions are expected, got ", self.dim());
  OPGEN_CHECK(size.size() == 2, "enlarged: two sizes are expected");
  OPGEN_SYM_CHECK(opgen::sym_ge(size[0], self.size(2)), "enlarged: ", self.size(2), " to ",
                  size[0]);
  set_output_raw_strided(0, {self.size(0), self.size(1), size[0], size[1]}, {}, self.options());
}
OPGEN_META_FUNC(windows)(const Tensor& self, Int n, std::optional<Int> step) {
  OPGEN_CHECK(self.dim() == 1, "windows: a vector is expected");
  OPGEN_SYM_CHECK(opgen::sym_le(n, self.size(0)), "windows: ", n, " of ", self.size(0));
  const Int by = step.has_value() ? *step : Int(1);
  set_output_contiguous(0, {(self.size(0) - n) / by + 1, n}, self.options());
}
OPGEN_META_FUNC(spread)(const Tensor& self, std::optional<IntArrayRef> size) {
  IntArrayRef sizes = size.has_value() ? *size : self.sizes();
  set_output_raw_strided(0, sizes, {}, self.options());
}
OPGEN_META_FUNC(scaled)(const Tensor& self, OptionalTensorRef weight, OptionalTensorRef bias) {
  OPGEN_CHECK(self.dim() == 2, "scaled: a matrix is expected");
  if (weight.has_value()) {
    OPGEN_SYM_CHECK(opgen::sym_eq(weight->size(0), self.size(1)), "scaled: weight has ",
                    weight->size(0), " elements");
  }
  if (bias.has_value()) OPGEN_CHECK(bias->dim() == 1, "scaled: bias is a vector");
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_PRECOMPUTE_META_FUNC(joined)(const ITensorListRef& tensors, int64_t dim) {
  OPGEN_CHECK(tensors.size() > 0, "joined: nothing to join");
  const Tensor& first = tensors.front();
  const int64_t wrapped = opgen::maybe_wrap_dim(dim, first.dim());
  DimVector shape(first.sizes().begin(), first.sizes().end());
  Int length = 0;
  for (const Tensor& tensor : tensors) {
    OPGEN_CHECK(tensor.dim() == first.dim(), "joined: ", tensor.dim(), " dimensions");
    length += tensor.size(wrapped);
  }
  shape[static_cast<std::size_t>(wrapped)] = length;
  set_output_raw_strided(0, shape, {}, first.options());
  return precompute_out<>().set_wrapped(wrapped).set_any(true);
}
OPGEN_META_FUNC(present)(const Tensor& self, IOptTensorListRef others) {
  int64_t count = 0;
  for (const auto& other : others) count += other.has_value() ? 1 : 0;
  set_output_contiguous(0, {count, self.numel()}, self.options());
}
