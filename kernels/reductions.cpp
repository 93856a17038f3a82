// reductions.cpp: sums, products, extremes and norms along dimensions, and running sums.
#include <opgen/kernel.h>

#include <algorithm>
#include <atomic>

#include <aten/ops/_cummax_helper.h>
#include <aten/ops/_cummax_helper_native.h>
#include <aten/ops/_cummin_helper.h>
#include <aten/ops/_cummin_helper_native.h>
#include <aten/ops/all.h>
#include <aten/ops/all_native.h>
#include <aten/ops/amax.h>
#include <aten/ops/amax_native.h>
#include <aten/ops/amin.h>
#include <aten/ops/amin_native.h>
#include <aten/ops/aminmax_native.h>
#include <aten/ops/any.h>
#include <aten/ops/any_native.h>
#include <aten/ops/argmax_native.h>
#include <aten/ops/argmin_native.h>
#include <aten/ops/cummax.h>
#include <aten/ops/cummax_native.h>
#include <aten/ops/cummin.h>
#include <aten/ops/cummin_native.h>
#include <aten/ops/cumprod_native.h>
#include <aten/ops/cumsum_native.h>
#include <aten/ops/dist_native.h>
#include <aten/ops/isnan.h>
#include <aten/ops/linalg_vector_norm.h>
#include <aten/ops/linalg_vector_norm_native.h>
#include <aten/ops/logical_not.h>
#include <aten/ops/max_native.h>
#include <aten/ops/maximum.h>
#include <aten/ops/mean.h>
#include <aten/ops/mean_native.h>
#include <aten/ops/min_native.h>
#include <aten/ops/minimum.h>
#include <aten/ops/nanmean_native.h>
#include <aten/ops/nansum.h>
#include <aten/ops/nansum_native.h>
#include <aten/ops/ne.h>
#include <aten/ops/norm.h>
#include <aten/ops/norm_native.h>
#include <aten/ops/prod_native.h>
#include <aten/ops/std.h>
#include <aten/ops/std_native.h>
#include <aten/ops/sub.h>
#include <aten/ops/sum.h>
#include <aten/ops/sum_native.h>
#include <aten/ops/var.h>
#include <aten/ops/var_mean.h>
#include <aten/ops/var_mean_native.h>
#include <aten/ops/var_native.h>

#include <opgen/cpu/bounds.h>
#include <opgen/cpu/extremes.h>
#include <opgen/cpu/indexed.h>
#include <opgen/cpu/moments.h>
#include <opgen/cpu/reduce.h>
#include <opgen/cpu/truth.h>
#include <opgen/cpu/vec_functions.h>
#include <opgen/tensor/memory_overlap.h>

#include "common.h"

using namespace kernels;

namespace {

// Returns the dtype of a sum: the requested one, else that of a given output, else int64 for
// integers.
ScalarType sum_dtype(const TensorBase& self, std::optional<ScalarType> dtype,
                     const TensorBase& out) {
  if (dtype.has_value()) return *dtype;
  if (out.defined()) return out.scalar_type();
  return isIntegralType(self.scalar_type(), /*include_bool=*/true) ? kLong : self.scalar_type();
}

void check_same_dtype(const char* name, const TensorBase& out, ScalarType dtype) {
  OPGEN_CHECK(!out.defined() || out.scalar_type() == dtype, name,
              ": Expected out tensor to have dtype ", dtype, ", but got ",
              out.defined() ? out.scalar_type() : dtype, " instead");
}

}  // namespace

// ---- sum, mean ----

namespace {

// Returns the sum divided by `divisor`; the sum itself if divisor < 0.
void sum_into(const Tensor& self, DimMask mask, const Tensor& out, int64_t divisor) {
  const Tensor input = to_dtype(self, out.scalar_type());
  TensorIterator iter = opgen::make_reduction(out, input, mask);
  OPGEN_DISPATCH_ALL(out.scalar_type(), "sum", [&] {
    if constexpr (std::is_same_v<scalar_t, bool>) {
      opgen::cpu_any(iter);
    } else {
      using total = opgen::opmath_type<scalar_t>;
      opgen::cpu_sum<scalar_t>(iter, [=](total sum) -> total {
        if constexpr (std::is_integral_v<scalar_t>) {
          return sum;
        } else {
          return divisor < 0 ? sum : sum / total(static_cast<real_t<total>>(divisor));
        }
      });
    }
  });
}

int64_t slice_size(const Tensor& self, DimMask mask) {
  int64_t count = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (has_dim(mask, d)) count *= self.size(d);
  }
  return count;
}

}  // namespace

OPGEN_META_FUNC2(sum, dim_IntList)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType result = sum_dtype(self, dtype, maybe_get_output());
  check_same_dtype("sum", maybe_get_output(), result);
  set_output_raw_strided(0, reduced_shape(self.sizes(), mask_of(dim, self.dim()), keepdim), {},
                         self.options().dtype(result));
}
OPGEN_IMPL_FUNC(sum_out)
(const Tensor& self, OptionalIntArrayRef dim, bool /*keepdim*/, std::optional<ScalarType> /*dtype*/,
 const Tensor& out) {
  sum_into(self, mask_of(dim, self.dim()), out, -1);
}
OPGEN_KERNEL(sum)(const Tensor& self, std::optional<ScalarType> dtype) {
  return at::sum(self, IntArrayRef(), false, dtype);
}

OPGEN_META_FUNC2(mean, dim)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const TensorBase& out = maybe_get_output();
  const ScalarType kind = dtype.value_or(self.scalar_type());
  OPGEN_CHECK(isFloatingType(kind) || isComplexType(kind), "mean(): could not infer output dtype. ",
              dtype.has_value() ? "Optional" : "Input",
              " dtype must be either a floating point or complex dtype. Got: ", kind);
  const ScalarType result = dtype.has_value() || !out.defined() ? kind : out.scalar_type();
  check_can_cast(kind, result);
  check_same_dtype("mean", out, result);
  set_output_raw_strided(0, reduced_shape(self.sizes(), mask_of(dim, self.dim()), keepdim), {},
                         self.options().dtype(result));
}
OPGEN_IMPL_FUNC(mean_out)
(const Tensor& self, OptionalIntArrayRef dim, bool /*keepdim*/, std::optional<ScalarType> /*dtype*/,
 const Tensor& out) {
  const DimMask mask = mask_of(dim, self.dim());
  sum_into(self, mask, out, slice_size(self, mask));
}
OPGEN_KERNEL(mean)(const Tensor& self, std::optional<ScalarType> dtype) {
  return at::mean(self, IntArrayRef(), false, dtype);
}
OPGEN_KERNEL(mean_dtype_out)(const Tensor& self, std::optional<ScalarType> dtype, Tensor& out) {
  OPGEN_CHECK(canCast(self.scalar_type(), out.scalar_type()),
              "mean.dtype_out(): input types can't be cast to the desired output type ",
              out.scalar_type());
  return at::mean_out(out, self, IntArrayRef(), false, dtype);
}

// ---- nansum, nanmean: NaN does not count ----

namespace {

// 0 for NaN.
struct NumberOrZero {
  template <class T>
  OPGEN_ALWAYS_INLINE T operator()(const T& x) const {
    return x == x ? x : T(0);  // NOLINT(misc-redundant-expression)
  }
  template <class T, int bytes>
  OPGEN_ALWAYS_INLINE opgen::Vec<T, bytes> operator()(const opgen::Vec<T, bytes>& x) const {
    return select(x == x, x, opgen::Vec<T, bytes>(T(0)));
  }
};

void nansum_into(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, const Tensor& out) {
  const DimMask mask = mask_of(dim, self.dim());
  resize_out(out, reduced_shape(self.sizes(), mask, keepdim));
  if (out.is_meta()) return;
  opgen::assert_no_internal_overlap(out);
  const Tensor input = to_dtype(self, out.scalar_type());
  TensorIterator iter = opgen::make_reduction(out, input, mask);
  OPGEN_DISPATCH_FLOATING(out.scalar_type(), "nansum", [&] {
    using total = opgen::opmath_type<scalar_t>;
    opgen::cpu_reduce_vec<scalar_t, scalar_t>(iter, total(0), opgen::SumOf(), NumberOrZero());
  });
}

// Whether a sum of dtype `result` keeps NaN, so that its elements are found while they are added.
bool sums_numbers(const Tensor& self, ScalarType result) {
  OPGEN_CHECK(!self.is_complex(), "nansum does not support complex inputs");
  return self.is_floating_point() && isFloatingType(result);
}
Tensor without_nan(const Tensor& self) {
  return self.is_floating_point() ? self.masked_fill(at::isnan(self), Scalar(0)) : self;
}

}  // namespace

OPGEN_KERNEL(nansum)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType result = sum_dtype(self, dtype, Tensor());
  if (!sums_numbers(self, result)) return at::sum(without_nan(self), dim, keepdim, dtype);
  Tensor out = opgen::empty({0}, self.options().dtype(result));
  nansum_into(self, dim, keepdim, out);
  return out;
}
OPGEN_KERNEL(nansum_out)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype,
 Tensor& out) {
  const ScalarType result = sum_dtype(self, dtype, out);
  if (!sums_numbers(self, result)) return at::sum_out(out, without_nan(self), dim, keepdim, dtype);
  check_same_dtype("nansum", out, result);
  nansum_into(self, dim, keepdim, out);
  return out;
}

namespace {

Tensor count_of_numbers(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                        std::optional<ScalarType> dtype) {
  const ScalarType kind = dtype.value_or(self.scalar_type());
  OPGEN_CHECK(isFloatingType(kind) || isComplexType(kind),
              "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
              "point or complex dtype. Got: ",
              kind);
  OPGEN_CHECK(self.is_floating_point() || self.is_complex(),
              "nanmean(): expected input to have floating point or complex dtype but got ",
              self.scalar_type());
  return at::sum(at::logical_not(at::isnan(self)), dim, keepdim, std::nullopt);
}

}  // namespace

OPGEN_KERNEL(nanmean)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const Tensor count = count_of_numbers(self, dim, keepdim, dtype);
  return at::nansum(self, dim, keepdim, dtype).div(count);
}
OPGEN_KERNEL(nanmean_out)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype,
 Tensor& out) {
  const Tensor count = count_of_numbers(self, dim, keepdim, dtype);
  at::nansum_out(out, self, dim, keepdim, dtype);
  return out.div_(count);
}

// ---- prod ----

namespace {

void prod_into(const Tensor& self, DimMask mask, const Tensor& out) {
  const Tensor input = to_dtype(self, out.scalar_type());
  TensorIterator iter = opgen::make_reduction(out, input, mask);
  OPGEN_DISPATCH_ALL(out.scalar_type(), "prod", [&] {
    using total = sum_t<scalar_t>;
    if constexpr (is_complex_v<scalar_t> || sizeof(total) < sizeof(int)) {
      opgen::cpu_reduce<scalar_t, scalar_t>(iter, total(1), times<total>, times<total>,
                                            [](total product) { return product; });
    } else {
      opgen::cpu_reduce_vec<scalar_t, scalar_t>(iter, total(1), opgen::ProductOf());
    }
  });
}

}  // namespace

OPGEN_META_FUNC2(prod, dim_int)
(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType result = sum_dtype(self, dtype, maybe_get_output());
  check_same_dtype("prod", maybe_get_output(), result);
  set_output_raw_strided(
      0, reduced_shape(self.sizes(), mask_of(IntArrayRef(dim), self.dim()), keepdim), {},
      self.options().dtype(result));
}
OPGEN_IMPL_FUNC(prod_out)
(const Tensor& self, int64_t dim, bool /*keepdim*/, std::optional<ScalarType> /*dtype*/,
 const Tensor& out) {
  prod_into(self, mask_of(IntArrayRef(dim), self.dim()), out);
}
OPGEN_KERNEL(prod)(const Tensor& self, std::optional<ScalarType> dtype) {
  Tensor out = opgen::empty({}, self.options().dtype(sum_dtype(self, dtype, TensorBase())));
  if (!out.is_meta()) prod_into(self, mask_of(std::nullopt, self.dim()), out);
  return out;
}

// ---- any, all ----

namespace {

ScalarType truth_dtype(const TensorBase& self) {
  return self.scalar_type() == kByte ? kByte : kBool;
}

void check_truth_output(const char* name, const TensorBase& out) {
  OPGEN_CHECK(!out.defined() || out.scalar_type() == kBool || out.scalar_type() == kByte, name,
              " only supports bool tensor for result, got: ", out.scalar_type());
}

// A given output has one of the two dtypes, and keeps it.
ScalarType truth_dtype(const char* name, const TensorBase& self, const TensorBase& out) {
  check_truth_output(name, out);
  return out.defined() ? out.scalar_type() : truth_dtype(self);
}

template <class Meta>
void set_truth_output(Meta& meta, const char* name, const TensorBase& self, DimMask mask,
                      bool keepdim) {
  meta.set_output_raw_strided(
      0, reduced_shape(self.sizes(), mask, keepdim), {},
      self.options().dtype(truth_dtype(name, self, meta.maybe_get_output())));
}

// any: whether some element is not zero; all: whether no element is zero.
template <bool any>
void truth_into(const Tensor& self, DimMask mask, const Tensor& out) {
  TensorIterator iter = opgen::make_reduction(out, self, mask);
  if (any) {
    opgen::cpu_any(iter);
  } else {
    opgen::cpu_all(iter);
  }
}

}  // namespace

OPGEN_META_FUNC2(any, dim)(const Tensor& self, int64_t dim, bool keepdim) {
  set_truth_output(*this, "any", self, mask_of(IntArrayRef(dim), self.dim()), keepdim);
}
OPGEN_META_FUNC2(any, dims)(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  set_truth_output(*this, "any", self, mask_of_listed(dim, self.dim()), keepdim);
}
OPGEN_META_FUNC(any)(const Tensor& self) {
  set_truth_output(*this, "any", self, mask_of(std::nullopt, self.dim()), false);
}
OPGEN_IMPL_FUNC(any_out)
(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out) {
  truth_into<true>(self, mask_of(IntArrayRef(dim), self.dim()), out);
}
OPGEN_IMPL_FUNC(any_dims_out)
(const Tensor& self, OptionalIntArrayRef dim, bool /*keepdim*/, const Tensor& out) {
  truth_into<true>(self, mask_of_listed(dim, self.dim()), out);
}
OPGEN_IMPL_FUNC(any_all_out)(const Tensor& self, const Tensor& out) {
  truth_into<true>(self, mask_of(std::nullopt, self.dim()), out);
}

OPGEN_META_FUNC2(all, dim)(const Tensor& self, int64_t dim, bool keepdim) {
  set_truth_output(*this, "all", self, mask_of(IntArrayRef(dim), self.dim()), keepdim);
}
OPGEN_META_FUNC2(all, dims)(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  set_truth_output(*this, "all", self, mask_of_listed(dim, self.dim()), keepdim);
}
OPGEN_META_FUNC(all)(const Tensor& self) {
  set_truth_output(*this, "all", self, mask_of(std::nullopt, self.dim()), false);
}
OPGEN_IMPL_FUNC(all_out)
(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out) {
  truth_into<false>(self, mask_of(IntArrayRef(dim), self.dim()), out);
}
OPGEN_IMPL_FUNC(all_dims_out)
(const Tensor& self, OptionalIntArrayRef dim, bool /*keepdim*/, const Tensor& out) {
  truth_into<false>(self, mask_of_listed(dim, self.dim()), out);
}
OPGEN_IMPL_FUNC(all_all_out)(const Tensor& self, const Tensor& out) {
  truth_into<false>(self, mask_of(std::nullopt, self.dim()), out);
}

// For backends without a kernel for several dimensions. Reduces one dimension after another with
// keepdim.
namespace {

template <class One, class All>
Tensor truth_by_dims(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, One one, All all) {
  const DimMask mask = mask_of_listed(dim, self.dim());
  if (!dim.has_value() && !keepdim) return all(self);
  Tensor result = to_dtype(self, truth_dtype(self));
  if (mask == 0 && result.scalar_type() == kByte) result = at::ne(result, Scalar(0)).to(kByte);
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (has_dim(mask, d)) result = one(result, d);
  }
  return result.reshape(reduced_shape(self.sizes(), mask, keepdim));
}

Tensor& store_truth(Tensor& out, const Tensor& result) {
  check_truth_output("any, all", out);
  resize_out(out, result.sizes());
  opgen::copy_(out, result);
  return out;
}

}  // namespace

OPGEN_KERNEL(any_dims_default)(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return truth_by_dims(
      self, dim, keepdim, [](const Tensor& x, int64_t d) { return at::any(x, d, true); },
      [](const Tensor& x) { return at::any(x); });
}
OPGEN_KERNEL(any_dims_out_default)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, Tensor& out) {
  return store_truth(out, at::any(self, dim, keepdim));
}
OPGEN_KERNEL(all_dims_default)(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return truth_by_dims(
      self, dim, keepdim, [](const Tensor& x, int64_t d) { return at::all(x, d, true); },
      [](const Tensor& x) { return at::all(x); });
}
OPGEN_KERNEL(all_dims_out_default)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, Tensor& out) {
  return store_truth(out, at::all(self, dim, keepdim));
}

// ---- amax, amin: extremes over several dimensions ----

namespace {

void check_not_empty(const char* name, const TensorBase& self, DimMask mask) {
  for (int64_t d = 0; d < self.dim(); ++d) {
    OPGEN_CHECK_INDEX(!has_dim(mask, d) || self.size(d) != 0, name, "(): Expected reduction dim ",
                      d, " to have non-zero size.");
  }
}

template <class Meta>
void set_extremes_output(Meta& meta, const char* name, const TensorBase& self, IntArrayRef dim,
                         bool keepdim) {
  const TensorBase& out = meta.maybe_get_output();
  OPGEN_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(),
              "Expected the dtype for input and out to match, but got ", self.scalar_type(),
              " for input's dtype and ", out.scalar_type(), " for out's dtype.");
  const DimMask mask = mask_of(dim, self.dim());
  if (self.numel() == 0) check_not_empty(name, self, mask);
  meta.set_output_raw_strided(0, reduced_shape(self.sizes(), mask, keepdim), {}, self.options());
}

// Writes the smallest elements, the largest ones, or both; the other pointer is null. `iter` has
// the output that is not null, or both have the same strides.
template <class T>
void bounds_of(TensorIterator& iter, T* smallest, T* largest) {
  const T* first = smallest != nullptr ? smallest : largest;
  opgen::cpu_bounds<T, T>(iter, [=](T* at, T low, T high) {
    const int64_t place = at - first;
    if (smallest != nullptr) smallest[place] = low;
    if (largest != nullptr) largest[place] = high;
  });
}

template <bool greatest>
void extreme_into(const Tensor& self, DimMask mask, const Tensor& out) {
  TensorIterator iter = opgen::make_reduction(out, self, mask);
  OPGEN_DISPATCH_REAL_AND_BOOL(self.scalar_type(), greatest ? "amax" : "amin", [&] {
    using compared = opgen::compared_type<scalar_t>;
    if constexpr (!std::is_arithmetic_v<scalar_t>) {
      bounds_of<scalar_t>(iter, greatest ? nullptr : out.mutable_data_ptr<scalar_t>(),
                          greatest ? out.mutable_data_ptr<scalar_t>() : nullptr);
    } else {
      opgen::cpu_reduce_vec<scalar_t, scalar_t, compared>(
          iter, opgen::least_extreme<compared, greatest>(), opgen::ExtremeOf<greatest>());
    }
  });
}

}  // namespace

OPGEN_META_FUNC(amax)(const Tensor& self, IntArrayRef dim, bool keepdim) {
  set_extremes_output(*this, "amax", self, dim, keepdim);
}
OPGEN_IMPL_FUNC(amax_out)
(const Tensor& self, IntArrayRef dim, bool /*keepdim*/, const Tensor& out) {
  extreme_into<true>(self, mask_of(dim, self.dim()), out);
}

OPGEN_META_FUNC(amin)(const Tensor& self, IntArrayRef dim, bool keepdim) {
  set_extremes_output(*this, "amin", self, dim, keepdim);
}
OPGEN_IMPL_FUNC(amin_out)
(const Tensor& self, IntArrayRef dim, bool /*keepdim*/, const Tensor& out) {
  extreme_into<false>(self, mask_of(dim, self.dim()), out);
}

// ---- max, min: along one dimension with indices; of all elements; of two tensors ----

namespace {

// Finds the first of the largest (or smallest) elements of each line, and its index. NaN counts as
// both. `values` may be undefined.
template <bool greatest>
void extreme_along(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
  const DimMask mask = mask_of(IntArrayRef(dim), self.dim());
  // One offset is that of both outputs.
  const bool together = !values.defined() || same_sizes(values.strides(), indices.strides());
  const Tensor places =
      together ? indices
               : Tensor(opgen::empty_strided(values.sizes(), values.strides(), indices.options()));
  TensorIterator iter = opgen::make_reduction(places, self, mask);
  OPGEN_DISPATCH_REAL_AND_BOOL(self.scalar_type(), greatest ? "max" : "min", [&] {
    scalar_t* value = values.defined() ? values.mutable_data_ptr<scalar_t>() : nullptr;
    const int64_t* first = places.const_data_ptr<int64_t>();
    opgen::cpu_extremes<int64_t, scalar_t, greatest>(
        iter, [=](int64_t* place, scalar_t best, int64_t position) {
          *place = position;
          if (value != nullptr) value[place - first] = best;
        });
  });
  if (!together) opgen::copy_(indices, places);
}

void check_extreme_dim(const char* name, const TensorBase& self, int64_t dim) {
  OPGEN_CHECK(self.numel() != 0 || self.size(dim) != 0, name, "(): Expected reduction dim ", dim,
              " to have non-zero size.");
}

// Returns the dimension, counted from the front.
template <class Meta>
int64_t set_extreme_outputs(Meta& meta, const char* name, const TensorBase& self, int64_t dim,
                            bool keepdim) {
  OPGEN_CHECK(!self.is_complex(), name, "(): does not support complex input");
  dim = wrap_dim(dim, self.dim());
  if (self.dim() > 0) check_extreme_dim(name, self, dim);
  const DimVector shape =
      reduced_shape(self.sizes(), mask_of(IntArrayRef(dim), self.dim()), keepdim);
  meta.set_output_raw_strided(0, shape, {}, self.options());
  meta.set_output_raw_strided(1, shape, {}, self.options().dtype(kLong));
  return dim;
}

template <bool greatest>
void extreme_of_all(const Tensor& self, Tensor& out) {
  OPGEN_CHECK(self.numel() > 0, greatest ? "max" : "min",
              "(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
              "reduction dim with the "
              "'dim' argument.");
  check_can_cast(self.scalar_type(), out.scalar_type());
  resize_out(out, {});
  if (out.is_meta()) return;
  const bool casts = out.scalar_type() != self.scalar_type();
  const Tensor value = casts ? Tensor(opgen::empty({}, self.options())) : out;
  extreme_into<greatest>(self, mask_of(std::nullopt, self.dim()), value);
  if (!casts) return;
  // A number beyond a half type is infinite; beyond another dtype, it is an error.
  if (opgen::isReducedFloatingType(out.scalar_type())) {
    opgen::copy_(out, value);
  } else {
    out.fill_(value.item());
  }
}

template <bool greatest>
Tensor extreme_of_all(const Tensor& self) {
  Tensor out = opgen::empty({}, self.options());
  extreme_of_all<greatest>(self, out);
  return out;
}

}  // namespace

OPGEN_PRECOMPUTE_META_FUNC2(max, dim)(const Tensor& self, int64_t dim, bool keepdim) {
  return precompute_out<>().set_dim(set_extreme_outputs(*this, "max", self, dim, keepdim));
}
OPGEN_IMPL_FUNC(max_out)
(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& max, const Tensor& max_values) {
  extreme_along<true>(self, dim, max, max_values);
}
OPGEN_KERNEL(max)(const Tensor& self) {
  return extreme_of_all<true>(self);
}
OPGEN_KERNEL(max_unary_out)(const Tensor& self, Tensor& out) {
  extreme_of_all<true>(self, out);
  return out;
}
OPGEN_KERNEL(max)(const Tensor& self, const Tensor& other) {
  return at::maximum(self, other);
}
OPGEN_KERNEL(max_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::maximum_out(out, self, other);
}

OPGEN_PRECOMPUTE_META_FUNC2(min, dim)(const Tensor& self, int64_t dim, bool keepdim) {
  return precompute_out<>().set_dim(set_extreme_outputs(*this, "min", self, dim, keepdim));
}
OPGEN_IMPL_FUNC(min_out)
(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& min, const Tensor& min_indices) {
  extreme_along<false>(self, dim, min, min_indices);
}
OPGEN_KERNEL(min)(const Tensor& self) {
  return extreme_of_all<false>(self);
}
OPGEN_KERNEL(min_unary_out)(const Tensor& self, Tensor& out) {
  extreme_of_all<false>(self, out);
  return out;
}
OPGEN_KERNEL(min)(const Tensor& self, const Tensor& other) {
  return at::minimum(self, other);
}
OPGEN_KERNEL(min_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::minimum_out(out, self, other);
}

// ---- aminmax ----

OPGEN_META_FUNC(aminmax)(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  OPGEN_CHECK(!self.is_complex(), "aminmax not implemented for complex tensors.");
  DimMask mask = mask_of(std::nullopt, self.dim());
  if (dim.has_value()) {
    const int64_t at = wrap_dim(*dim, self.dim());
    mask = mask_of(IntArrayRef(at), self.dim());
    check_not_empty("aminmax", self, mask);
  } else {
    OPGEN_CHECK(self.numel() > 0,
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                "identity.");
  }
  const DimVector shape = reduced_shape(self.sizes(), mask, keepdim);
  set_output_raw_strided(0, shape, {}, self.options());
  set_output_raw_strided(1, shape, {}, self.options());
}
OPGEN_IMPL_FUNC(aminmax_out)
(const Tensor& self, std::optional<int64_t> dim, bool /*keepdim*/, const Tensor& min,
 const Tensor& max) {
  const DimMask mask =
      dim.has_value() ? mask_of(IntArrayRef(*dim), self.dim()) : mask_of(std::nullopt, self.dim());
  if (!same_sizes(min.strides(), max.strides())) {
    extreme_into<false>(self, mask, min);
    extreme_into<true>(self, mask, max);
    return;
  }
  TensorIterator iter = opgen::make_reduction(min, self, mask);
  OPGEN_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "aminmax", [&] {
    bounds_of<scalar_t>(iter, min.mutable_data_ptr<scalar_t>(), max.mutable_data_ptr<scalar_t>());
  });
}

// ---- argmax, argmin ----

namespace {

void check_arg(const char* name, const TensorBase& self, std::optional<int64_t> dim) {
  OPGEN_CHECK(!self.is_complex(), name, "(): does not support complex input");
  OPGEN_CHECK(self.scalar_type() != kBool, name, "(): does not support bool input");
  if (dim.has_value()) {
    const int64_t at = wrap_dim(*dim, self.dim());
    if (self.numel() == 0) check_not_empty(name, self, mask_of(IntArrayRef(at), self.dim()));
  } else {
    OPGEN_CHECK_INDEX(self.numel() != 0, name,
                      "(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                      "the reduction dim "
                      "with the 'dim' argument.");
  }
}

DimMask arg_mask(const TensorBase& self, std::optional<int64_t> dim) {
  return dim.has_value() ? mask_of(IntArrayRef(*dim), self.dim())
                         : mask_of(std::nullopt, self.dim());
}

// Without a dim, the index is that in the flattened tensor, which is the order in which elements
// are visited.
template <bool greatest>
void arg_into(const Tensor& self, std::optional<int64_t> dim, const Tensor& out) {
  if (!dim.has_value() && self.dim() != 1) {
    const Tensor flat = self.reshape({-1});
    extreme_along<greatest>(flat, 0, Tensor(), out.as_strided({}, {}));
    return;
  }
  extreme_along<greatest>(self, dim.value_or(0), Tensor(), out);
}

}  // namespace

OPGEN_META_FUNC(argmax)(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  check_arg("argmax", self, dim);
  set_output_raw_strided(0, reduced_shape(self.sizes(), arg_mask(self, dim), keepdim), {},
                         self.options().dtype(kLong));
}
OPGEN_IMPL_FUNC(argmax_out)
(const Tensor& self, std::optional<int64_t> dim, bool /*keepdim*/, const Tensor& out) {
  arg_into<true>(self, dim, out);
}

OPGEN_META_FUNC(argmin)(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  check_arg("argmin", self, dim);
  set_output_raw_strided(0, reduced_shape(self.sizes(), arg_mask(self, dim), keepdim), {},
                         self.options().dtype(kLong));
}
OPGEN_IMPL_FUNC(argmin_out)
(const Tensor& self, std::optional<int64_t> dim, bool /*keepdim*/, const Tensor& out) {
  arg_into<false>(self, dim, out);
}

// ---- cumsum, cumprod ----

namespace {

// A result waits for the one before it, so several lines take turns. Their number is a constant, so
// that their results stay in registers. The processor prefetches one line well, but not several:
// without the prefetch of the next ones, elements of 8 bytes took three times as long.
template <int64_t lines, class total, class T, class F>
void accumulate_lines(const T* from, int64_t step, int64_t run_step, T* to, int64_t to_step,
                      int64_t to_run_step, int64_t count, total start, const F& f) {
  total results[lines];
  for (total& each : results) each = start;
  constexpr auto per_line = static_cast<int64_t>(64 / sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    if (lines > 1 && i % per_line == 0) {
      for (int64_t j = lines; j < 2 * lines; ++j) {
        __builtin_prefetch(from + j * run_step);
        __builtin_prefetch(to + j * to_run_step, 1);
      }
    }
#pragma GCC unroll 4
    for (int64_t j = 0; j < lines; ++j) {
      results[j] = f(results[j], static_cast<total>(from[j * run_step]));
      to[j * to_run_step] = static_cast<T>(results[j]);
    }
    from += step;
    to += to_step;
  }
}
// Lines that lie next to each other, which are vectors. Inlined by g++ 12, products of integers
// took 1.4 times as long.
template <class total, class T, class F>
OPGEN_NOINLINE void accumulate_rows(const T* from, int64_t step, T* to, int64_t to_step,
                                    int64_t lines, int64_t count, total start, const F& f) {
  constexpr int64_t most = 64;
  total results[most];
  for (int64_t first = 0; first < lines; first += most) {
    const int64_t n = std::min(most, lines - first);
    for (int64_t j = 0; j < n; ++j) results[j] = start;
    for (int64_t i = 0; i < count; ++i) {
      const T* x = from + i * step + first;
      T* y = to + i * to_step + first;
      for (int64_t j = 0; j < n; ++j) {
        results[j] = f(results[j], static_cast<total>(x[j]));
        y[j] = static_cast<T>(results[j]);
      }
    }
  }
}

template <class total, class T, class F>
void accumulate_sheet(const opgen::Sheet& sheet, const T* from, T* to, int64_t count, total start,
                      const F& f) {
  constexpr int64_t together = 4;
  from += sheet.offsets[0];
  to += sheet.offsets[1];
  const int64_t step = sheet.steps[0], to_step = sheet.steps[1];
  const int64_t run_step = sheet.run_steps[0], to_run_step = sheet.run_steps[1];
  if (sheet.has_rows(2)) {
    return accumulate_rows(from, step, to, to_step, sheet.run, count, start, f);
  }
  int64_t j = 0;
  for (; j + together <= sheet.run; j += together) {
    accumulate_lines<together>(from + j * run_step, step, run_step, to + j * to_run_step, to_step,
                               to_run_step, count, start, f);
  }
  for (; j < sheet.run; ++j) {
    accumulate_lines<1>(from + j * run_step, step, 0, to + j * to_run_step, to_step, 0, count,
                        start, f);
  }
}

// Writes f(…f(f(start, x0), x1)…) along `dim`.
template <class F>
void accumulate_into(const char* name, const Tensor& self, int64_t dim, const Tensor& out,
                     int start, F f) {
  if (self.numel() == 0) return;
  const Tensor input = to_dtype(self, out.scalar_type());
  dim = wrap_dim(dim, self.dim());
  if (self.dim() == 0) {
    opgen::copy_(out, self);
    return;
  }
  const int64_t count = self.size(dim);
  OPGEN_DISPATCH_ALL_BUT_BOOL(out.scalar_type(), name, [&] {
    // A running result cannot be computed pairwise; it is kept in the next wider type instead.
    using wider = std::conditional_t<is_complex_v<scalar_t>, complex<double>, double>;
    constexpr bool is_single = std::is_same_v<real_t<scalar_t>, float>;
    using total = std::conditional_t<is_single, wider, sum_t<scalar_t>>;
    const scalar_t* from = input.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const auto loop = [&](const opgen::Sheet& sheet) {
      accumulate_sheet<total>(sheet, from, to, count, static_cast<total>(start), f);
    };
    opgen::for_each_sheet(self.sizes(), dim, {input.strides(), out.strides()},
                          opgen::Divide::kOthers, loop);
  });
}

template <class Meta>
void set_accumulated_output(Meta& meta, const Tensor& self, int64_t dim,
                            std::optional<ScalarType> dtype) {
  const ScalarType result = sum_dtype(self, dtype, meta.maybe_get_output());
  wrap_dim(dim, self.dim());
  meta.set_output_raw_strided(0, self.sizes(), {}, self.options().dtype(result));
}

}  // namespace

OPGEN_META_FUNC(cumsum)(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  set_accumulated_output(*this, self, dim, dtype);
}
OPGEN_IMPL_FUNC(cumsum_out)
(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/, const Tensor& out) {
  accumulate_into("cumsum", self, dim, out, 0, [](auto a, auto b) { return plus(a, b); });
}

OPGEN_META_FUNC(cumprod)(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  set_accumulated_output(*this, self, dim, dtype);
}
OPGEN_IMPL_FUNC(cumprod_out)
(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/, const Tensor& out) {
  accumulate_into("cumprod", self, dim, out, 1, [](auto a, auto b) { return times(a, b); });
}

// ---- cummax, cummin: the last of equal elements; NaN counts as both extremes ----

namespace {

void check_running_extremes(const char* name, const Tensor& self, const Tensor& values,
                            const Tensor& indices) {
  OPGEN_CHECK(values.scalar_type() == self.scalar_type(), name, "(): expected values of dtype ",
              self.scalar_type(), ", but got ", values.scalar_type());
  OPGEN_CHECK(indices.scalar_type() == kLong, name, "(): expected indices of dtype Long, but got ",
              indices.scalar_type());
  OPGEN_CHECK(values.device() == self.device() && indices.device() == self.device(), name,
              "(): expected all tensors on the same device, found ", self.device(), ", ",
              values.device(), " and ", indices.device());
}

// Not inlined, so that the compiler does not make branches, which a processor cannot predict.
template <bool greatest, class T>
OPGEN_NOINLINE void running_line(const T* from, int64_t from_step, T* value, int64_t value_step,
                                 int64_t* place, int64_t place_step, int64_t count) {
  wide_t<T> best = static_cast<wide_t<T>>(*from);
  int64_t best_place = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto x = static_cast<wide_t<T>>(from[i * from_step]);
    // Not if the best one alone is NaN.
    const bool better = (greatest ? x >= best : x <= best) | is_nan(x);
    best_place = better ? i : best_place;
    value[i * value_step] = from[best_place * from_step];
    best = better ? x : best;
    place[i * place_step] = best_place;
  }
}

template <bool greatest>
void running_extremes(const char* name, const Tensor& self, const Tensor& values,
                      const Tensor& indices, int64_t dim) {
  check_running_extremes(name, self, values, indices);
  OPGEN_CHECK(same_sizes(values.sizes(), self.sizes()) && same_sizes(indices.sizes(), self.sizes()),
              name, "(): values and indices must have the sizes ", self.sizes(), ", not ",
              values.sizes(), " and ", indices.sizes());
  dim = wrap_dim(dim, self.dim());
  if (self.is_meta() || self.numel() == 0) return;
  const Tensor given = with_plain_bools(self);
  const auto step = [dim](const Tensor& x) { return x.dim() == 0 ? 1 : x.stride(dim); };
  const int64_t count = self.dim() == 0 ? 1 : self.size(dim);
  const int64_t from_step = step(given), value_step = step(values), place_step = step(indices);
  OPGEN_DISPATCH_REAL_AND_BOOL(self.scalar_type(), name, [&] {
    // Bools are compared as their bytes.
    using T = std::conditional_t<std::is_same_v<scalar_t, bool>, std::uint8_t, scalar_t>;
    const T* from = static_cast<const T*>(given.const_data_ptr());
    T* value = static_cast<T*>(values.mutable_data_ptr());
    int64_t* place = indices.mutable_data_ptr<int64_t>();
    for_each_line<3>(dim, {&given, &values, &indices}, [&](const std::array<int64_t, 3>& at) {
      running_line<greatest>(from + at[0], from_step, value + at[1], value_step, place + at[2],
                             place_step, count);
    });
  });
}

void start_running_extremes(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
                            const Tensor& indices) {
  check_running_extremes(name, self, values, indices);
  wrap_dim(dim, self.dim());
  resize_out(values, self.sizes());
  resize_out(indices, self.sizes());
}

std::tuple<Tensor&, Tensor&> of_one(const Tensor& self, Tensor& values, Tensor& indices) {
  values.copy_(self);
  indices.zero_();
  return {values, indices};
}

}  // namespace

OPGEN_KERNEL(cummax_helper)
(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  running_extremes<true>("cummax", self, values, indices, dim);
}
OPGEN_KERNEL(cummin_helper)
(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  running_extremes<false>("cummin", self, values, indices, dim);
}
OPGEN_KERNEL(cummax_out)(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
  start_running_extremes("cummax", self, dim, values, indices);
  if (self.dim() == 0) return of_one(self, values, indices);
  at::_cummax_helper(self, values, indices, dim);
  return {values, indices};
}
OPGEN_KERNEL(cummin_out)(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
  start_running_extremes("cummin", self, dim, values, indices);
  if (self.dim() == 0) return of_one(self, values, indices);
  at::_cummin_helper(self, values, indices, dim);
  return {values, indices};
}
OPGEN_KERNEL(cummax)(const Tensor& self, int64_t dim) {
  Tensor values = opgen::empty(self.sizes(), self.options());
  Tensor indices = opgen::empty(self.sizes(), self.options().dtype(kLong));
  at::cummax_out(values, indices, self, dim);
  return {values, indices};
}
OPGEN_KERNEL(cummin)(const Tensor& self, int64_t dim) {
  Tensor values = opgen::empty(self.sizes(), self.options());
  Tensor indices = opgen::empty(self.sizes(), self.options().dtype(kLong));
  at::cummin_out(values, indices, self, dim);
  return {values, indices};
}

// ---- var, std, var_mean: moments in double ----

namespace {

struct Variance {
  double taken;
  bool root;
  double operator()(double squares, double count) const {
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    const double freedom = count - taken;
    const double variance = squares / (freedom > 0 ? freedom : 0.0);
    return root ? std::sqrt(variance) : variance;
  }
};

// The squared distances of complex numbers are those of their two parts.
struct ComplexMoments {
  opgen::Moments real, imag;
};

template <class T>
void complex_variance_into(TensorIterator& iter, const Variance& variance) {
  const auto join = [](ComplexMoments a, const ComplexMoments& b) {
    a.real.add(b.real);
    a.imag.add(b.imag);
    return a;
  };
  opgen::cpu_reduce<real_t<T>, T>(
      iter, ComplexMoments(),
      [=](const ComplexMoments& all, T x) {
        return join(all,
                    {{1, static_cast<double>(x.real()), 0}, {1, static_cast<double>(x.imag()), 0}});
      },
      join,
      [=](const ComplexMoments& all) {
        return variance(all.real.squares + all.imag.squares, all.real.count);
      });
}

void check_var_input(const char* name, const TensorBase& self) {
  OPGEN_CHECK(self.is_floating_point() || self.is_complex(), name,
              " only support floating point and complex dtypes");
}

// `mean` may be undefined.
void var_into(const Tensor& self, DimMask mask, const std::optional<Scalar>& correction, bool root,
              const Tensor& out, const Tensor& mean) {
  if (out.is_meta()) return;
  const double taken = correction.has_value() ? correction->toDouble() : 1.0;
  if (out.numel() > 0 && static_cast<double>(slice_size(self, mask)) <= taken) {
    OPGEN_WARN(root ? "std" : "var",
               "(): degrees of freedom is <= 0. Correction should be strictly less than the "
               "reduction factor (input numel divided by output numel).");
  }
  const Variance variance{taken, root};
  TensorIterator iter = opgen::make_reduction(out, self, mask);
  if (self.is_complex()) {
    OPGEN_DISPATCH_COMPLEX(self.scalar_type(), root ? "std" : "var",
                           [&] { complex_variance_into<scalar_t>(iter, variance); });
    if (mean.defined()) sum_into(self, mask, mean, slice_size(self, mask));
    return;
  }
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), root ? "std" : "var", [&] {
    // A mean is computed with a new output, so that both have the same strides.
    const scalar_t* first = out.const_data_ptr<scalar_t>();
    scalar_t* means = mean.defined() ? mean.mutable_data_ptr<scalar_t>() : nullptr;
    opgen::cpu_moments<scalar_t, scalar_t>(iter, [=](scalar_t* to, const opgen::Moments& moments) {
      using wide = wide_t<scalar_t>;
      *to = static_cast<scalar_t>(static_cast<wide>(variance(moments.squares, moments.count)));
      if (means == nullptr) return;
      const double average =
          moments.count == 0 ? std::numeric_limits<double>::quiet_NaN() : moments.mean;
      means[to - first] = static_cast<scalar_t>(static_cast<wide>(average));
    });
  });
}

Tensor var_or_std(const Tensor& self, OptionalIntArrayRef dim,
                  const std::optional<Scalar>& correction, bool keepdim, bool root) {
  check_var_input("std and var", self);
  const DimMask mask = mask_of(dim, self.dim());
  Tensor out = opgen::empty(reduced_shape(self.sizes(), mask, keepdim),
                            self.options().dtype(toRealValueType(self.scalar_type())));
  var_into(self, mask, correction, root, out, Tensor());
  return out;
}

Tensor& var_or_std_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim,
                       const std::optional<Scalar>& correction, bool keepdim, bool root) {
  check_var_input("std and var", self);
  // An output of a wider dtype receives the result in full precision.
  const Tensor input =
      out.is_floating_point()
          ? to_dtype(self, opgen::promote_types(self.scalar_type(), out.scalar_type()))
          : self;
  const Tensor result = var_or_std(input, dim, correction, keepdim, root);
  return cast_result(out, result);
}

std::optional<Scalar> bessel(bool unbiased) {
  return Scalar(unbiased ? 1 : 0);
}

}  // namespace

OPGEN_KERNEL(std)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
 bool keepdim) {
  return var_or_std(self, dim, correction, keepdim, true);
}
OPGEN_KERNEL(std_out)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim,
 Tensor& out) {
  return var_or_std_out(out, self, dim, correction, keepdim, true);
}
OPGEN_KERNEL(std)(const Tensor& self, bool unbiased) {
  return at::std(self, std::nullopt, bessel(unbiased), false);
}
OPGEN_KERNEL(std)(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::std(self, dim, bessel(unbiased), keepdim);
}
OPGEN_KERNEL(std_out)
(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim, Tensor& out) {
  return at::std_out(out, self, dim, bessel(unbiased), keepdim);
}

OPGEN_KERNEL(var)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
 bool keepdim) {
  return var_or_std(self, dim, correction, keepdim, false);
}
OPGEN_KERNEL(var_out)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim,
 Tensor& out) {
  return var_or_std_out(out, self, dim, correction, keepdim, false);
}
OPGEN_KERNEL(var)(const Tensor& self, bool unbiased) {
  return at::var(self, std::nullopt, bessel(unbiased), false);
}
OPGEN_KERNEL(var)(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::var(self, dim, bessel(unbiased), keepdim);
}
OPGEN_KERNEL(var_out)
(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim, Tensor& out) {
  return at::var_out(out, self, dim, bessel(unbiased), keepdim);
}

OPGEN_KERNEL(var_mean)
(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
 bool keepdim) {
  check_var_input("var_mean", self);
  const DimMask mask = mask_of(dim, self.dim());
  const DimVector shape = reduced_shape(self.sizes(), mask, keepdim);
  Tensor var = opgen::empty(shape, self.options().dtype(toRealValueType(self.scalar_type())));
  Tensor mean = opgen::empty(shape, self.options());
  var_into(self, mask, correction, false, var, mean);
  return {var, mean};
}
OPGEN_KERNEL(var_mean)(const Tensor& self, bool unbiased) {
  return at::var_mean(self, std::nullopt, bessel(unbiased), false);
}
OPGEN_KERNEL(var_mean)(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::var_mean(self, dim, bessel(unbiased), keepdim);
}

// ---- linalg_vector_norm ----

namespace {

// What is folded of each element, as a function of doubles and of vectors of them. Named types, so
// that all dtypes share the loops.
struct MagnitudeOf {
  double operator()(double x) const { return std::abs(x); }
  template <int bytes>
  OPGEN_ALWAYS_INLINE opgen::Vec<double, bytes> operator()(
      const opgen::Vec<double, bytes>& x) const {
    return opgen::Vec<double, bytes>::from_bits(x.bits() & std::numeric_limits<int64_t>::max());
  }
};
struct SquareOf {
  template <class T>
  OPGEN_ALWAYS_INLINE T operator()(const T& x) const {
    return x * x;
  }
};
// 1 for a number other than zero.
struct CountOf {
  double operator()(double x) const { return x != 0 ? 1.0 : 0.0; }
  template <int bytes>
  OPGEN_ALWAYS_INLINE opgen::Vec<double, bytes> operator()(
      const opgen::Vec<double, bytes>& x) const {
    using V = opgen::Vec<double, bytes>;
    return select(x != V(0.0), V(1.0), V(0.0));
  }
};
struct PowerOf {
  double order;
  bool narrow;  // the norm is rounded to a float, or a half type
  double operator()(double x) const { return std::pow(std::abs(x), order); }
  template <int bytes>
  OPGEN_ALWAYS_INLINE opgen::Vec<double, bytes> operator()(
      const opgen::Vec<double, bytes>& x) const {
    using V = opgen::Vec<double, bytes>;
    // The root of a small order loses digits.
    if (narrow && std::abs(order) >= 0.125) return opgen::vec::power_of_magnitude(x, order);
    double values[V::size];
    for (int64_t k = 0; k < V::size; ++k) values[k] = (*this)(x[k]);
    return V::load(values);
  }
};

// Returns an infinite order for one whose norm is an element: that of a single element, and those
// so high that any number of elements to the power of 1 / order rounds to 1. Powers may overflow.
double without_powers(double order, bool of_one_element) {
  if (order == 0 || !(of_one_element || std::abs(order) > 1e18)) return order;
  return std::copysign(std::numeric_limits<double>::infinity(), order);
}

// Calls fold(identity, combine, map, project) with the functions of doubles for an order of a norm
// of elements of type T.
template <class T, class Fold>
void fold_norm(double order, const Fold& fold) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto unchanged = [](double x) { return x; };
  const auto root = [](double sum) { return std::sqrt(sum); };
  if (order == infinity) {
    fold(0.0, opgen::LargestOf(), MagnitudeOf(), unchanged);
  } else if (order == -infinity) {
    fold(infinity, opgen::SmallestOf(), MagnitudeOf(), unchanged);
  } else if (order == 0) {
    fold(0.0, opgen::SumOf(), CountOf(), unchanged);
  } else if (order == 1) {
    fold(0.0, opgen::SumOf(), MagnitudeOf(), unchanged);
  } else if (order == 2) {
    fold(0.0, opgen::SumOf(), SquareOf(), root);
  } else {
    fold(0.0, opgen::SumOf(), (PowerOf{order, std::is_same_v<wide_t<T>, float>}),
         [=](double sum) { return std::pow(sum, 1 / order); });
  }
}

// Adds a complex number to a norm.
template <class T>
struct ModulusStep {
  opgen::FunctionRef<double(double)> map;
  opgen::FunctionRef<double(double, double)> combine;
  double operator()(double all, T x) const { return combine(all, map(modulus_of(x))); }
};

// The norm of complex numbers. The modulus takes so long that calls by a pointer do not matter: all
// orders share a loop.
template <class T>
void complex_norm_into(TensorIterator& iter, double order) {
  fold_norm<T>(order,
               [&](double identity, const auto& combine, const auto& map, const auto& project) {
                 const ModulusStep<T> step{map, combine};
                 const opgen::FunctionRef<double(double)> projected = project;
                 opgen::cpu_reduce<real_t<T>, T>(iter, identity, step, step.combine, projected);
               });
}

// The Euclidean norm of floats and half types, with a sum of floats. Returns false if a sum may
// have overflowed or lost digits: then the norm must be computed in doubles.
template <class T>
bool quick_norm_into(TensorIterator& iter) {
  // Atomic, because threads store outputs.
  std::atomic<bool> good = true;
  opgen::cpu_reduce_vec<T, T, float>(iter, 0.0f, opgen::SumOf(), SquareOf(), [&](float sum) {
    if (!(sum > 1e-20f && sum < 1e36f)) good.store(false, std::memory_order_relaxed);
    return std::sqrt(sum);
  });
  return good.load();
}

}  // namespace

OPGEN_META_FUNC(linalg_vector_norm)
(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
 std::optional<ScalarType> dtype) {
  OPGEN_CHECK(self.is_floating_point() || self.is_complex(),
              "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ",
              self.scalar_type());
  OPGEN_CHECK(!ord.isComplex(),
              "linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  if (dtype.has_value()) {
    OPGEN_CHECK(isFloatingType(*dtype) || isComplexType(*dtype),
                "linalg.vector_norm: dtype should be floating point or complex. Got ", *dtype);
    OPGEN_CHECK(isComplexType(*dtype) == self.is_complex(), "linalg.vector_norm: dtype should be ",
                self.is_complex() ? "complex" : "real", " for ",
                self.is_complex() ? "complex" : "real", " inputs, but got ", *dtype);
    OPGEN_CHECK(opgen::promote_types(self.scalar_type(), *dtype) == *dtype,
                "linalg.vector_norm: the dtype of the input (", self.scalar_type(),
                ") should be convertible without narrowing to the specified dtype (", *dtype, ")");
  }
  const double order = ord.toDouble();
  const DimMask mask = mask_of(dim, self.dim());
  if (order < 0 || order == std::numeric_limits<double>::infinity()) {
    // An empty slice has no smallest and no largest element.
    bool any = true;
    for (int64_t d = 0; d < self.dim(); ++d) any = any && !(has_dim(mask, d) && self.size(d) == 0);
    OPGEN_CHECK(any, "linalg.vector_norm cannot compute the ", order,
                " norm on a dimension of size 0");
  }
  const ScalarType result = toRealValueType(dtype.value_or(self.scalar_type()));
  set_output_raw_strided(0, reduced_shape(self.sizes(), mask, keepdim), {},
                         self.options().dtype(result));
}
OPGEN_IMPL_FUNC(linalg_vector_norm_out)
(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool /*keepdim*/,
 std::optional<ScalarType> dtype, const Tensor& out) {
  const Tensor input = to_dtype(self, dtype.value_or(self.scalar_type()));
  const DimMask mask = mask_of(dim, self.dim());
  const double order = without_powers(ord.toDouble(), input.numel() == out.numel());
  TensorIterator iter = opgen::make_reduction(out, input, mask);
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(input.scalar_type(), "linalg_vector_norm", [&] {
    if constexpr (is_complex_v<scalar_t>) {
      complex_norm_into<scalar_t>(iter, order);
    } else {
      if constexpr (std::is_same_v<wide_t<scalar_t>, float>) {
        if (order == 2 && quick_norm_into<scalar_t>(iter)) return;
      }
      fold_norm<scalar_t>(
          order, [&](double identity, const auto& combine, const auto& map, const auto& project) {
            opgen::cpu_reduce_vec<scalar_t, scalar_t, double>(
                iter, identity, combine, map,
                [&](double norm) { return static_cast<wide_t<scalar_t>>(project(norm)); });
          });
    }
  });
}

// ---- norm, dist: older names ----

namespace {

template <class Meta>
void set_norm_output(Meta& meta, const Tensor& self, IntArrayRef dim, bool keepdim,
                     std::optional<ScalarType> dtype) {
  OPGEN_CHECK(self.is_floating_point() || self.is_complex(),
              "norm(): input dtype should be either floating point or complex. Got ",
              self.scalar_type());
  const ScalarType result = toRealValueType(dtype.value_or(self.scalar_type()));
  meta.set_output_raw_strided(0, reduced_shape(self.sizes(), mask_of(dim, self.dim()), keepdim), {},
                              self.options().dtype(result));
}

void norm_into(const Tensor& self, OptionalScalarRef p, IntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype, const Tensor& out) {
  Tensor target = out;
  at::linalg_vector_norm_out(target, self, p.has_value() ? p.get() : Scalar(2), dim, keepdim,
                             dtype);
}

}  // namespace

OPGEN_META_FUNC2(norm, ScalarOpt_dim)
(const Tensor& self, OptionalScalarRef /*p*/, IntArrayRef dim, bool keepdim) {
  set_norm_output(*this, self, dim, keepdim, std::nullopt);
}
OPGEN_META_FUNC2(norm, ScalarOpt_dim_dtype)
(const Tensor& self, OptionalScalarRef /*p*/, IntArrayRef dim, bool keepdim, ScalarType dtype) {
  OPGEN_CHECK(isFloatingType(dtype) || isComplexType(dtype),
              "norm(): the desired output dtype should be either floating point or complex. Got ",
              dtype);
  set_norm_output(*this, self, dim, keepdim, dtype);
}
OPGEN_IMPL_FUNC(norm_out)
(const Tensor& self, OptionalScalarRef p, IntArrayRef dim, bool keepdim, const Tensor& out) {
  norm_into(self, p, dim, keepdim, std::nullopt, out);
}
OPGEN_IMPL_FUNC(norm_dtype_out)
(const Tensor& self, OptionalScalarRef p, IntArrayRef dim, bool keepdim, ScalarType dtype,
 const Tensor& out) {
  norm_into(self, p, dim, keepdim, dtype, out);
}
OPGEN_KERNEL(norm)(const Tensor& self, const Scalar& p) {
  return at::norm(self, std::optional<Scalar>(p), IntArrayRef(), false);
}
OPGEN_KERNEL(norm)(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype) {
  return at::norm(self, p, IntArrayRef(), false, dtype);
}
OPGEN_KERNEL(dist)(const Tensor& self, const Tensor& other, const Scalar& p) {
  return at::norm(at::sub(self, other, 1), p);
}
