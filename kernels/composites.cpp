// composites.cpp: operators that are made of others and have no loops of their own, and second
// names of operators.
#include <opgen/kernel.h>

#include <aten/ops/abs.h>
#include <aten/ops/absolute_native.h>
#include <aten/ops/acos.h>
#include <aten/ops/acosh.h>
#include <aten/ops/add.h>
#include <aten/ops/amax.h>
#include <aten/ops/arccos_native.h>
#include <aten/ops/arccosh_native.h>
#include <aten/ops/arcsin_native.h>
#include <aten/ops/arcsinh_native.h>
#include <aten/ops/arctan_native.h>
#include <aten/ops/arctanh_native.h>
#include <aten/ops/argwhere_native.h>
#include <aten/ops/asin.h>
#include <aten/ops/asinh.h>
#include <aten/ops/atan.h>
#include <aten/ops/atanh.h>
#include <aten/ops/broadcast_to_native.h>
#include <aten/ops/cat.h>
#include <aten/ops/clamp.h>
#include <aten/ops/clip_native.h>
#include <aten/ops/column_stack.h>
#include <aten/ops/column_stack_native.h>
#include <aten/ops/concat_native.h>
#include <aten/ops/concatenate_native.h>
#include <aten/ops/count_nonzero.h>
#include <aten/ops/count_nonzero_native.h>
#include <aten/ops/diag.h>
#include <aten/ops/diag_native.h>
#include <aten/ops/diagflat_native.h>
#include <aten/ops/diagonal_backward.h>
#include <aten/ops/diagonal_copy.h>
#include <aten/ops/div.h>
#include <aten/ops/divide_native.h>
#include <aten/ops/dstack.h>
#include <aten/ops/dstack_native.h>
#include <aten/ops/empty.h>
#include <aten/ops/fix_native.h>
#include <aten/ops/flip.h>
#include <aten/ops/fliplr_native.h>
#include <aten/ops/flipud_native.h>
#include <aten/ops/gather.h>
#include <aten/ops/ge.h>
#include <aten/ops/ger_native.h>
#include <aten/ops/greater_equal_native.h>
#include <aten/ops/greater_native.h>
#include <aten/ops/gt.h>
#include <aten/ops/hstack.h>
#include <aten/ops/hstack_native.h>
#include <aten/ops/le.h>
#include <aten/ops/less_equal_native.h>
#include <aten/ops/less_native.h>
#include <aten/ops/logsumexp.h>
#include <aten/ops/logsumexp_native.h>
#include <aten/ops/lt.h>
#include <aten/ops/mean.h>
#include <aten/ops/moveaxis_native.h>
#include <aten/ops/movedim.h>
#include <aten/ops/movedim_native.h>
#include <aten/ops/msort.h>
#include <aten/ops/msort_native.h>
#include <aten/ops/mul.h>
#include <aten/ops/multiply_native.h>
#include <aten/ops/ne.h>
#include <aten/ops/neg.h>
#include <aten/ops/negative_native.h>
#include <aten/ops/nonzero.h>
#include <aten/ops/nonzero_numpy_native.h>
#include <aten/ops/not_equal_native.h>
#include <aten/ops/one_hot_native.h>
#include <aten/ops/outer.h>
#include <aten/ops/positive_native.h>
#include <aten/ops/ravel_native.h>
#include <aten/ops/roll.h>
#include <aten/ops/roll_native.h>
#include <aten/ops/row_stack_native.h>
#include <aten/ops/sort.h>
#include <aten/ops/std.h>
#include <aten/ops/std_mean.h>
#include <aten/ops/std_mean_native.h>
#include <aten/ops/sub.h>
#include <aten/ops/subtract_native.h>
#include <aten/ops/sum.h>
#include <aten/ops/sum_to_size_native.h>
#include <aten/ops/swapaxes_native.h>
#include <aten/ops/swapdims_native.h>
#include <aten/ops/take_along_dim.h>
#include <aten/ops/take_along_dim_native.h>
#include <aten/ops/tile_native.h>
#include <aten/ops/trace_native.h>
#include <aten/ops/true_divide_native.h>
#include <aten/ops/trunc.h>
#include <aten/ops/unbind.h>
#include <aten/ops/vstack.h>
#include <aten/ops/vstack_native.h>
#include <aten/ops/zeros.h>

#include <opgen/cpu/truth.h>

#include "common.h"

using namespace kernels;

// ---- Shapes ----

OPGEN_KERNEL(broadcast_to)(const Tensor& self, IntArrayRef size) {
  return self.expand(size);
}

OPGEN_KERNEL(positive)(const Tensor& self) {
  OPGEN_CHECK(self.scalar_type() != kBool, "The `+` operator, on a bool tensor is not supported.");
  return self;
}

OPGEN_KERNEL(ravel)(const Tensor& self) {
  if (self.is_contiguous()) return self.view({-1});
  return self.clone(MemoryFormat::Contiguous).view({-1});
}

OPGEN_KERNEL(tile)(const Tensor& self, IntArrayRef dims) {
  const auto given = static_cast<int64_t>(dims.size());
  DimVector repeats(static_cast<size_t>(std::max<int64_t>(0, self.dim() - given)), 1);
  for (int64_t repeat : dims) repeats.push_back(repeat);
  return self.repeat(repeats);
}

OPGEN_KERNEL(movedim)(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  OPGEN_CHECK(source.size() == destination.size(),
              "movedim: Invalid source or destination dims: source (", source,
              " dims) should contain the same number of dims as destination (", destination,
              " dims)");
  const int64_t ndim = self.dim();
  // `taken` is not a bit mask, because a view may have any number of dimensions.
  const auto count = static_cast<size_t>(std::max<int64_t>(ndim, 1));
  opgen::SmallVector<bool, 8> taken(count, false);
  DimVector order(count, -1);
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = wrap_dim(source[i], ndim), to = wrap_dim(destination[i], ndim);
    int64_t& place = order[static_cast<size_t>(to)];
    OPGEN_CHECK(!taken[from], "movedim: repeated dim in `source` (", source, ")");
    OPGEN_CHECK(place == -1, "movedim: repeated dim in `destination` (", destination, ")");
    taken[from] = true;
    place = from;
  }
  if (ndim == 0) return self.alias();
  // The others keep their order.
  int64_t next = 0;
  for (int64_t d = 0; d < ndim; ++d) {
    if (taken[d]) continue;
    while (order[static_cast<size_t>(next)] != -1) ++next;
    order[static_cast<size_t>(next)] = d;
  }
  return self.permute(order);
}
OPGEN_KERNEL(movedim)(const Tensor& self, int64_t source, int64_t destination) {
  return at::movedim(self, IntArrayRef{source}, IntArrayRef{destination});
}

OPGEN_KERNEL(fliplr)(const Tensor& self) {
  OPGEN_CHECK(self.dim() >= 2, "Input must be >= 2-d.");
  return at::flip(self, {1});
}
OPGEN_KERNEL(flipud)(const Tensor& self) {
  OPGEN_CHECK(self.dim() >= 1, "Input must be >= 1-d.");
  return at::flip(self, {0});
}

OPGEN_KERNEL(roll)(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  OPGEN_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    return at::roll(self.reshape({-1}), shifts, {0}).view(self.sizes());
  }
  OPGEN_CHECK(shifts.size() == dims.size(),
              "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  Tensor result = self;
  for (size_t i = 0; i < dims.size(); ++i) {
    OPGEN_CHECK(self.dim() > 0, "Dimension specified as ", dims[i],
                " but tensor has no dimensions");
    const int64_t dim = wrap_dim(dims[i], self.dim());
    const int64_t size = self.size(dim);
    const int64_t rest = size == 0 ? 0 : shifts[i] % size;
    const int64_t shift = rest < 0 ? rest + size : rest;
    if (shift == 0) {
      result = opgen::clone(result, MemoryFormat::Contiguous);
      continue;
    }
    const Tensor parts[] = {result.narrow(dim, size - shift, shift),
                            result.narrow(dim, 0, size - shift)};
    result = at::cat(parts, dim);
  }
  return result;
}

OPGEN_KERNEL(sum_to_size)(const Tensor& self, IntArrayRef size) {
  OPGEN_CHECK(opgen::is_expandable_to(size, self.sizes()), "size {", size,
              "} is not expandable to size {", self.sizes(), "}.");
  if (size.empty()) return self.sum();
  const int64_t extra = self.dim() - static_cast<int64_t>(size.size());
  DimVector dims;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < extra || (size[static_cast<size_t>(d - extra)] == 1 && self.size(d) != 1)) {
      dims.push_back(d);
    }
  }
  if (dims.empty()) return extra > 0 ? self.view(size) : self;
  const Tensor sum = at::sum(self, dims, /*keepdim=*/true, std::nullopt);
  return extra > 0 ? sum.view(size) : sum;
}

// ---- Diagonals ----

OPGEN_KERNEL(diag)(const Tensor& self, int64_t diagonal) {
  OPGEN_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ",
              self.dim(), "D");
  if (self.dim() == 2) return at::diagonal_copy(self, diagonal, 0, 1);
  const int64_t size = self.numel() + (diagonal < 0 ? -Size(diagonal) : Size(diagonal));
  return at::diagonal_backward(self, {size, size}, diagonal, 0, 1);
}
OPGEN_KERNEL(diag_out)(const Tensor& self, int64_t diagonal, Tensor& out) {
  return copy_result(out, at::diag(self, diagonal), "diag");
}
OPGEN_KERNEL(diagflat)(const Tensor& self, int64_t offset) {
  return at::diag(self.reshape({-1}), offset);
}
OPGEN_KERNEL(trace_cpu)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  OPGEN_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kBool, "trace is not implemented for Bool");
  return at::sum(self.diagonal(0, 0, 1));
}

// ---- Joining ----

namespace {

// Adds dimensions of size 1: in front, but the third one at the end.
Tensor at_least(const Tensor& self, int64_t ndim) {
  if (self.dim() >= ndim) return self;
  if (self.dim() == 0) return self.reshape(DimVector(static_cast<size_t>(ndim), 1));
  Tensor result = self.dim() == 1 && ndim > 1 ? self.unsqueeze(0) : self;
  return result.dim() < ndim ? result.unsqueeze(-1) : result;
}

std::vector<Tensor> all_at_least(TensorList tensors, int64_t ndim, const char* name) {
  OPGEN_CHECK(!tensors.empty(), name, " expects a non-empty TensorList");
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(at_least(tensor, ndim));
  return result;
}

std::vector<Tensor> as_columns(TensorList tensors) {
  OPGEN_CHECK(!tensors.empty(), "column_stack expects a non-empty TensorList");
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) {
    result.push_back(tensor.dim() <= 1 ? tensor.reshape({tensor.numel(), 1}) : tensor);
  }
  return result;
}

}  // namespace

OPGEN_KERNEL(hstack)(TensorList tensors) {
  const std::vector<Tensor> parts = all_at_least(tensors, 1, "hstack");
  return at::cat(parts, parts[0].dim() == 1 ? 0 : 1);
}
OPGEN_KERNEL(hstack_out)(TensorList tensors, Tensor& out) {
  const std::vector<Tensor> parts = all_at_least(tensors, 1, "hstack");
  return at::cat_out(out, parts, parts[0].dim() == 1 ? 0 : 1);
}
OPGEN_KERNEL(vstack)(TensorList tensors) {
  return at::cat(all_at_least(tensors, 2, "vstack"), 0);
}
OPGEN_KERNEL(vstack_out)(TensorList tensors, Tensor& out) {
  return at::cat_out(out, all_at_least(tensors, 2, "vstack"), 0);
}
OPGEN_KERNEL(dstack)(TensorList tensors) {
  return at::cat(all_at_least(tensors, 3, "dstack"), 2);
}
OPGEN_KERNEL(dstack_out)(TensorList tensors, Tensor& out) {
  return at::cat_out(out, all_at_least(tensors, 3, "dstack"), 2);
}
OPGEN_KERNEL(column_stack)(TensorList tensors) {
  return at::hstack(as_columns(tensors));
}
OPGEN_KERNEL(column_stack_out)(TensorList tensors, Tensor& out) {
  return at::hstack_out(out, as_columns(tensors));
}

// ---- Indices ----

OPGEN_KERNEL(argwhere)(const Tensor& self) {
  return at::nonzero(self);
}
OPGEN_KERNEL(nonzero_numpy)(const Tensor& self) {
  // Each row of `nonzero` is one element; indexing takes its columns.
  return at::unbind(at::nonzero(self.dim() == 0 ? self.unsqueeze(0) : self), 1);
}

OPGEN_KERNEL(one_hot)(const Tensor& self, int64_t num_classes) {
  OPGEN_CHECK(self.scalar_type() == opgen::kLong,
              "one_hot is only applicable to index tensor of type LongTensor.");
  if (self.numel() == 0) {
    OPGEN_CHECK(num_classes > 0, "Can not infer total number of classes from empty tensor.");
  } else if (!self.is_meta()) {
    OPGEN_CHECK(self.min().item().toLong() >= 0, "Class values must be non-negative.");
    const int64_t largest = self.max().item().toLong();
    if (num_classes == -1) num_classes = Size(largest) + 1;
    OPGEN_CHECK(num_classes > 0, "num_classes should be positive");
    OPGEN_CHECK(num_classes > largest, "Class values must be smaller than num_classes.");
  }
  OPGEN_CHECK(num_classes > 0, "the number of classes depends on values that Meta does not have");
  DimVector sizes(self.sizes());
  sizes.push_back(num_classes);
  Tensor result = at::zeros(sizes, self.options());
  result.scatter_(-1, self.unsqueeze(-1), Scalar(1));
  return result;
}

OPGEN_KERNEL(take_along_dim)
(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  OPGEN_CHECK(indices.scalar_type() == opgen::kLong,
              "torch.take_along_dim(): dtype of indices should be Long but got ",
              indices.scalar_type());
  if (!dim.has_value()) return at::gather(self.view({-1}), 0, indices.view({-1}), false);
  OPGEN_CHECK(
      self.dim() == indices.dim(),
      "torch.take_along_dim(): input and indices should have the same number of dimensions, "
      "but got ",
      self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  OPGEN_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", *dim,
                    " but tensor has no dimensions");
  const int64_t along = wrap_dim(*dim, self.dim());
  DimVector other(self.sizes());
  other[static_cast<size_t>(along)] = indices.size(along);
  DimVector shape(opgen::infer_size(other, indices.sizes()));
  // As in PyTorch, indices count modulo the size here, unlike without a dimension.
  const int64_t size = self.size(along);
  const Tensor places =
      size == 0 ? indices.expand(shape) : indices.remainder(Scalar(size)).expand(shape);
  shape[static_cast<size_t>(along)] = size;
  return at::gather(self.expand(shape), along, places, false);
}
OPGEN_KERNEL(take_along_dim_out)
(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim, Tensor& out) {
  return copy_result(out, at::take_along_dim(self, indices, dim), "take_along_dim");
}

OPGEN_KERNEL(msort)(const Tensor& self) {
  return std::get<0>(at::sort(self, 0, false));
}
OPGEN_KERNEL(msort_out)(const Tensor& self, Tensor& out) {
  Tensor indices = at::empty({0}, self.options().dtype(opgen::kLong));
  at::sort_out(out, indices, self, 0, false);
  return out;
}

// ---- Reductions ----

OPGEN_KERNEL(count_nonzero_cpu)(const Tensor& self, IntArrayRef dim) {
  const DimMask mask = mask_of(dim, self.dim());
  Tensor out = opgen::empty(reduced_shape(self.sizes(), mask, /*keepdim=*/false),
                            self.options().dtype(opgen::kLong));
  if (out.is_meta()) return out;
  TensorIterator iter = opgen::make_reduction(out, self, mask);
  opgen::cpu_count(iter);
  return out;
}
OPGEN_KERNEL(count_nonzero)(const Tensor& self, std::optional<int64_t> dim) {
  return dim.has_value() ? at::count_nonzero(self, IntArrayRef{*dim})
                         : at::count_nonzero(self, IntArrayRef{});
}

OPGEN_KERNEL(std_mean)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
 bool keepdim) {
  return {at::std(self, dim, correction, keepdim), at::mean(self, dim, keepdim, std::nullopt)};
}
OPGEN_KERNEL(std_mean)(const Tensor& self, bool unbiased) {
  return at::std_mean(self, std::nullopt, std::optional<Scalar>(unbiased ? 1 : 0), false);
}
OPGEN_KERNEL(std_mean)(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::std_mean(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
}

OPGEN_KERNEL(logsumexp)(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const ScalarType kind = self.scalar_type();
  const bool integral = isIntegralType(kind, /*include_bool=*/true);
  const ScalarType result = integral ? opgen::get_default_dtype() : kind;
  // Half types are computed in float, and rounded once.
  const Tensor x = to_dtype(self, integral ? result : opgen::toOpMathType(kind));
  if (x.numel() == 0) return to_dtype(x.exp().sum(dim, keepdim, std::nullopt).log(), result);
  // The largest exponential is 1. Infinite numbers are not subtracted from themselves.
  const Tensor largest =
      at::amax(to_dtype(x, toRealValueType(x.scalar_type())), dim, /*keepdim=*/true);
  const Tensor shift = largest.masked_fill(largest.isfinite().logical_not(), 0);
  const Tensor sum = x.sub(shift).exp().sum(dim, /*keepdim=*/true, std::nullopt);
  const Tensor kept = sum.log().add(shift);
  const DimVector shape = reduced_shape(x.sizes(), mask_of(dim, x.dim()), keepdim);
  return to_dtype(kept.view(shape), result);
}
OPGEN_KERNEL(logsumexp_out)(const Tensor& self, IntArrayRef dim, bool keepdim, Tensor& out) {
  OPGEN_CHECK(
      out.is_floating_point() || out.is_complex(),
      "logsumexp(): Expected floating point type for result tensor, but got: ", out.scalar_type());
  // Integers are computed in the dtype of the result.
  const bool integral = isIntegralType(self.scalar_type(), /*include_bool=*/true);
  const Tensor input = integral ? to_dtype(self, out.scalar_type()) : self;
  const Tensor result = at::logsumexp(input, dim, keepdim);
  return cast_result(out, result);
}

// ---- Second names: the operators of the first names have the kernels and the gradients ----

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
