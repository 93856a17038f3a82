// indexing.cpp: joins tensors, and reads or writes elements whose indices are data.
#include <opgen/kernel.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include <aten/ops/_index_put_impl.h>
#include <aten/ops/_index_put_impl_native.h>
#include <aten/ops/cat.h>
#include <aten/ops/cat_native.h>
#include <aten/ops/div.h>
#include <aten/ops/embedding_native.h>
#include <aten/ops/eq.h>
#include <aten/ops/gather_native.h>
#include <aten/ops/index_add_native.h>
#include <aten/ops/index_copy.h>
#include <aten/ops/index_copy_native.h>
#include <aten/ops/index_fill.h>
#include <aten/ops/index_fill_native.h>
#include <aten/ops/index_native.h>
#include <aten/ops/index_put_native.h>
#include <aten/ops/index_select.h>
#include <aten/ops/index_select_native.h>
#include <aten/ops/masked_fill.h>
#include <aten/ops/masked_fill_native.h>
#include <aten/ops/masked_scatter_native.h>
#include <aten/ops/masked_select.h>
#include <aten/ops/masked_select_native.h>
#include <aten/ops/nonzero.h>
#include <aten/ops/nonzero_native.h>
#include <aten/ops/ones_like.h>
#include <aten/ops/scatter.h>
#include <aten/ops/scatter_add.h>
#include <aten/ops/scatter_add_native.h>
#include <aten/ops/scatter_native.h>
#include <aten/ops/scatter_reduce_native.h>
#include <aten/ops/stack_native.h>
#include <aten/ops/sum.h>
#include <aten/ops/take.h>
#include <aten/ops/take_native.h>
#include <aten/ops/zeros_like.h>

#include <opgen/cpu/indexed.h>
#include <opgen/tensor/memory_overlap.h>

#include "common.h"
#include "devices.h"
#include "either.h"

using namespace kernels;
using opgen::Divide;

namespace {

// Checks all indices before anything is written: from -size, counted from the end, to size - 1.
void check_places(const Tensor& places, int64_t size) {
  const int64_t* place = places.const_data_ptr<int64_t>();
  const int64_t bad = opgen::find_bad_index(place, places.numel(), 1, -size, size);
  OPGEN_CHECK_INDEX(bad < 0, "index ", place[bad], " is out of bounds for dimension with size ",
                    size);
}

// The same for indices that may not be negative.
void check_plain_places(const Tensor& places, int64_t size, int64_t dim) {
  const int64_t* place = places.const_data_ptr<int64_t>();
  const int64_t bad = opgen::find_bad_index(place, places.numel(), 1, 0, size);
  OPGEN_CHECK_INDEX(bad < 0, "index ", place[bad], " is out of bounds for dimension ", dim,
                    " with size ", size);
}

int64_t size_along(const TensorBase& self, int64_t dim) {
  return self.dim() == 0 ? 1 : self.size(dim);
}
int64_t stride_along(const TensorBase& self, int64_t dim) {
  return self.dim() == 0 ? 1 : self.stride(dim);
}

}  // namespace

// ---- cat, stack ----

namespace {

// An empty vector can be joined with tensors of any shape, because programs may start a list with
// one before they know the shape.
bool is_skipped(const TensorBase& tensor) {
  return tensor.dim() == 1 && tensor.size(0) == 0;
}

// Joins contiguous tensors of the output's dtype as rows of bytes, block by block, so that all
// tensors write to a block while it is in the cache. Returns false for other tensors, and for long
// rows, which are copied by several threads.
bool join_rows(const ITensorListRef& tensors, int64_t dim, const Tensor& out) {
  constexpr int64_t block_bytes = 1 << 14, single_row = 1 << 11, long_row = 1 << 16;
  if (!out.is_contiguous()) return false;
  const int64_t row = opgen::multiply_integers(out.sizes().slice(static_cast<size_t>(dim))) *
                      static_cast<int64_t>(out.itemsize());
  if (row > long_row || row == 0) return false;
  const int64_t rows = static_cast<int64_t>(out.nbytes()) / row;
  struct Part {
    const char* from;
    int64_t bytes;  // of its part of a row
  };
  opgen::SmallVector<Part, 8> parts;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    if (tensor.scalar_type() != out.scalar_type() || !tensor.is_contiguous()) return false;
    if (opgen::get_overlap_status(out, tensor) != opgen::MemOverlapStatus::No) return false;
    parts.push_back({static_cast<const char*>(tensor.const_data_ptr()),
                     rows == 0 ? 0 : static_cast<int64_t>(tensor.nbytes()) / rows});
  }
  char* to = static_cast<char*>(out.mutable_data_ptr());
  // The processor prefetches all tensors if none waits long for its turn.
  const int64_t block = row >= single_row ? 1 : block_bytes / row;
  opgen::parallel_for(
      0, rows, std::max(block, 4 * opgen::kGrainSize / row), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i += block) {
          char* at = to + i * row;
          for (const Part& part : parts) {
            opgen::copy_rows(at, row, part.from + i * part.bytes, part.bytes,
                             std::min(block, end - i), static_cast<size_t>(part.bytes));
            at += part.bytes;
          }
        }
      });
  return true;
}

}  // namespace

OPGEN_PRECOMPUTE_META_FUNC(cat)(const ITensorListRef& tensors, int64_t dim) {
  OPGEN_CHECK_VALUE(tensors.size() > 0, "torch.cat(): expected a non-empty list of Tensors");
  int64_t valid = -1;
  opgen::ResultTypeState state;
  for (size_t i = 0; i < tensors.size(); ++i) {
    OPGEN_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position ", i,
                ") cannot be concatenated");
    state = opgen::update_result_type(tensors[i], state);
    if (valid < 0 && !is_skipped(tensors[i])) valid = static_cast<int64_t>(i);
  }
  const ScalarType dtype = opgen::result_type(state);
  const TensorBase& out = maybe_get_output();
  const ScalarType result = out.defined() ? out.scalar_type() : dtype;
  OPGEN_CHECK(canCast(dtype, result),
              "torch.cat(): input types can't be cast to the desired output type ", result);
  const Tensor& first = tensors[static_cast<size_t>(std::max<int64_t>(valid, 0))];
  if (valid >= 0) dim = wrap_dim(dim, first.dim());
  DimVector sizes(first.sizes());
  MemoryFormat format = first.suggest_memory_format();
  for (size_t i = static_cast<size_t>(std::max<int64_t>(valid, 0)) + 1; i < tensors.size(); ++i) {
    const Tensor& other = tensors[i];
    if (is_skipped(other)) continue;
    OPGEN_CHECK(other.dim() == first.dim(), "Tensors must have same number of dimensions: got ",
                first.dim(), " and ", other.dim());
    for (int64_t d = 0; d < first.dim(); ++d) {
      OPGEN_CHECK(d == dim || other.size(d) == first.size(d),
                  "Sizes of tensors must match except in dimension ", dim, ". Expected size ",
                  first.size(d), " but got size ", other.size(d), " for tensor number ", i,
                  " in the list.");
    }
    sizes[dim] += other.size(dim);
    if (other.suggest_memory_format() != format) format = MemoryFormat::Contiguous;
  }
  set_output_raw_strided(0, sizes, {}, first.options().dtype(result).memory_format(format));
  return precompute_out<>().set_dim(dim).set_valid(valid).set_memory_format(format);
}
OPGEN_IMPL_FUNC(cat_out_cpu)
(const ITensorListRef& tensors, int64_t dim, int64_t valid, MemoryFormat /*memory_format*/,
 const Tensor& out) {
  if (valid < 0 || join_rows(tensors, dim, out)) return;
  DimVector sizes(out.sizes());
  int64_t start = out.storage_offset();
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    sizes[dim] = tensor.size(dim);
    opgen::copy_(opgen::alias_with_sizes_and_strides(out, sizes, out.strides(), start), tensor);
    start += tensor.size(dim) * out.stride(dim);
  }
}

namespace {

// Returns the index of the new dimension, from the front.
int64_t check_stack(TensorList tensors, int64_t dim) {
  OPGEN_CHECK(tensors.size() > 0, "stack expects a non-empty TensorList");
  for (size_t i = 0; i < tensors.size(); ++i) {
    OPGEN_CHECK(same_sizes(tensors[i].sizes(), tensors[0].sizes()),
                "stack expects each tensor to be equal size, but got ", tensors[0].sizes(),
                " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  }
  return wrap_dim(dim, tensors[0].dim() + 1);
}

DimVector stacked_sizes(TensorList tensors, int64_t dim) {
  DimVector sizes(tensors[0].sizes());
  sizes.insert(sizes.begin() + dim, static_cast<int64_t>(tensors.size()));
  return sizes;
}

std::vector<Tensor> unsqueezed_all(TensorList tensors, int64_t dim) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.unsqueeze(dim));
  return result;
}

}  // namespace

// Joins the tensors along an existing dimension, which is then split in two. There is none after
// the last dimension.
OPGEN_KERNEL(stack)(TensorList tensors, int64_t dim) {
  dim = check_stack(tensors, dim);
  if (dim == tensors[0].dim()) return at::cat(unsqueezed_all(tensors, dim), dim);
  return at::cat(tensors, dim).view(stacked_sizes(tensors, dim));
}
OPGEN_KERNEL(stack_out)(TensorList tensors, int64_t dim, Tensor& out) {
  dim = check_stack(tensors, dim);
  if (dim < tensors[0].dim()) {
    const DimVector sizes = stacked_sizes(tensors, dim);
    resize_out(out, sizes);
    DimVector joined(tensors[0].sizes());
    joined[dim] *= static_cast<int64_t>(tensors.size());
    if (opgen::computeStride(out.sizes(), out.strides(), joined).has_value()) {
      Tensor view = out.view(joined);
      at::cat_out(view, tensors, dim);
      return out;
    }
  }
  return at::cat_out(out, unsqueezed_all(tensors, dim), dim);
}

// ---- gather, scatter: an index tensor with the shape of the result, or of the source ----

namespace {

void check_index_dtype(const char* name, const TensorBase& index) {
  OPGEN_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, name,
              "(): Expected dtype int32/int64 for index");
}

int64_t at_least_one(int64_t ndim) {
  return ndim == 0 ? 1 : ndim;
}

// Checks that `index` is at most as large as `limit` in each dimension except `dim`.
void check_index_shape(const char* name, const TensorBase& index, const TensorBase& limit,
                       int64_t dim, const char* what) {
  if (index.numel() == 0) return;
  OPGEN_CHECK(at_least_one(index.dim()) == at_least_one(limit.dim()),
              "Index tensor must have the same number of dimensions as ", what, " tensor");
  // 1 for a zero-dim index.
  for (int64_t d = 0; d < at_least_one(index.dim()); ++d) {
    OPGEN_CHECK(d == dim || size_along(index, d) <= size_along(limit, d), name,
                "(): Expected index ", index.sizes(), " to be no larger than ", what, " ",
                limit.sizes(), " apart from dimension ", dim);
  }
}

void check_scatter(const char* name, const TensorBase& self, int64_t dim, const TensorBase& index,
                   const TensorBase* source) {
  dim = wrap_dim(dim, self.dim());
  // As in PyTorch, an index without elements may have any dtype: gather's gradient passes its own.
  if (index.numel() != 0) check_index_dtype(name, index);
  check_index_shape(name, index, self, dim, "self");
  check_same_device(name, self, index);
  if (source == nullptr) return;
  check_same_device(name, self, *source);
  OPGEN_CHECK(self.scalar_type() == source->scalar_type(), name,
              "(): Expected self.dtype to be equal to src.dtype");
  check_index_shape(name, index, *source, -1, "src");
}

Tensor at_least_1d(const Tensor& self) {
  return self.dim() == 0 ? self.unsqueeze(0) : Tensor(self);
}

// Returns the indices of `target` along `dim`, all in bounds, with at least one dimension.
Tensor checked_index(const Tensor& target, int64_t dim, const Tensor& index) {
  Tensor places = opgen::contiguous(at_least_1d(to_dtype(index, kLong)));
  dim = wrap_dim(dim, target.dim());
  check_plain_places(places, size_along(target, dim), dim);
  return places;
}

// Calls f(element, other), where `element` is the element of `given` that the index selects, and
// `other` the element of `beside` at the position of the index. Along `dim`, the order is
// ascending, because indices may repeat.
template <class T, class U, class F>
void for_each_indexed(const Tensor& given, int64_t dim, const Tensor& places, const Tensor& beside,
                      Divide divide, F f) {
  const Tensor target = at_least_1d(given), along = at_least_1d(beside);
  dim = wrap_dim(dim, target.dim());
  T* to = static_cast<T*>(target.data_ptr());
  U* other = static_cast<U*>(along.data_ptr());
  const int64_t* place = places.const_data_ptr<int64_t>();
  const int64_t stride = stride_along(target, dim);
  opgen::for_each_sheet(places.sizes(), dim, {target.strides(), along.strides(), places.strides()},
                        divide, [&](const opgen::Sheet& sheet) {
                          opgen::update_indexed_sheet(sheet, to, stride, other, place, f);
                        });
}

struct Gather {
  template <class T>
  void operator()(const T& element, T& result) const {
    result = element;
  }
};

// Indices that stay in a processor's cache.
constexpr int64_t kIndicesTogether = 16384;

// Gathers along another dimension than the first one. Indices are checked shortly before they are
// used, so that they are read from memory once. Returns whether all are in bounds; if not, the
// result is not complete.
template <class T>
bool gather_by_rows(const Tensor& self, int64_t dim, const Tensor& places, const Tensor& out) {
  const int64_t rows = places.size(0), size = places.numel() / rows, along = self.size(dim);
  const int64_t together = std::max<int64_t>(1, kIndicesTogether / size);
  const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / size);
  const T* from = static_cast<const T*>(self.const_data_ptr());
  T* to = static_cast<T*>(out.mutable_data_ptr());
  const int64_t* place = places.const_data_ptr<int64_t>();
  std::atomic<bool> inside = true;
  opgen::parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    DimVector sizes(places.sizes());
    for (int64_t row = begin; row < end; row += together) {
      sizes[0] = std::min(together, end - row);
      const int64_t* indices = place + row * size;
      if (opgen::find_bad_index(indices, sizes[0] * size, 1, 0, along) >= 0) {
        inside = false;
        return;
      }
      opgen::for_each_sheet(sizes, dim, {self.strides(), out.strides(), places.strides()},
                            Divide::kAll, [&](const opgen::Sheet& sheet) {
                              opgen::update_indexed_sheet(
                                  sheet, from + row * self.stride(0), self.stride(dim),
                                  to + row * out.stride(0), indices, Gather());
                            });
    }
  });
  return inside;
}

}  // namespace

OPGEN_META_FUNC(gather)
(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/) {
  dim = wrap_dim(dim, self.dim());
  const TensorBase& out = maybe_get_output();
  OPGEN_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(),
              "gather(): Expected out tensor to have dtype ", self.scalar_type());
  check_same_device("gather", self, index);
  if (index.numel() != 0) {
    check_index_dtype("gather", index);
    check_index_shape("gather", index, self, dim, "self");
  }
  set_output_raw_strided(0, index.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(gather_out)
(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/, const Tensor& out) {
  if (index.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  if (dim == 0 || index.numel() <= kIndicesTogether) {
    const Tensor places = checked_index(self, dim, index);
    return dispatch_by_size(self.itemsize(), [&]<class T>() {
      for_each_indexed<const T, T>(self, dim, places, out, Divide::kAll, Gather());
    });
  }
  const Tensor places = opgen::contiguous(to_dtype(index, kLong));
  bool inside = true;
  dispatch_by_size(self.itemsize(),
                   [&]<class T>() { inside = gather_by_rows<T>(self, dim, places, out); });
  if (!inside) check_plain_places(places, self.size(dim), dim);
}

namespace {

void start_scatter(const Tensor& self, const Tensor& out) {
  if (!out.is_same(self)) opgen::copy_(out, self);
}

// The same, after the indices have been checked. Returns them; undefined if there are none.
Tensor start_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  Tensor places;
  if (index.numel() != 0) places = checked_index(self, dim, index);
  start_scatter(self, out);
  return places;
}

}  // namespace

OPGEN_META_FUNC2(scatter, src)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_scatter("scatter", self, dim, index, &src);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_src_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  const Tensor places = start_scatter(self, dim, index, out);
  if (!places.defined()) return;
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    for_each_indexed<T, const T>(out, dim, places, src, Divide::kOthers,
                                 [](T& element, const T& value) { element = value; });
  });
}

OPGEN_META_FUNC2(scatter, value)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& /*value*/) {
  check_scatter("scatter", self, dim, index, nullptr);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_value_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, const Tensor& out) {
  const Tensor places = start_scatter(self, dim, index, out);
  if (!places.defined()) return;
  OPGEN_DISPATCH_ALL(self.scalar_type(), "scatter", [&] {
    const scalar_t x = value.to<scalar_t>();
    for_each_indexed<scalar_t, const int64_t>(
        out, dim, places, places, Divide::kOthers,
        [x](scalar_t& element, const int64_t& /*place*/) { element = x; });
  });
}

namespace {

// Whether `reduce` names the product rather than the sum.
bool multiplies(std::string_view reduce) {
  OPGEN_CHECK(reduce == "add" || reduce == "multiply",
              "reduce argument must be either add or multiply.");
  return reduce == "multiply";
}

// Adds to the elements that the indices select, or multiplies them by, the element of `beside` at
// the position of the index.
void reduce_indexed(const char* name, const Tensor& self, int64_t dim, const Tensor& index,
                    std::string_view reduce, const Tensor& out, const Tensor& beside) {
  const Tensor places = start_scatter(self, dim, index, out);
  if (!places.defined()) return;
  const bool product = multiplies(reduce);
  OPGEN_DISPATCH_ALL(self.scalar_type(), name, [&] {
    for_each_indexed<scalar_t, const scalar_t>(out, dim, places, beside, Divide::kOthers,
                                               [product](scalar_t& element, const scalar_t& other) {
                                                 const scalar_t x = opgen::element_at(&element);
                                                 const scalar_t y = opgen::element_at(&other);
                                                 element = product ? times(x, y) : plus(x, y);
                                               });
  });
}

}  // namespace

OPGEN_META_FUNC2(scatter, reduce)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  multiplies(reduce);
  check_scatter("scatter", self, dim, index, &src);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_reduce_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
 const Tensor& out) {
  reduce_indexed("scatter", self, dim, index, reduce, out, src);
}

OPGEN_META_FUNC2(scatter, value_reduce)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& /*value*/,
 std::string_view reduce) {
  multiplies(reduce);
  check_scatter("scatter", self, dim, index, nullptr);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_value_reduce_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce,
 const Tensor& out) {
  const Tensor beside = opgen::empty({}, self.options());
  opgen::fill_(beside, value);
  reduce_indexed("scatter", self, dim, index, reduce, out, beside.expand(index.sizes()));
}

OPGEN_META_FUNC(scatter_add)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_scatter("scatter_add", self, dim, index, &src);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_add_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  const Tensor places = start_scatter(self, dim, index, out);
  if (!places.defined()) return;
  // A sum of float16 or bfloat16 is rounded once, as PyTorch's is.
  const bool is_wide = opgen::isReducedFloatingType(out.scalar_type());
  const Tensor sums = is_wide ? out.to(kFloat) : out;
  OPGEN_DISPATCH_ALL(self.scalar_type(), "scatter_add", [&] {
    using sum_t = opgen::opmath_type<scalar_t>;
    for_each_indexed<sum_t, const scalar_t>(
        sums, dim, places, src, Divide::kOthers, [](sum_t& sum, const scalar_t& value) {
          sum = plus(opgen::element_at(&sum), static_cast<sum_t>(opgen::element_at(&value)));
        });
  });
  if (is_wide) opgen::copy_(out, sums);
}

namespace {

enum class Reduce : uint8_t { kSum, kProd, kMean, kAmax, kAmin };

Reduce reduction_of(std::string_view name) {
  if (name == "sum") return Reduce::kSum;
  if (name == "prod") return Reduce::kProd;
  if (name == "mean") return Reduce::kMean;
  if (name == "amax") return Reduce::kAmax;
  OPGEN_CHECK(name == "amin", "reduce argument must be either sum, prod, mean, amax or amin, got ",
              name);
  return Reduce::kAmin;
}

// The result of a reduction of nothing.
template <class T>
T identity_of(Reduce reduce) {
  if (reduce == Reduce::kProd) return T(1);
  if constexpr (!is_complex_v<T>) {
    using limits = std::numeric_limits<T>;
    if (reduce == Reduce::kAmax) return is_float_v<T> ? -limits::infinity() : limits::lowest();
    if (reduce == Reduce::kAmin) return is_float_v<T> ? limits::infinity() : limits::max();
  }
  return T(0);
}

template <class T, class U>
void reduce_to(const Tensor& totals, int64_t dim, const Tensor& places, const Tensor& src,
               Reduce reduce) {
  const auto run = [&](auto f) {
    for_each_indexed<T, const U>(
        totals, dim, places, src, Divide::kOthers, [f](T& total, const U& value) {
          total = f(opgen::element_at(&total), static_cast<T>(opgen::element_at(&value)));
        });
  };
  if constexpr (!is_complex_v<T>) {
    if (reduce == Reduce::kAmax) return run([](T a, T b) { return greater_of(a, b); });
    if (reduce == Reduce::kAmin) return run([](T a, T b) { return lesser_of(a, b); });
  }
  OPGEN_CHECK_NOT_IMPLEMENTED(reduce != Reduce::kAmax && reduce != Reduce::kAmin,
                              "complex numbers have no largest and no smallest one");
  if (reduce == Reduce::kProd) return run([](T a, T b) { return times(a, b); });
  run([](T a, T b) { return plus(a, b); });
}

// Divides sums by the numbers of their terms.
void average(const Tensor& totals, int64_t dim, const Tensor& places, bool include_self) {
  Tensor count = include_self ? at::ones_like(totals) : at::zeros_like(totals);
  const Tensor ones = opgen::empty({}, totals.options());
  opgen::fill_(ones, Scalar(1));
  count = at::scatter_add(count, totals.dim() == 0 ? 0 : dim, places, ones.expand(places.sizes()));
  count.masked_fill_(count.eq(Scalar(0)), Scalar(1));
  Tensor result = totals;
  if (totals.is_floating_point() || totals.is_complex()) {
    result.div_(count);
  } else {
    result.div_(count, "floor");
  }
}

}  // namespace

OPGEN_META_FUNC2(scatter_reduce, two)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
 bool /*include_self*/) {
  OPGEN_CHECK_NOT_IMPLEMENTED(reduction_of(reduce) != Reduce::kMean || self.scalar_type() != kBool,
                              "scatter_reduce: the mean of bools is not implemented");
  check_scatter("scatter", self, dim, index, &src);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_reduce_two_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view name,
 bool include_self, const Tensor& out) {
  const Reduce reduce = reduction_of(name);
  const Tensor places = start_scatter(self, dim, index, out);
  if (!places.defined()) return;
  const bool is_wide = opgen::isReducedFloatingType(out.scalar_type());
  const Tensor totals = is_wide ? out.to(kFloat) : out;
  OPGEN_DISPATCH_ALL(self.scalar_type(), "scatter_reduce", [&] {
    using total_t = opgen::opmath_type<scalar_t>;
    if (!include_self) {
      const total_t start = identity_of<total_t>(reduce);
      for_each_indexed<total_t, const int64_t>(
          totals, dim, places, places, Divide::kOthers,
          [start](total_t& total, const int64_t& /*place*/) { total = start; });
    }
    reduce_to<total_t, scalar_t>(totals, dim, places, src, reduce);
  });
  if (reduce == Reduce::kMean) average(totals, dim, places, include_self);
  if (is_wide) opgen::copy_(out, totals);
}

// ---- index_select, index_add: whole slices ----

OPGEN_KERNEL(index_select_out)(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  OPGEN_CHECK_INDEX(index.dim() <= 1,
                    "index_select(): Index is supposed to be a vector, but got dim: ", index.dim());
  check_index_dtype("index_select", index);
  OPGEN_CHECK(self.scalar_type() == out.scalar_type(),
              "index_select(): self and result must have the same scalar type");
  OPGEN_CHECK(self.dim() != 0 || index.numel() == 1,
              "index_select(): Index to scalar can have only 1 value, got ", index.numel(),
              " value(s)");
  DimVector shape(self.sizes());
  if (!shape.empty()) shape[dim] = index.numel();
  check_same_device("index_select()", self, index);
  opgen::assert_no_internal_overlap(out);
  Tensor places;
  if (!out.is_meta()) {
    places = opgen::contiguous(to_dtype(index, kLong));
    // An invalid index is an error even if there are no elements to move.
    check_plain_places(places, size_along(self, dim), dim);
  }
  resize_out(out, shape);
  if (out.numel() == 0 || out.is_meta()) return out;
  const int64_t* place = places.const_data_ptr<int64_t>();
  const char* from = static_cast<const char*>(self.const_data_ptr());
  char* to = static_cast<char*>(out.mutable_data_ptr());
  opgen::for_each_sheet(out.sizes(), dim, {out.strides(), self.strides()}, Divide::kAll,
                        [&](const opgen::Sheet& sheet) {
                          opgen::gather_sheet(sheet, to, from, place, out.itemsize());
                        });
  return out;
}
OPGEN_KERNEL(index_select)(const Tensor& self, int64_t dim, const Tensor& index) {
  Tensor out = opgen::empty({0}, self.options());
  return at::index_select_out(out, self, dim, index);
}

OPGEN_KERNEL(embedding_symint)
(const Tensor& weight, const Tensor& indices, SymInt /*padding_idx*/, bool /*scale_grad_by_freq*/,
 bool /*sparse*/) {
  OPGEN_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  check_index_dtype("embedding", indices);
  DimVector shape(indices.sizes());
  shape.push_back(weight.size(1));
  return at::index_select(weight, 0, indices.reshape({-1})).view(shape);
}

OPGEN_PRECOMPUTE_META_FUNC(index_add)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  dim = wrap_dim(dim, self.dim());
  OPGEN_CHECK_INDEX(index.dim() <= 1,
                    "index_add_(): Index is supposed to be a vector, but got dim: ", index.dim());
  check_index_dtype("index_add_", index);
  check_same_device("index_add_", self, index);
  check_same_device("index_add_", self, source);
  OPGEN_CHECK(self.scalar_type() == source.scalar_type(), "index_add_(): self (",
              self.scalar_type(), ") and source (", source.scalar_type(),
              ") must have the same scalar type");
  OPGEN_CHECK(source.dim() == 0 || dim < source.dim(), "index_add_(): Indexing dim ", dim,
              " is out of bounds of the source");
  OPGEN_CHECK(index.numel() == size_along(source, dim), "index_add_(): Number of indices (",
              index.numel(), ") should be equal to source.size(dim): (", size_along(source, dim),
              "), for dim: ", dim);
  if (self.dim() != 0 || source.dim() != 0) {
    bool fits = self.dim() == source.dim();
    for (int64_t d = 0; fits && d < self.dim(); ++d)
      fits = d == dim || self.size(d) == source.size(d);
    OPGEN_CHECK(fits,
                "source tensor shape must match self tensor shape, excluding the specified "
                "dimension. Got self.shape = ",
                self.sizes(), " source.shape = ", source.sizes());
  }
  OPGEN_CHECK(!alpha.isComplex() || self.is_complex(),
              "For non-complex input tensors, argument alpha must not be a complex number.");
  set_output_raw_strided(0, self.sizes(), {}, self.options());
  return precompute_out<>().set_dim(dim);
}
OPGEN_IMPL_FUNC(index_add_cpu_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& given, const Scalar& alpha,
 const Tensor& result) {
  const Tensor source = at_least_1d(given), out = at_least_1d(result);
  const Tensor places = opgen::contiguous(to_dtype(index, kLong));
  if (given.numel() != 0) check_plain_places(places, size_along(self, dim), dim);
  const int64_t* place = places.const_data_ptr<int64_t>();
  OPGEN_DISPATCH_ALL(self.scalar_type(), "index_add_", [&] {
    using wide = opgen::opmath_type<scalar_t>;  // so that a sum is rounded once
    const wide factor = alpha.to<wide>();
    start_scatter(self, result);
    if (given.numel() == 0) return;
    const scalar_t* from = source.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    opgen::for_each_sheet(
        source.sizes(), dim, {out.strides(), source.strides()}, Divide::kOthers,
        [&](const opgen::Sheet& sheet) {
          opgen::update_sheet(
              sheet, to, from, place, [factor](scalar_t& element, const scalar_t& added) {
                element = static_cast<scalar_t>(
                    plus(static_cast<wide>(opgen::element_at(&element)),
                         times(factor, static_cast<wide>(opgen::element_at(&added)))));
              });
        });
  });
}

// ---- index_copy, index_fill ----

namespace {

// The sizes of a slice across `dim`.
DimVector sliced_sizes(const Tensor& self, int64_t dim) {
  DimVector sizes(self.sizes());
  if (!sizes.empty()) sizes.erase(sizes.begin() + dim);
  return sizes;
}

// Copies row k of `source` along `dim` to row places[k] of `out`, k ascending.
void copy_to_places(const Tensor& out, int64_t dim, const Tensor& places, const Tensor& source) {
  const Tensor target = at_least_1d(out), from = at_least_1d(source);
  if (from.numel() == 0) return;
  char* to = static_cast<char*>(target.mutable_data_ptr());
  const char* read = static_cast<const char*>(from.const_data_ptr());
  const int64_t* place = places.const_data_ptr<int64_t>();
  opgen::for_each_sheet(from.sizes(), dim, {target.strides(), from.strides()}, Divide::kOthers,
                        [&](const opgen::Sheet& sheet) {
                          opgen::scatter_sheet(sheet, to, read, place, target.itemsize());
                        });
}

}  // namespace

OPGEN_PRECOMPUTE_META_FUNC(index_copy)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  dim = wrap_dim(dim, self.dim());
  OPGEN_CHECK_INDEX(index.dim() < 2, "index_copy_(): Index should have dimension 1 or 0 (got ",
                    index.dim(), ")");
  const int64_t count = index.numel();
  OPGEN_CHECK_INDEX(source.dim() != 0 || count == 1,
                    "index_copy_(): When source is scalar, index should have one element (got ",
                    count, ")");
  OPGEN_CHECK_INDEX(source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0,
                    "index_copy_(): When source and destination are not scalars, their "
                    "dimensionality must match. Source dimensionality (",
                    source.dim(), "), destination dimensionality (", self.dim(), ")");
  OPGEN_CHECK(index.scalar_type() == kLong,
              "index_copy_(): Expected a long tensor for index, but got ", index.scalar_type());
  OPGEN_CHECK(self.scalar_type() == source.scalar_type(),
              "index_copy_(): self and source expected to have the same dtype, but got (self) ",
              self.scalar_type(), " and (source) ", source.scalar_type());
  check_same_device("index_copy_", self, index);
  check_same_device("index_copy_", self, source);
  OPGEN_CHECK_INDEX(source.dim() == 0 || count == source.size(dim),
                    "index_copy_(): Number of indices (", count,
                    ") should be equal to source.size(dim) (", size_along(source, dim), ")");
  OPGEN_CHECK(same_sizes(sliced_sizes(self, dim), sliced_sizes(source, dim)),
              "index_copy_(): Source/destination tensor must have same slice shapes. "
              "Destination shape: ",
              self.sizes(), " at dimension ", dim, " and source shape: ", source.sizes());
  set_output_raw_strided(0, self.sizes(), {}, self.options());
  return precompute_out<>().set_dim(dim);
}
OPGEN_IMPL_FUNC(index_copy_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Tensor& out) {
  const Tensor places = opgen::contiguous(index);
  check_plain_places(places, size_along(self, dim), dim);
  start_scatter(self, out);
  // A scalar is a row of a vector.
  copy_to_places(out, dim, places,
                 source.dim() == 0 && out.dim() > 0 ? source.expand({1}) : source);
}

namespace {

// Sets the rows places[k] of `self` along `dim` to the element `value`.
void fill_places(const Tensor& self, int64_t dim, const Tensor& places, const Tensor& value) {
  const Tensor target = at_least_1d(self);
  DimVector sizes(target.sizes());
  sizes[static_cast<size_t>(dim)] = places.numel();
  const int64_t* place = places.const_data_ptr<int64_t>();
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    T* to = static_cast<T*>(target.mutable_data_ptr());
    const T element = *static_cast<const T*>(value.const_data_ptr());
    opgen::for_each_sheet(sizes, dim, {target.strides()}, Divide::kOthers, [=](const auto& sheet) {
      T* first = to + sheet.offsets[0];
      const int64_t step = sheet.steps[0], run_step = sheet.run_steps[0];
      if (sheet.has_rows(1)) {
        for (int64_t k = sheet.begin; k < sheet.end; ++k) {
          std::fill_n(first + place[k] * step, sheet.run, element);
        }
        return;
      }
      if (sheet.has_faster_run()) {
        for (int64_t k = sheet.begin; k < sheet.end; ++k) {
          T* row = first + place[k] * step;
          for (int64_t j = 0; j < sheet.run; ++j) row[j * run_step] = element;
        }
        return;
      }
      for (int64_t j = 0; j < sheet.run; ++j) {
        T* line = first + j * run_step;
        for (int64_t k = sheet.begin; k < sheet.end; ++k) line[place[k] * step] = element;
      }
    });
  });
}

void check_index_fill(const Tensor& self, int64_t dim, const Tensor& index, bool is_complex) {
  wrap_dim(dim, self.dim());
  OPGEN_CHECK_INDEX(index.scalar_type() == kLong, "index_fill_(): Expected dtype int64 for index.");
  OPGEN_CHECK(index.dim() <= 1, "Index has to be a vector/scalar");
  OPGEN_CHECK(self.is_complex() || !is_complex,
              "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  check_same_device("index_fill_", self, index);
}

}  // namespace

OPGEN_KERNEL(index_fill_)
(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_index_fill(self, dim, index, value.isComplex());
  opgen::assert_no_internal_overlap(self);
  if (self.is_meta()) return self;
  const Tensor number = opgen::empty({}, self.options());
  opgen::fill_(number, value);
  dim = wrap_dim(dim, self.dim());
  const int64_t size = size_along(self, dim);
  const Tensor places = index.clone(MemoryFormat::Contiguous);
  check_places(places, size);
  int64_t* place = places.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < places.numel(); ++i) place[i] += place[i] < 0 ? size : 0;
  fill_places(self, dim, places, number);
  return self;
}
OPGEN_KERNEL(index_fill_)
(Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  OPGEN_CHECK(value.dim() == 0,
              "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  if (self.is_meta() || value.is_meta()) {
    check_index_fill(self, dim, index, value.is_complex());
    return self;
  }
  return self.index_fill_(dim, index, value.item());
}
OPGEN_KERNEL(index_fill)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return self.clone(std::nullopt).index_fill_(dim, index, value);
}
OPGEN_KERNEL(index_fill)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  return self.clone(std::nullopt).index_fill_(dim, index, value);
}

// ---- take: indices of the flattened tensor ----

OPGEN_KERNEL(take_out)(const Tensor& self, const Tensor& index, Tensor& out) {
  OPGEN_CHECK(index.scalar_type() == kLong, "take(): Expected a long tensor for index, but got ",
              index.scalar_type());
  OPGEN_CHECK(self.scalar_type() == out.scalar_type(),
              "take(): self and out expected to have the same dtype, but got self.dtype = ",
              self.scalar_type(), " and out.dtype = ", out.scalar_type());
  OPGEN_CHECK_INDEX(self.numel() != 0 || index.numel() == 0,
                    "take(): tried to take from an empty tensor");
  check_same_device("take()", self, index);
  opgen::assert_no_overlap(out, self);
  TensorIterator iter = opgen::TensorIteratorConfig()
                            .check_all_same_dtype(false)
                            .add_output(out)
                            .add_const_input(index)
                            .build();
  if (out.is_meta()) return out;
  const Tensor flat = opgen::contiguous(self);
  const int64_t size = flat.numel();
  check_places(opgen::contiguous(index), size);
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    const T* from = static_cast<const T*>(flat.const_data_ptr());
    iter.for_each([&](char** data, const int64_t* steps, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const auto place = *reinterpret_cast<const int64_t*>(data[1] + i * steps[1]);
        *reinterpret_cast<T*>(data[0] + i * steps[0]) = from[place < 0 ? place + size : place];
      }
    });
  });
  return out;
}
OPGEN_KERNEL(take)(const Tensor& self, const Tensor& index) {
  Tensor out = opgen::empty(index.sizes(), self.options());
  return at::take_out(out, self, index);
}

// ---- Masks ----

namespace {

void check_mask(const Tensor& self, const Tensor& mask) {
  OPGEN_CHECK(mask.scalar_type() == kBool,
              "masked_fill_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
  check_same_device("masked_fill_", self, mask);
}

int64_t count_set(const bool* mask, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += opgen::element_at(mask + i);
  return count;
}

// Writes `value` to `out` where the mask is set, else the element of `self`, which may be `out`.
void fill_masked(const Tensor& out, const Tensor& mask, const Tensor& self, const Scalar& value) {
  OPGEN_DISPATCH_ALL(self.scalar_type(), "masked_fill_", [&] {
    const scalar_t x = value.to<scalar_t>();
    TensorIterator iter = opgen::TensorIteratorConfig()
                              .set_check_mem_overlap(false)
                              .check_all_same_dtype(false)
                              .resize_outputs(false)
                              .add_output(out)
                              .add_const_input(mask)
                              .add_const_input(self)
                              .build();
    const auto filled = [x](bool fills, scalar_t y) -> scalar_t { return either(fills, x, y); };
    // Elements that share memory are filled if the mask is set for one of them: each reads what
    // those before it have written.
    if (opgen::has_internal_overlap(out) == opgen::MemOverlap::Yes) {
      opgen::cpu_serial_kernel(iter, filled);
    } else {
      opgen::cpu_kernel(iter, filled);
    }
  });
}

// The functional form reads and writes once, instead of a copy that is then filled.
Tensor masked_filled(const Tensor& self, const Tensor& mask, const Scalar& value) {
  const DimVector shape = opgen::infer_size(self.sizes(), mask.sizes());
  check_mask(self, mask);
  Tensor out = opgen::empty(shape, self.options());
  if (!out.is_meta()) fill_masked(out, mask, self, value);
  return out;
}

void check_fill_value(const Tensor& self, const Tensor& value) {
  OPGEN_CHECK(value.dim() == 0,
              "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  OPGEN_CHECK(canCast(value.scalar_type(), self.scalar_type()) || !value.is_complex(),
              "value of dtype ", value.scalar_type(), " cannot be written to ", self.scalar_type());
}

}  // namespace

OPGEN_KERNEL(masked_fill_)(Tensor& self, const Tensor& mask, const Scalar& value) {
  check_mask(self, mask);
  OPGEN_CHECK(opgen::is_expandable_to(mask.sizes(), self.sizes()), "The size of mask ",
              mask.sizes(), " must broadcast to the size of self ", self.sizes());
  if (self.is_meta()) return self;
  const bool is_written = mask.is_alias_of(self) && !mask.is_same(self);
  fill_masked(self, is_written ? Tensor(opgen::clone(mask)) : mask, self, value);
  return self;
}
OPGEN_KERNEL(masked_fill_)(Tensor& self, const Tensor& mask, const Tensor& value) {
  check_fill_value(self, value);
  if (self.is_meta() || value.is_meta()) return self;
  return self.masked_fill_(mask, value.item());
}
OPGEN_KERNEL(masked_fill)(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return masked_filled(self, mask, value);
}
OPGEN_KERNEL(masked_fill)(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_fill_value(self, value);
  return masked_filled(self, mask, self.is_meta() || value.is_meta() ? Scalar(0) : value.item());
}

OPGEN_KERNEL(masked_select_out)(const Tensor& self, const Tensor& mask, Tensor& out) {
  OPGEN_CHECK(mask.scalar_type() == kBool, "masked_select: expected BoolTensor for mask");
  OPGEN_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  const DimVector shape = opgen::infer_size(self.sizes(), mask.sizes());
  const Tensor chosen = opgen::contiguous(mask.expand(shape));
  const Tensor source = opgen::contiguous(self.expand(shape));
  const bool* from_mask = chosen.const_data_ptr<bool>();
  const int64_t total = chosen.numel(), count = count_set(from_mask, total);
  resize_out(out, {count});
  const Tensor dense =
      out.is_contiguous() ? Tensor(out) : Tensor(opgen::empty({count}, out.options()));
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    const T* from = static_cast<const T*>(source.const_data_ptr());
    T* to = static_cast<T*>(dense.mutable_data_ptr());
    for (int64_t i = 0; i < total; ++i) {
      if (opgen::element_at(from_mask + i)) *to++ = from[i];
    }
  });
  if (!dense.is_same(out)) opgen::copy_(out, dense);
  return out;
}
OPGEN_KERNEL(masked_select)(const Tensor& self, const Tensor& mask) {
  Tensor out = opgen::empty({0}, self.options());
  return at::masked_select_out(out, self, mask);
}

namespace {

void check_masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  OPGEN_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter: expected self and source to have same dtypes but got ",
              self.scalar_type(), " and ", source.scalar_type());
  OPGEN_CHECK(mask.scalar_type() == kBool,
              "masked_scatter_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
  check_same_device("masked_scatter_", self, mask);
  check_same_device("masked_scatter_", self, source);
}

}  // namespace

OPGEN_KERNEL(masked_scatter_)(Tensor& self, const Tensor& mask, const Tensor& source) {
  check_masked_scatter(self, mask, source);
  opgen::assert_no_internal_overlap(self);
  const Tensor chosen = opgen::contiguous(mask.expand(self.sizes()));
  if (self.is_meta()) return self;
  const Tensor from = opgen::contiguous(source);
  const Tensor dense = opgen::contiguous(self);
  const bool* is_chosen = chosen.const_data_ptr<bool>();
  OPGEN_CHECK(count_set(is_chosen, chosen.numel()) <= from.numel(),
              "Number of elements of source < number of ones in mask");
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    const T* next = static_cast<const T*>(from.const_data_ptr());
    T* to = static_cast<T*>(dense.mutable_data_ptr());
    for (int64_t i = 0; i < dense.numel(); ++i) {
      if (opgen::element_at(is_chosen + i)) to[i] = *next++;
    }
  });
  if (!dense.is_same(self)) opgen::copy_(self, dense);
  return self;
}
OPGEN_KERNEL(masked_scatter)(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const DimVector shape = opgen::infer_size(self.sizes(), mask.sizes());
  return self.expand(shape).clone(MemoryFormat::Contiguous).masked_scatter_(mask, source);
}

// Returns one row of indices per nonzero element. In memory, the indices of each dimension are
// contiguous, because they are used as index tensors.
OPGEN_KERNEL(nonzero_out)(const Tensor& self, Tensor& out) {
  OPGEN_CHECK(out.scalar_type() == kLong, "Expected out to be a Long tensor, but got ",
              out.scalar_type());
  const int64_t ndim = self.dim();
  const Tensor dense = opgen::contiguous(self);
  const int64_t total = dense.numel();
  const int64_t width = ndim == 0 ? 1 : self.size(-1), rows = total == 0 ? 0 : total / width;
  // Each part of the rows is counted, and then written behind the parts before it.
  const int64_t parts =
      total <= opgen::kGrainSize ? 1 : std::min<int64_t>(rows, opgen::get_num_threads());
  std::vector<int64_t> counts(static_cast<size_t>(parts));
  const auto for_each_part = [=](const auto& f) {
    opgen::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t p = first; p < last; ++p) f(p, rows * p / parts, rows * (p + 1) / parts);
    });
  };
  OPGEN_DISPATCH_ALL(self.scalar_type(), "nonzero", [&] {
    const scalar_t* from = dense.const_data_ptr<scalar_t>();
    const auto counts_as = [](const scalar_t* x) -> int64_t {
      return opgen::element_at(x) == scalar_t(0) ? 0 : 1;
    };
    for_each_part([&](int64_t part, int64_t begin, int64_t end) {
      int64_t n = 0;
      for (int64_t i = begin * width; i < end * width; ++i) n += counts_as(from + i);
      counts[static_cast<size_t>(part)] = n;
    });
    const int64_t count = std::accumulate(counts.begin(), counts.end(), int64_t(0));
    if (opgen::resize_output(out, {count, ndim})) {
      opgen::restride_output(out, {count, ndim}, {1, count}, std::nullopt);
    }
    if (out.numel() == 0) return;
    // One row of `self` after the other: the indices of all but the last dimension are the same.
    const int64_t step = out.stride(0);
    int64_t* const all = out.mutable_data_ptr<int64_t>();
    for_each_part([&](int64_t part, int64_t begin, int64_t end) {
      int64_t* to = all + step * std::accumulate(counts.begin(), counts.begin() + part, int64_t(0));
      DimVector index(static_cast<size_t>(ndim), 0);
      for (int64_t d = ndim - 2, rest = begin; d >= 0; rest /= self.size(d--)) {
        index[d] = rest % self.size(d);
      }
      std::vector<int64_t> found(static_cast<size_t>(width) + 1);
      for (int64_t row = begin; row < end; ++row) {
        // Writes each position, but moves on only after one that counts, which takes no branch.
        int64_t n = 0;
        for (int64_t j = 0; j < width; ++j) {
          found[static_cast<size_t>(n)] = j;
          n += counts_as(from + row * width + j);
        }
        for (int64_t d = 0; d < ndim; ++d) {
          int64_t* column = to + d * out.stride(1);
          if (d == ndim - 1) {
            opgen::copy_run(reinterpret_cast<char*>(column), step,
                            reinterpret_cast<const char*>(found.data()), 1, n, sizeof(int64_t));
          } else if (step == 1) {
            std::fill(column, column + n, index[d]);
          } else {
            for (int64_t i = 0; i < n; ++i) column[i * step] = index[d];
          }
        }
        to += n * step;
        for (int64_t d = ndim - 2; d >= 0; --d) {
          if (++index[d] < self.size(d)) break;
          index[d] = 0;
        }
      }
    });
  });
  return out;
}
OPGEN_KERNEL(nonzero)(const Tensor& self) {
  Tensor out = opgen::empty({0}, self.options().dtype(kLong));
  return at::nonzero_out(out, self);
}

// ---- index.Tensor, index_put_: one index tensor, or none, for each dimension ----

namespace {

// The indexed tensor, with sizes and strides for one iteration over the shape of the result: the
// dimensions of the index tensors, with stride 0, replace the indexed dimensions.
struct Indexed {
  Tensor self;
  std::vector<Tensor> indices;  // int64, broadcast to a common shape, with size 1 in each dimension
                                // that is not indexed
  DimVector sizes, strides;     // those of the indexed dimensions; strides in bytes
};

// A mask counts as one index tensor per dimension.
std::vector<Tensor> without_masks(const Tensor& self, IOptTensorListRef given) {
  std::vector<Tensor> indices;
  for (const auto& entry : given) {
    if (!entry.has_value() || !entry->defined()) {
      indices.emplace_back();
      continue;
    }
    const Tensor& index = *entry;
    const ScalarType dtype = index.scalar_type();
    if (dtype == kByte || dtype == kBool) {
      for (int64_t d = 0; d < index.dim(); ++d) {
        const auto at = static_cast<int64_t>(indices.size()) + d;
        OPGEN_CHECK_INDEX(at < self.dim() && index.size(d) == self.size(at),
                          "The shape of the mask ", index.sizes(), " at index ", d,
                          " does not match the shape of the indexed tensor ", self.sizes(),
                          " at index ", at);
      }
      const Tensor places = at::nonzero(index);
      for (int64_t d = 0; d < index.dim(); ++d) indices.push_back(places.select(1, d));
      continue;
    }
    OPGEN_CHECK_INDEX(dtype == kLong || dtype == kInt,
                      "tensors used as indices must be long, int, byte or bool tensors");
    indices.push_back(index);
  }
  OPGEN_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(), " (got ",
                    indices.size(), ")");
  indices.resize(static_cast<size_t>(self.dim()));
  return indices;
}

Indexed make_indexed(const Tensor& original, IOptTensorListRef given) {
  std::vector<Tensor> indices = without_masks(original, given);
  Tensor self = original;
  // If indices are not adjacent, their dimensions come first in the result.
  int64_t first = -1, last = -1, used = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!indices[d].defined()) continue;
    if (first < 0) first = d;
    last = d;
    ++used;
  }
  OPGEN_CHECK_INDEX(used > 0, "at least one index tensor must be given");
  if (last - first + 1 != used) {
    DimVector order;
    std::vector<Tensor> moved;
    for (bool indexed : {true, false}) {
      for (int64_t d = 0; d < self.dim(); ++d) {
        if (indices[d].defined() != indexed) continue;
        order.push_back(d);
        moved.push_back(indices[d]);
      }
    }
    self = self.permute(order);
    indices = std::move(moved);
    first = 0;
  }
  DimVector shape;
  for (const Tensor& index : indices) {
    if (index.defined()) shape = opgen::infer_size(shape, index.sizes());
  }
  Indexed result;
  DimVector sizes, strides;
  const int64_t after = self.dim() - first - used;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == first) {
      for (int64_t size : shape) {
        sizes.push_back(size);
        strides.push_back(0);
      }
    }
    if (!indices[d].defined()) {
      sizes.push_back(self.size(d));
      strides.push_back(self.stride(d));
      continue;
    }
    result.sizes.push_back(self.size(d));
    result.strides.push_back(self.stride(d) * self.element_size());
    OPGEN_CHECK_INDEX(self.size(d) != 0 || opgen::multiply_integers(shape) == 0,
                      "index is out of bounds for dimension with size 0");
    DimVector index_sizes(static_cast<size_t>(first), 1);
    for (int64_t size : shape) index_sizes.push_back(size);
    index_sizes.resize(index_sizes.size() + static_cast<size_t>(after), 1);
    // Expand before the conversion, because the strides of a new result depend on those of the
    // converted index.
    result.indices.push_back(to_dtype(indices[d].expand(shape), kLong).reshape(index_sizes));
  }
  result.self = opgen::alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
  return result;
}

// An iteration in which one dimension replaces those of the index tensors. `places` selects its
// positions in the indexed tensor, whose stride is `step`.
struct Selection {
  DimVector sizes;
  DimVector self_strides;
  int64_t dim;
  int64_t first, last;  // the dimensions that are replaced
  Tensor places;

  [[nodiscard]] DimVector replaced(IntArrayRef all, int64_t value) const {
    DimVector result;
    for (int64_t d = 0; d < first; ++d) result.push_back(all[d]);
    result.push_back(value);
    for (auto d = last; d < static_cast<int64_t>(all.size()); ++d) result.push_back(all[d]);
    return result;
  }
  // The strides of a tensor of the shape before the replacement; none if its dimensions cannot be
  // one.
  [[nodiscard]] std::optional<DimVector> strides_of(const Tensor& other) const {
    int64_t stride = 0, length = 1;
    for (int64_t d = last - 1; d >= first; --d) {
      if (other.size(d) == 1) continue;
      if (length == 1) {
        stride = other.stride(d);
      } else if (other.stride(d) != length * stride) {
        return std::nullopt;
      }
      length *= other.size(d);
    }
    return replaced(other.strides(), stride);
  }
};

// Checks all indices. `self` has stride 0 in the dimensions of the index tensors; `sizes` and
// `strides` (in bytes) are those of the indexed dimensions.
Selection select(const TensorBase& self, opgen::ArrayRef<Tensor> indices, IntArrayRef sizes,
                 IntArrayRef strides) {
  Selection result;
  const int64_t ndim = self.dim();
  result.first = ndim;
  result.last = 0;
  for (int64_t d = 0; d < ndim; ++d) {
    if (indices[0].size(d) == 1) continue;
    result.first = std::min(result.first, d);
    result.last = d + 1;
  }
  if (result.last == 0) result.first = 0;
  const int64_t count = indices[0].numel();
  result.dim = result.first;
  result.sizes = result.replaced(self.sizes(), count);
  result.self_strides = result.replaced(self.strides(), 1);
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  const auto number = static_cast<size_t>(indices.size());
  for (size_t k = 0; k < number; ++k) {
    const Tensor places = opgen::contiguous(indices[k]);
    const int64_t* place = places.const_data_ptr<int64_t>();
    const int64_t stride = strides[k] / itemsize;
    if (number == 1 && opgen::find_bad_index(place, count, 1, 0, sizes[k]) < 0) {
      result.places = places;
      result.self_strides[result.first] = stride;
      return result;
    }
    check_places(places, sizes[k]);
    if (k == 0) result.places = opgen::empty({count}, places.options());
    int64_t* offset = result.places.mutable_data_ptr<int64_t>();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = (place[i] < 0 ? place[i] + sizes[k] : place[i]) * stride;
      offset[i] = k == 0 ? at : offset[i] + at;
    }
  }
  return result;
}

}  // namespace

OPGEN_PRECOMPUTE_META_FUNC2(index, Tensor)(const Tensor& self, IOptTensorListRef indices) {
  OPGEN_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(), " (got ",
                    indices.size(), ")");
  const Indexed indexed = make_indexed(self, indices);
  const TensorBase& out = maybe_get_output();
  OPGEN_CHECK(!out.defined() || out.scalar_type() == self.scalar_type(), "index_out: self (",
              self.scalar_type(), ") and result (", out.scalar_type(),
              ") must have the same scalar type");
  if (out.defined()) {
    // The operand of the iterator is one element of the indexed dimensions, with stride 0.
    opgen::assert_no_internal_overlap(out);
    opgen::assert_no_overlap(out, self);
    for (const auto& index : indices) {
      if (index.has_value() && index->defined()) opgen::assert_no_overlap(out, *index);
    }
  }
  opgen::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false);
  config.add_output(out).add_const_input(indexed.self);
  for (const Tensor& index : indexed.indices) config.add_const_input(index);
  if (!out.defined()) config.declare_static_dtype_and_device(self.scalar_type(), self.device());
  build(config);
  return precompute_out<>().set_sizes(indexed.sizes).set_strides(indexed.strides);
}
OPGEN_IMPL_FUNC(index_out)
(const Tensor& /*self*/, DimVector sizes, DimVector strides, const Tensor& out) {
  std::vector<Tensor> indices;
  for (int k = 2; k < ntensors(); ++k) indices.emplace_back(tensor(k));
  const TensorBase& self = tensor(1);
  const Selection selected = select(self, indices, sizes, strides);
  if (out.numel() == 0) return;
  std::optional<DimVector> out_strides = selected.strides_of(out);
  const Tensor to =
      out_strides.has_value() ? Tensor(out) : Tensor(opgen::empty(out.sizes(), out.options()));
  if (!out_strides.has_value()) out_strides = selected.strides_of(to);
  const char* from = static_cast<const char*>(self.const_data_ptr());
  char* data = static_cast<char*>(to.mutable_data_ptr());
  const int64_t* place = selected.places.const_data_ptr<int64_t>();
  opgen::for_each_sheet(selected.sizes, selected.dim, {*out_strides, selected.self_strides},
                        Divide::kAll, [&](const opgen::Sheet& sheet) {
                          opgen::gather_sheet(sheet, data, from, place, out.itemsize());
                        });
  if (!to.is_same(out)) opgen::copy_(out, to);
}

OPGEN_KERNEL(_index_put_impl_)
(Tensor& self, const List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate,
 bool /*unsafe*/) {
  OPGEN_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(), " (got ",
                    indices.size(), ")");
  OPGEN_CHECK(self.scalar_type() == values.scalar_type(),
              "Index put requires the source and destination dtypes match, got ",
              self.scalar_type(), " for the destination and ", values.scalar_type(),
              " for the source.");
  if (values.dim() != 0) check_same_device("index_put_", self, values);
  Indexed indexed = make_indexed(self, List<std::optional<opgen::Tensor>>(indices));
  DimVector shape(indexed.self.sizes());
  for (const Tensor& index : indexed.indices) shape = opgen::infer_size(shape, index.sizes());
  OPGEN_CHECK(opgen::is_expandable_to(values.sizes(), shape),
              "shape mismatch: value tensor of shape ", values.sizes(),
              " cannot be broadcast to indexing result of shape ", shape);
  if (self.is_meta()) return self;
  // Values and indices that share memory with self would change while they are read.
  for (Tensor& index : indexed.indices) {
    if (index.is_alias_of(self)) index = opgen::clone(index);
  }
  Tensor source =
      (values.is_alias_of(self) ? Tensor(opgen::clone(values)) : Tensor(values)).expand(shape);
  const Selection selected = select(indexed.self, indexed.indices, indexed.sizes, indexed.strides);
  if (source.numel() == 0) return self;
  std::optional<DimVector> source_strides = selected.strides_of(source);
  if (!source_strides.has_value()) {
    source = opgen::contiguous(source);
    source_strides = selected.strides_of(source);
  }
  const int64_t* place = selected.places.const_data_ptr<int64_t>();
  // Positions of the other dimensions are distinct, so that threads may divide them, except in an
  // expanded tensor. The last of several values for an element is kept.
  const bool overlaps = opgen::has_internal_overlap(self) != opgen::MemOverlap::No;
  const auto loop = [&](opgen::FunctionRef<void(const opgen::Sheet&)> f) {
    opgen::for_each_sheet(selected.sizes, selected.dim, {selected.self_strides, *source_strides},
                          overlaps ? Divide::kNothing : Divide::kOthers, f);
  };
  if (!accumulate) {
    char* to = static_cast<char*>(indexed.self.mutable_data_ptr());
    const char* from = static_cast<const char*>(source.const_data_ptr());
    loop([&](const opgen::Sheet& sheet) {
      opgen::scatter_sheet(sheet, to, from, place, self.itemsize());
    });
    return self;
  }
  OPGEN_DISPATCH_ALL(self.scalar_type(), "index_put_", [&] {
    scalar_t* to = indexed.self.mutable_data_ptr<scalar_t>();
    const scalar_t* from = source.const_data_ptr<scalar_t>();
    loop([&](const opgen::Sheet& sheet) {
      opgen::update_sheet(sheet, to, from, place, [](scalar_t& element, const scalar_t& value) {
        element = plus(opgen::element_at(&element), opgen::element_at(&value));
      });
    });
  });
  return self;
}
OPGEN_KERNEL(index_put_)
(Tensor& self, const List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate) {
  return at::_index_put_impl_(self, indices, values, accumulate, /*unsafe=*/false);
}
OPGEN_KERNEL(index_put)
(const Tensor& self, const List<std::optional<Tensor>>& indices, const Tensor& values,
 bool accumulate) {
  Tensor out = opgen::clone(self);
  return at::_index_put_impl_(out, indices, values, accumulate, /*unsafe=*/false);
}
