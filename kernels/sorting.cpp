// sorting.cpp: sort, argsort, topk. Equal elements keep their order; NaN counts as the largest.
#include <opgen/kernel.h>

#include <algorithm>

#include <aten/ops/argsort.h>
#include <aten/ops/argsort_native.h>
#include <aten/ops/sort.h>
#include <aten/ops/sort_native.h>
#include <aten/ops/topk_native.h>

#include "common.h"

using namespace kernels;

namespace {

template <class T>
struct Entry {
  T value;
  int64_t place;
};

// Writes the first `count` values and indices of each line of `self`, in order.
template <class T>
void sort_lines(const Tensor& self, int64_t dim, bool descending, int64_t count,
                const Tensor& values, const Tensor& indices) {
  const bool scalar = self.dim() == 0;
  const int64_t size = scalar ? 1 : self.size(dim);
  const int64_t stride = scalar ? 1 : self.stride(dim);
  const int64_t value_stride = scalar ? 1 : values.stride(dim),
                place_stride = scalar ? 1 : indices.stride(dim);
  const T* from = self.const_data_ptr<T>();
  T* value = values.mutable_data_ptr<T>();
  int64_t* place = indices.mutable_data_ptr<int64_t>();
  for_each_line<3>(dim, {&self, &values, &indices}, [&](const std::array<int64_t, 3>& at) {
    std::vector<Entry<T>> line(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) line[i] = {from[at[0] + i * stride], i};
    if (descending) {
      std::stable_sort(line.begin(), line.end(), [](const Entry<T>& a, const Entry<T>& b) {
        return less_nan_last(b.value, a.value);
      });
    } else {
      std::stable_sort(line.begin(), line.end(), [](const Entry<T>& a, const Entry<T>& b) {
        return less_nan_last(a.value, b.value);
      });
    }
    for (int64_t i = 0; i < count; ++i) {
      value[at[1] + i * value_stride] = line[i].value;
      place[at[2] + i * place_stride] = line[i].place;
    }
  });
}

}  // namespace

OPGEN_META_FUNC2(sort, stable)
(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim, bool /*descending*/) {
  wrap_dim(dim, self.dim());
  OPGEN_CHECK(!self.is_complex(), "Sort does not support complex dtypes on CPU");
  // Use the same strides as empty_like, so that the order of dimensions in memory is kept.
  const DimVector strides = self.is_non_overlapping_and_dense()
                                ? DimVector(self.strides())
                                : opgen::infer_dense_strides(self.sizes(), self.strides());
  set_output_raw_strided(0, self.sizes(), strides, self.options());
  set_output_raw_strided(1, self.sizes(), strides, self.options().dtype(kLong));
}
OPGEN_IMPL_FUNC(sort_stable_out)
(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim, bool descending,
 const Tensor& values, const Tensor& indices) {
  if (self.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  const int64_t count = self.dim() == 0 ? 1 : self.size(dim);
  OPGEN_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "sort", [&] {
    sort_lines<scalar_t>(self, dim, descending, count, values, indices);
  });
}
OPGEN_KERNEL(sort)(const Tensor& self, int64_t dim, bool descending) {
  return at::sort(self, /*stable=*/false, dim, descending);
}
OPGEN_KERNEL(sort_out)
(const Tensor& self, int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  return at::sort_out(values, indices, self, /*stable=*/false, dim, descending);
}
OPGEN_KERNEL(argsort)(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, dim, descending));
}
OPGEN_KERNEL(argsort)(const Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, stable, dim, descending));
}
OPGEN_KERNEL(argsort_out)
(const Tensor& self, bool stable, int64_t dim, bool descending, Tensor& out) {
  Tensor values = opgen::empty({0}, self.options());
  at::sort_out(values, out, self, stable, dim, descending);
  return out;
}

OPGEN_META_FUNC(topk)(const Tensor& self, Int k, int64_t dim, bool /*largest*/, bool /*sorted*/) {
  dim = wrap_dim(dim, self.dim());
  OPGEN_CHECK(k >= 0 && k <= (self.dim() > 0 ? self.size(dim) : 1),
              "selected index k out of range");
  OPGEN_CHECK(self.scalar_type() != kBool, "topk does not support bool dtypes on CPU");
  OPGEN_CHECK(!self.is_complex(), "topk does not support complex dtypes on CPU");
  DimVector shape(self.sizes());
  if (self.dim() > 0) shape[dim] = k;
  set_output_raw_strided(0, shape, {}, self.options());
  set_output_raw_strided(1, shape, {}, self.options().dtype(kLong));
}
OPGEN_IMPL_FUNC(topk_out_cpu)
(const Tensor& self, int64_t k, int64_t dim, bool largest, bool /*sorted*/, const Tensor& values,
 const Tensor& indices) {
  if (values.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  // A zero-dim tensor has one result, for any k.
  const int64_t count = self.dim() == 0 ? 1 : k;
  OPGEN_DISPATCH_REAL(self.scalar_type(), "topk",
                      [&] { sort_lines<scalar_t>(self, dim, largest, count, values, indices); });
}
