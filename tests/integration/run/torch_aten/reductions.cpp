// reductions.cpp: our own metas for ATen's reductions and cumulative sums, and kernels that call
// its out= operators.
#include <opgen/kernel.h>

#include <slice/ops/all_native.h>
#include <slice/ops/amax_native.h>
#include <slice/ops/amin_native.h>
#include <slice/ops/any_native.h>
#include <slice/ops/argmax_native.h>
#include <slice/ops/argmin_native.h>
#include <slice/ops/cumprod_native.h>
#include <slice/ops/cumsum_native.h>
#include <slice/ops/max_native.h>
#include <slice/ops/mean_native.h>
#include <slice/ops/min_native.h>
#include <slice/ops/prod_native.h>
#include <slice/ops/sum_native.h>

#include <ATen/ops/all.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/any.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/argmin.h>
#include <ATen/ops/cumprod.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/max.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/min.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/sum.h>

#include "forward.h"

namespace {

// The reduced dimensions: all, if none is named.
std::vector<bool> dims_of(OptionalIntArrayRef dims, int64_t ndim) {
  if (!dims.has_value() || dims->empty()) return std::vector<bool>(static_cast<size_t>(ndim), true);
  std::vector<bool> found(static_cast<size_t>(std::max<int64_t>(ndim, 1)), false);
  for (int64_t dim : *dims) {
    const auto d = static_cast<size_t>(opgen::maybe_wrap_dim(dim, ndim));
    OPGEN_CHECK(!found[d], "dim ", d, " appears multiple times in the list of dims");
    found[d] = true;
  }
  return found;
}

template <class Shape, class Sizes>
Shape reduced(const Sizes& sizes, const std::vector<bool>& dims, bool keepdim) {
  Shape shape;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!dims[d]) {
      shape.push_back(sizes[d]);
    } else if (keepdim) {
      shape.push_back(1);
    }
  }
  return shape;
}

// The dtype of a sum: the requested one, else that of the given output, else int64 for integers.
template <class T>
ScalarType sum_dtype(const T& self, std::optional<ScalarType> dtype, bool given, ScalarType out) {
  if (dtype.has_value()) return *dtype;
  if (given) return out;
  return isIntegralType(self.scalar_type(), /*includeBool=*/true) ? kLong : self.scalar_type();
}

}  // namespace

// The dtype of the given output; otherwise the dtype does not matter.
#define GIVEN_DTYPE() (maybe_get_output().defined() ? maybe_get_output().scalar_type() : kBool)

OPGEN_META_FUNC2(sum, dim_IntList)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType kind = sum_dtype(self, dtype, maybe_get_output().defined(), GIVEN_DTYPE());
  set_output_raw_strided(0, reduced<DimVector>(self.sizes(), dims_of(dim, self.dim()), keepdim), {},
                         self.options().dtype(kind));
}
OPGEN_IMPL_FUNC(sum_IntList_out_cpu)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype,
 const Tensor& out) {
  at::sum_out(writable(out), self, dim, keepdim, dtype);
}

OPGEN_META_FUNC2(mean, dim)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType in = dtype.value_or(self.scalar_type());
  OPGEN_CHECK(isFloatingType(in) || isComplexType(in), "mean(): could not infer output dtype. ",
              dtype.has_value() ? "Optional" : "Input",
              " dtype must be either a floating point or complex dtype. Got: ", in);
  const ScalarType kind = sum_dtype(self, dtype, maybe_get_output().defined(), GIVEN_DTYPE());
  set_output_raw_strided(0, reduced<DimVector>(self.sizes(), dims_of(dim, self.dim()), keepdim), {},
                         self.options().dtype(kind));
}
OPGEN_IMPL_FUNC(mean_out_cpu)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype,
 const Tensor& out) {
  at::mean_out(writable(out), self, dim, keepdim, dtype);
}

OPGEN_META_FUNC2(prod, dim_int)
(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType kind = sum_dtype(self, dtype, maybe_get_output().defined(), GIVEN_DTYPE());
  const int64_t dims[] = {dim};
  set_output_raw_strided(0, reduced<DimVector>(self.sizes(), dims_of(dims, self.dim()), keepdim),
                         {}, self.options().dtype(kind));
}
OPGEN_IMPL_FUNC(prod_int_out_cpu)
(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype,
 const Tensor& out) {
  at::prod_out(writable(out), self, dim, keepdim, dtype);
}

// An extreme of no elements is an error; a dimension that stays may be empty.
#define CHECK_NOT_EMPTY(name, place)                                                       \
  if (self.numel() == 0 && self.dim() > 0) {                                               \
    const int64_t wrapped = opgen::maybe_wrap_dim(place, self.dim());                      \
    OPGEN_CHECK_INDEX(self.size(wrapped) != 0, name, ": Expected reduction dim ", wrapped, \
                      " to have non-zero size.");                                          \
  }

#define EXTREMES(op)                                                                               \
  OPGEN_META_FUNC(op)(const Tensor& self, at::IntArrayRef dim, bool keepdim) {                     \
    OPGEN_CHECK(!maybe_get_output().defined() || GIVEN_DTYPE() == self.scalar_type(),              \
                "Expected the dtype for input and out to match, but got ", self.scalar_type(),     \
                " for input's dtype and ", GIVEN_DTYPE(), " for out's dtype.");                    \
    if (self.numel() == 0) {                                                                       \
      OPGEN_CHECK(!dim.empty(), #op                                                                \
                  "(): Expected reduction dim to be specified for input.numel() == 0. "            \
                  "Specify the reduction dim with the 'dim' argument.");                           \
      for (int64_t d : dim) {                                                                      \
        CHECK_NOT_EMPTY(#op "()", d)                                                               \
      }                                                                                            \
    }                                                                                              \
    set_output_raw_strided(0, reduced<DimVector>(self.sizes(), dims_of(dim, self.dim()), keepdim), \
                           {}, self.options());                                                    \
  }                                                                                                \
  OPGEN_IMPL_FUNC(op##_out_cpu)                                                                    \
  (const Tensor& self, IntArrayRef dim, bool keepdim, const Tensor& out) {                         \
    at::op##_out(writable(out), self, dim, keepdim);                                               \
  }
EXTREMES(amax)
EXTREMES(amin)

#define WHERE_EXTREME(op)                                                                     \
  OPGEN_META_FUNC(op)(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {         \
    OPGEN_CHECK(self.scalar_type() != kBool, #op "(): does not support bool input");          \
    OPGEN_CHECK(!self.is_complex(), #op "(): does not support complex input");                \
    if (dim.has_value()) {                                                                    \
      CHECK_NOT_EMPTY(#op "()", *dim)                                                         \
    } else {                                                                                  \
      OPGEN_CHECK_INDEX(self.numel() != 0, #op                                                \
                        "(): Expected reduction dim to be specified for input.numel() == 0. " \
                        "Specify the reduction dim with the 'dim' argument.");                \
    }                                                                                         \
    const int64_t listed[] = {dim.value_or(0)};                                               \
    const auto dims =                                                                         \
        dims_of(dim.has_value() ? OptionalIntArrayRef(listed) : std::nullopt, self.dim());    \
    set_output_raw_strided(0, reduced<DimVector>(self.sizes(), dims, keepdim), {},            \
                           self.options().dtype(kLong));                                      \
  }                                                                                           \
  OPGEN_IMPL_FUNC(op##_out_cpu)                                                               \
  (const Tensor& self, std::optional<int64_t> dim, bool keepdim, const Tensor& out) {         \
    at::op##_out(writable(out), self, dim, keepdim);                                          \
  }
WHERE_EXTREME(argmax)
WHERE_EXTREME(argmin)

// For values and indices: meta wraps the dimension once.
#define EXTREME_ALONG(op, kernel)                                                                \
  OPGEN_PRECOMPUTE_META_FUNC2(op, dim)(const Tensor& self, int64_t dim, bool keepdim) {          \
    const int64_t along = opgen::maybe_wrap_dim(dim, self.dim());                                \
    CHECK_NOT_EMPTY(#op "()", along)                                                             \
    OPGEN_CHECK(!self.is_complex(), #op "() does not support complex inputs.");                  \
    const int64_t dims[] = {along};                                                              \
    const auto shape = reduced<DimVector>(self.sizes(), dims_of(dims, self.dim()), keepdim);     \
    set_output_raw_strided(0, shape, {}, self.options());                                        \
    set_output_raw_strided(1, shape, {}, self.options().dtype(kLong));                           \
    return precompute_out<>().set_dim(along);                                                    \
  }                                                                                              \
  OPGEN_IMPL_FUNC(kernel)                                                                        \
  (const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices) { \
    at::op##_out(writable(values), writable(indices), self, dim, keepdim);                       \
  }
EXTREME_ALONG(max, max_dim_max_cpu)
EXTREME_ALONG(min, min_dim_min_cpu)

namespace {

std::vector<bool> one_dim(int64_t dim, int64_t ndim) {
  const int64_t dims[] = {dim};
  return dims_of(dims, ndim);
}

}  // namespace

// The result is bool, except that uint8 stays uint8.
#define YES_OR_NO(op)                                                                              \
  OPGEN_META_FUNC2(op, dim)(const Tensor& self, int64_t dim, bool keepdim) {                       \
    const ScalarType given = GIVEN_DTYPE();                                                        \
    OPGEN_CHECK(given == kBool || given == kByte,                                                  \
                #op " only supports bool tensor for result, got: ", given);                        \
    const bool bytes =                                                                             \
        maybe_get_output().defined() ? given == kByte : self.scalar_type() == kByte;               \
    set_output_raw_strided(0, reduced<DimVector>(self.sizes(), one_dim(dim, self.dim()), keepdim), \
                           {}, self.options().dtype(bytes ? kByte : kBool));                       \
  }                                                                                                \
  OPGEN_IMPL_FUNC(op##_out_cpu)                                                                    \
  (const Tensor& self, int64_t dim, bool keepdim, const Tensor& out) {                             \
    at::op##_out(writable(out), self, dim, keepdim);                                               \
  }
YES_OR_NO(any)
YES_OR_NO(all)

#define RUNNING(op)                                                                              \
  OPGEN_META_FUNC(op)(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {        \
    static_cast<void>(opgen::maybe_wrap_dim(dim, self.dim()));                                   \
    const ScalarType kind = sum_dtype(self, dtype, maybe_get_output().defined(), GIVEN_DTYPE()); \
    set_output_raw_strided(0, self.sizes(), {}, self.options().dtype(kind));                     \
  }                                                                                              \
  OPGEN_IMPL_FUNC(op##_out_cpu)                                                                  \
  (const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, const Tensor& out) {        \
    at::op##_out(writable(out), self, dim, dtype);                                               \
  }
RUNNING(cumsum)
RUNNING(cumprod)
