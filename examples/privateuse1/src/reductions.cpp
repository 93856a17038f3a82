// reductions.cpp: pocket's reductions, softmax and matrix products.

#include <ATen/AccumulateType.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/OpMathType.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <opgen/dispatch_macros.h>
#include <opgen/kernel_macros.h>
#include <pocket/ops/_log_softmax_backward_data_native.h>
#include <pocket/ops/_log_softmax_native.h>
#include <pocket/ops/addmm_native.h>
#include <pocket/ops/amax_native.h>
#include <pocket/ops/amin_native.h>
#include <pocket/ops/aminmax_native.h>
#include <pocket/ops/argmax_native.h>
#include <pocket/ops/bmm_native.h>
#include <pocket/ops/cumsum_meta.h>
#include <pocket/ops/cumsum_native.h>
#include <pocket/ops/mean_native.h>
#include <pocket/ops/mm_native.h>
#include <pocket/ops/sum_native.h>

#include <opgen/device/reduction.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "device.h"

namespace pocket {

namespace {

// The type for sums of T.
template <class T>
using Sum = at::acc_type<T, /*is_cuda=*/false>;

at::TensorIterator over(const Tensor& self, const Tensor& out, OptionalIntArrayRef dims,
                        bool keepdim) {
  return at::meta::make_reduction(self, out, dims, keepdim, self.scalar_type());
}

template <class T>
bool is_nan(T value) {
  return value != value;
}

// The initial value, which any element replaces. (NaN is kept.)
template <class T>
T least() {
  using limits = std::numeric_limits<T>;
  return limits::has_infinity ? T(-limits::infinity()) : limits::lowest();
}
template <class T>
T most() {
  using limits = std::numeric_limits<T>;
  return limits::has_infinity ? limits::infinity() : limits::max();
}
template <class T>
T larger(T acc, T x) {
  return is_nan(acc) || acc > x ? acc : x;
}
template <class T>
T smaller(T acc, T x) {
  return is_nan(acc) || acc < x ? acc : x;
}

}  // namespace

// Elements are converted to the type of the sum as they are read, without a converted copy of the
// input.
OPGEN_IMPL_FUNC(sum_IntList_out)
(const Tensor& self, OptionalIntArrayRef dims, bool keepdim, std::optional<ScalarType>,
 const Tensor& out) {
  at::TensorIterator iter = over(self, out, dims, keepdim);
  opgen::dispatch<opgen::NumberTypes, bool>(out.scalar_type(), "sum", [&]<class scalar_t> {
    opgen::device_reduce(
        iter, launch, Sum<scalar_t>(0),
        [](Sum<scalar_t> acc, scalar_t x) { return Sum<scalar_t>(acc + Sum<scalar_t>(x)); },
        [](Sum<scalar_t> acc) { return static_cast<scalar_t>(acc); });
  });
}
OPGEN_IMPL_FUNC(mean_out)
(const Tensor& self, OptionalIntArrayRef dims, bool keepdim, std::optional<ScalarType>,
 const Tensor& out) {
  at::TensorIterator iter = over(self, out, dims, keepdim);
  OPGEN_CHECK(!c10::isIntegralType(out.scalar_type(), /*includeBool=*/true),
              "result type Float can't be cast to the desired output type ",
              c10::toString(out.scalar_type()));
  const double each = static_cast<double>(self.numel()) / static_cast<double>(out.numel());
  opgen::dispatch<opgen::FloatingTypes, opgen::ComplexTypes>(
      out.scalar_type(), "mean", [&]<class scalar_t> {
        using Acc = Sum<scalar_t>;
        opgen::device_reduce(
            iter, launch, Acc(0), [](Acc acc, scalar_t x) { return Acc(acc + Acc(x)); },
            [each](Acc acc) { return static_cast<scalar_t>(acc / Acc(each)); });
      });
}
OPGEN_IMPL_FUNC(amax_out)(const Tensor& self, IntArrayRef dims, bool keepdim, const Tensor& out) {
  at::TensorIterator iter = over(self, out, dims, keepdim);
  opgen::dispatch<opgen::RealTypes, bool>(out.scalar_type(), "amax", [&]<class scalar_t> {
    opgen::device_reduce(
        iter, launch, least<scalar_t>(), [](scalar_t acc, scalar_t x) { return larger(acc, x); },
        [](scalar_t acc) { return acc; });
  });
}
OPGEN_IMPL_FUNC(amin_out)(const Tensor& self, IntArrayRef dims, bool keepdim, const Tensor& out) {
  at::TensorIterator iter = over(self, out, dims, keepdim);
  opgen::dispatch<opgen::RealTypes, bool>(out.scalar_type(), "amin", [&]<class scalar_t> {
    opgen::device_reduce(
        iter, launch, most<scalar_t>(), [](scalar_t acc, scalar_t x) { return smaller(acc, x); },
        [](scalar_t acc) { return acc; });
  });
}
// Compute both outputs in one pass.
OPGEN_IMPL_FUNC(aminmax_out)
(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim, const Tensor& min,
 const Tensor& max) {
  at::DimVector dims;
  if (dim.has_value()) dims.push_back(*dim);
  // An iterator needs both outputs to have the same layout.
  const bool alike = min.strides() == max.strides();
  const Tensor second = alike ? max : at::empty_strided(min.sizes(), min.strides(), min.options());
  const ScalarType dtype = self.scalar_type();
  at::TensorIterator iter =
      at::meta::make_reduction(self, min, second, dims, keepdim, dtype, dtype);
  opgen::dispatch<opgen::RealTypes, bool>(self.scalar_type(), "aminmax", [&]<class scalar_t> {
    struct Range {
      scalar_t min, max;
    };
    opgen::device_reduce(
        iter, launch, Range{most<scalar_t>(), least<scalar_t>()},
        [](Range acc, scalar_t x) {
          return Range{smaller(acc.min, x), larger(acc.max, x)};
        },
        [](Range acc) { return std::tuple<scalar_t, scalar_t>(acc.min, acc.max); });
  });
  if (!alike) max.copy_(second);
}
OPGEN_IMPL_FUNC(argmax_out)
(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim, const Tensor& out) {
  // The tensor is contiguous, so an element's index along the folded dimensions is its index in the
  // tensor.
  const Tensor contiguous = self.contiguous();
  at::DimVector dims;
  if (dim.has_value()) dims.push_back(*dim);
  at::TensorIterator iter = over(contiguous, out, IntArrayRef(dims), keepdim);
  opgen::dispatch<opgen::RealTypes>(self.scalar_type(), "argmax", [&]<class scalar_t> {
    struct Best {
      scalar_t value;
      std::int64_t at;
    };
    opgen::device_reduce(
        iter, launch, Best{scalar_t(0), -1},
        [](Best best, scalar_t x, std::int64_t i) {
          const bool better = best.at < 0 || x > best.value || (is_nan(x) && !is_nan(best.value));
          return better ? Best{x, i} : best;
        },
        [](Best best) { return best.at; });
  });
}

namespace {

// Views a tensor as rows along `dim`: element k of row i is at begin(i) + k * stride.
struct Rows {
  Rows(const Tensor& tensor, std::int64_t dim) {
    if (tensor.dim() == 0) return;
    length = tensor.size(dim);
    for (std::int64_t d = dim + 1; d < tensor.dim(); ++d) stride *= tensor.size(d);
    count = length == 0 ? 0 : tensor.numel() / length;
  }
  std::int64_t begin(std::int64_t i) const { return i / stride * stride * length + i % stride; }
  std::int64_t length = 1;
  std::int64_t stride = 1;
  std::int64_t count = 1;
};

// Run write(result) on row-major memory, for a kernel that supports no other layout.
template <class F>
void into(const Tensor& out, F write) {
  if (out.is_contiguous()) return write(out);
  const Tensor own = at::empty_like(out, at::MemoryFormat::Contiguous);
  write(own);
  out.copy_(own);
}

}  // namespace

OPGEN_IMPL_FUNC(_log_softmax_out)(const Tensor& self, std::int64_t dim, bool, const Tensor& out) {
  const Tensor input = self.contiguous();
  const Rows rows(input, at::maybe_wrap_dim(dim, input.dim()));
  into(out, [&](const Tensor& result) {
    opgen::dispatch<opgen::FloatingTypes>(input.scalar_type(), "log_softmax", [&]<class scalar_t> {
      const scalar_t* const from = input.const_data_ptr<scalar_t>();
      scalar_t* const to = result.mutable_data_ptr<scalar_t>();
      launch(rows.count, [=](std::int64_t i) {
        const std::int64_t begin = rows.begin(i);
        const auto at = [&](std::int64_t k) {
          return Sum<scalar_t>(from[begin + k * rows.stride]);
        };
        Sum<scalar_t> most = at(0);
        for (std::int64_t k = 1; k < rows.length; ++k) most = std::max(most, at(k));
        Sum<scalar_t> total = 0;
        for (std::int64_t k = 0; k < rows.length; ++k) total += std::exp(at(k) - most);
        const Sum<scalar_t> log_total = std::log(total) + most;
        for (std::int64_t k = 0; k < rows.length; ++k) {
          to[begin + k * rows.stride] = static_cast<scalar_t>(at(k) - log_total);
        }
      });
    });
  });
}
OPGEN_IMPL_FUNC(_log_softmax_backward_data_out)
(const Tensor& grad_output, const Tensor& output, std::int64_t dim, ScalarType, const Tensor& out) {
  const Tensor grad = grad_output.contiguous();
  const Tensor computed = output.contiguous();
  const Rows rows(grad, at::maybe_wrap_dim(dim, grad.dim()));
  into(out, [&](const Tensor& result) {
    opgen::dispatch<opgen::FloatingTypes>(
        grad.scalar_type(), "log_softmax_backward_data", [&]<class scalar_t> {
          const scalar_t* const from = grad.const_data_ptr<scalar_t>();
          const scalar_t* const logs = computed.const_data_ptr<scalar_t>();
          scalar_t* const to = result.mutable_data_ptr<scalar_t>();
          launch(rows.count, [=](std::int64_t i) {
            const std::int64_t begin = rows.begin(i);
            Sum<scalar_t> total = 0;
            for (std::int64_t k = 0; k < rows.length; ++k) total += from[begin + k * rows.stride];
            for (std::int64_t k = 0; k < rows.length; ++k) {
              const std::int64_t at = begin + k * rows.stride;
              to[at] = static_cast<scalar_t>(from[at] - std::exp(Sum<scalar_t>(logs[at])) * total);
            }
          });
        });
  });
}

// With our own meta function: sums of integers are int64, unless the caller passes a dtype.
OPGEN_META_FUNC(cumsum)
(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) {
  at::maybe_wrap_dim(dim, self.dim());
  const bool integers = c10::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  const Tensor& given = maybe_get_output(0);
  const ScalarType own = given.defined() ? given.scalar_type()
                         : integers      ? kLong
                                         : self.scalar_type();
  set_output_raw_strided(0, self.sizes(), {}, self.options().dtype(dtype.value_or(own)));
}
OPGEN_IMPL_FUNC(cumsum_out)
(const Tensor& self, std::int64_t dim, std::optional<ScalarType>, const Tensor& out) {
  const Tensor input = self.to(out.scalar_type()).contiguous();
  const Rows rows(input, at::maybe_wrap_dim(dim, input.dim()));
  into(out, [&](const Tensor& result) {
    opgen::dispatch<opgen::NumberTypes, bool>(out.scalar_type(), "cumsum", [&]<class scalar_t> {
      const scalar_t* const from = input.const_data_ptr<scalar_t>();
      scalar_t* const to = result.mutable_data_ptr<scalar_t>();
      launch(rows.count, [=](std::int64_t i) {
        Sum<scalar_t> total = 0;
        for (std::int64_t k = 0; k < rows.length; ++k) {
          const std::int64_t at = rows.begin(i) + k * rows.stride;
          total = total + Sum<scalar_t>(from[at]);
          to[at] = static_cast<scalar_t>(total);
        }
      });
    });
  });
}

namespace {

// Computes out[b, r, c] = beta * self[b, r, c] + alpha * sum over k of left[b, r, k] * right[b, k,
// c]. Without self, beta is 0. All tensors have three dimensions.
void multiply(const Tensor& self, const Tensor& left, const Tensor& right, const Scalar& beta,
              const Scalar& alpha, const Tensor& out) {
  struct Matrices {
    explicit Matrices(const Tensor& t)
        : batch(t.stride(0)), row(t.stride(1)), column(t.stride(2)) {}
    std::int64_t at(std::int64_t b, std::int64_t r, std::int64_t c) const {
      return b * batch + r * row + c * column;
    }
    std::int64_t batch, row, column;
  };
  at::assert_no_internal_overlap(out);
  if (out.numel() == 0) return;
  const std::int64_t n = out.size(1);
  const std::int64_t m = out.size(2);
  // As in a BLAS, a factor of 0 gives 0, also for NaN.
  const std::int64_t depth = alpha.equal(0) ? 0 : left.size(2);
  opgen::dispatch<opgen::NumberTypes>(out.scalar_type(), "mm", [&]<class scalar_t> {
    using Acc = Sum<scalar_t>;
    const Matrices a(left), b(right), to(out), added(self);
    // Not to<Acc>(), because a number that the dtype cannot represent is an error.
    const Acc scale = alpha.to<at::opmath_type<scalar_t>>();
    const Acc keep = beta.to<at::opmath_type<scalar_t>>();
    const bool adds = keep != Acc(0);
    const scalar_t* const as = left.const_data_ptr<scalar_t>();
    const scalar_t* const bs = right.const_data_ptr<scalar_t>();
    const scalar_t* const old = self.const_data_ptr<scalar_t>();
    scalar_t* const result = out.mutable_data_ptr<scalar_t>();
    launch(out.numel(), [=](std::int64_t i) {
      const std::int64_t z = i / (n * m), r = i / m % n, c = i % m;
      Acc total = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        total += Acc(as[a.at(z, r, k)]) * Acc(bs[b.at(z, k, c)]);
      }
      total *= scale;
      if (adds) total += keep * Acc(old[added.at(z, r, c)]);
      result[to.at(z, r, c)] = static_cast<scalar_t>(total);
    });
  });
}

}  // namespace

OPGEN_IMPL_FUNC(mm_out)(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  const Tensor result = out.unsqueeze(0);
  multiply(result, self.unsqueeze(0), mat2.unsqueeze(0), 0, 1, result);
}
OPGEN_IMPL_FUNC(addmm_out)
(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
 const Scalar& alpha, const Tensor& out) {
  multiply(self.expand(out.sizes()).unsqueeze(0), mat1.unsqueeze(0), mat2.unsqueeze(0), beta, alpha,
           out.unsqueeze(0));
}
OPGEN_IMPL_FUNC(bmm_out)(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  multiply(out, self, mat2, 0, 1, out);
}

}  // namespace pocket
