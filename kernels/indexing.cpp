// indexing.cpp: joins tensors, and reads or writes elements whose indices are data.
#include <opgen/kernel.h>

#include <algorithm>

#include <aten/ops/_index_put_impl.h>
#include <aten/ops/_index_put_impl_native.h>
#include <aten/ops/cat.h>
#include <aten/ops/cat_native.h>
#include <aten/ops/embedding_native.h>
#include <aten/ops/gather_native.h>
#include <aten/ops/index_add_native.h>
#include <aten/ops/index_native.h>
#include <aten/ops/index_put_native.h>
#include <aten/ops/index_select.h>
#include <aten/ops/index_select_native.h>
#include <aten/ops/masked_fill.h>
#include <aten/ops/masked_fill_native.h>
#include <aten/ops/masked_select.h>
#include <aten/ops/masked_select_native.h>
#include <aten/ops/nonzero.h>
#include <aten/ops/nonzero_native.h>
#include <aten/ops/scatter_add_native.h>
#include <aten/ops/scatter_native.h>
#include <aten/ops/stack_native.h>
#include <aten/ops/take.h>
#include <aten/ops/take_native.h>

#include <opgen/tensor/memory_overlap.h>

#include "common.h"
#include "devices.h"
#include "either.h"

using namespace kernels;

namespace {

// Returns an index, counted from the end if negative.
int64_t checked_place(int64_t place, int64_t size) {
  OPGEN_CHECK_INDEX(place >= -size && place < size, "index ", place,
                    " is out of bounds for dimension with size ", size);
  return place < 0 ? place + size : place;
}

// Returns an index that may not be negative.
int64_t plain_place(int64_t place, int64_t size, int64_t dim) {
  OPGEN_CHECK_INDEX(place >= 0 && place < size, "index ", place, " is out of bounds for dimension ",
                    dim, " with size ", size);
  return place;
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
  if (valid < 0) return;
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
  check_index_dtype(name, index);
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

// Calls f(element, other), where `element` is the element of `target` that the index selects, and
// `other` the element of `along` at the position of the index. Handles the lines in order, in one
// thread, because indices may repeat.
template <class T, class F>
void for_each_indexed(const Tensor& given, int64_t dim, const Tensor& index, const Tensor& beside,
                      F f) {
  if (index.numel() == 0) return;
  const Tensor target = at_least_1d(given), places = at_least_1d(to_dtype(index, kLong)),
               along = at_least_1d(beside);
  dim = wrap_dim(dim, target.dim());
  const int64_t size = size_along(target, dim), stride = stride_along(target, dim);
  const int64_t count = size_along(places, dim);
  const int64_t place_stride = stride_along(places, dim), along_stride = stride_along(along, dim);
  const int64_t* place = places.const_data_ptr<int64_t>();
  T* to = static_cast<T*>(target.mutable_data_ptr());
  T* other = static_cast<T*>(along.mutable_data_ptr());
  for_each_line<3>(dim, {&places, &target, &along}, [&](const std::array<int64_t, 3>& at) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = plain_place(place[at[0] + k * place_stride], size, dim);
      f(to[at[1] + i * stride], other[at[2] + k * along_stride]);
    }
  });
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
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    for_each_indexed<T>(self, dim, index, out, [](T& element, T& result) { result = element; });
  });
}

namespace {

void start_scatter(const Tensor& self, const Tensor& out) {
  if (!out.is_same(self)) opgen::copy_(out, self);
}

}  // namespace

OPGEN_META_FUNC2(scatter, src)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_scatter("scatter", self, dim, index, &src);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_src_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  start_scatter(self, out);
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    for_each_indexed<T>(out, dim, index, src, [](T& element, T& value) { element = value; });
  });
}

OPGEN_META_FUNC2(scatter, value)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& /*value*/) {
  check_scatter("scatter", self, dim, index, nullptr);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_value_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, const Tensor& out) {
  start_scatter(self, out);
  OPGEN_DISPATCH_ALL(self.scalar_type(), "scatter", [&] {
    const scalar_t x = value.to<scalar_t>();
    for_each_indexed<scalar_t>(out, dim, index, out,
                               [x](scalar_t& element, scalar_t&) { element = x; });
  });
}

OPGEN_META_FUNC(scatter_add)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_scatter("scatter_add", self, dim, index, &src);
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(scatter_add_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  start_scatter(self, out);
  OPGEN_DISPATCH_ALL(self.scalar_type(), "scatter_add", [&] {
    for_each_indexed<scalar_t>(out, dim, index, src, [](scalar_t& element, scalar_t& value) {
      element = plus(element, value);
    });
  });
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
  resize_out(out, shape);
  if (out.is_meta()) return out;
  const Tensor places = opgen::contiguous(to_dtype(index, kLong));
  const int64_t* place = places.const_data_ptr<int64_t>();
  const int64_t size = size_along(self, dim), stride = stride_along(self, dim),
                out_stride = stride_along(out, dim);
  if (out.numel() == 0) {
    // An invalid index is an error even if there are no elements to move.
    for (int64_t k = 0; k < places.numel(); ++k) plain_place(place[k], size, dim);
    return out;
  }
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    for_each_line<2>(dim, {&self, &out}, [&](const std::array<int64_t, 2>& at) {
      for (int64_t k = 0; k < places.numel(); ++k) {
        to[at[1] + k * out_stride] = from[at[0] + plain_place(place[k], size, dim) * stride];
      }
    });
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
  start_scatter(self, result);
  if (given.numel() == 0) return;
  const Tensor source = at_least_1d(given), out = at_least_1d(result);
  const Tensor places = opgen::contiguous(to_dtype(index, kLong));
  const int64_t* place = places.const_data_ptr<int64_t>();
  const int64_t size = size_along(self, dim), from_stride = stride_along(source, dim),
                stride = stride_along(out, dim);
  OPGEN_DISPATCH_ALL(self.scalar_type(), "index_add_", [&] {
    const scalar_t factor = alpha.to<scalar_t>();
    const scalar_t* from = source.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    for_each_line<2>(dim, {&source, &out}, [&](const std::array<int64_t, 2>& at) {
      for (int64_t k = 0; k < places.numel(); ++k) {
        scalar_t& element = to[at[1] + plain_place(place[k], size, dim) * stride];
        element = plus(element, times(factor, from[at[0] + k * from_stride]));
      }
    });
  });
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
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    const T* from = static_cast<const T*>(flat.const_data_ptr());
    iter.for_each([&](char** data, const int64_t* steps, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const auto place = *reinterpret_cast<const int64_t*>(data[1] + i * steps[1]);
        *reinterpret_cast<T*>(data[0] + i * steps[0]) = from[checked_place(place, size)];
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

OPGEN_KERNEL(masked_fill_)(Tensor& self, const Tensor& mask, const Scalar& value) {
  OPGEN_CHECK(mask.scalar_type() == kBool,
              "masked_fill_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
  OPGEN_CHECK(opgen::is_expandable_to(mask.sizes(), self.sizes()), "The size of mask ",
              mask.sizes(), " must broadcast to the size of self ", self.sizes());
  check_same_device("masked_fill_", self, mask);
  if (self.is_meta()) return self;
  const bool is_written = mask.is_alias_of(self) && !mask.is_same(self);
  const Tensor chosen = (is_written ? Tensor(opgen::clone(mask)) : mask).expand(self.sizes());
  OPGEN_DISPATCH_ALL(self.scalar_type(), "masked_fill_", [&] {
    const scalar_t x = value.to<scalar_t>();
    TensorIterator iter = opgen::TensorIteratorConfig()
                              .set_check_mem_overlap(false)
                              .check_all_same_dtype(false)
                              .resize_outputs(false)
                              .add_output(self)
                              .add_const_input(chosen)
                              .add_const_input(self)
                              .build();
    opgen::cpu_kernel(iter,
                      [x](bool fills, scalar_t y) -> scalar_t { return either(fills, x, y); });
  });
  return self;
}
OPGEN_KERNEL(masked_fill_)(Tensor& self, const Tensor& mask, const Tensor& value) {
  OPGEN_CHECK(value.dim() == 0,
              "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  OPGEN_CHECK(canCast(value.scalar_type(), self.scalar_type()) || !value.is_complex(),
              "value of dtype ", value.scalar_type(), " cannot be written to ", self.scalar_type());
  if (self.is_meta() || value.is_meta()) return self;
  return self.masked_fill_(mask, value.item());
}
OPGEN_KERNEL(masked_fill)(const Tensor& self, const Tensor& mask, const Scalar& value) {
  const DimVector shape = opgen::infer_size(self.sizes(), mask.sizes());
  Tensor out = opgen::clone(self.expand(shape), MemoryFormat::Contiguous);
  return out.masked_fill_(mask, value);
}
OPGEN_KERNEL(masked_fill)(const Tensor& self, const Tensor& mask, const Tensor& value) {
  const DimVector shape = opgen::infer_size(self.sizes(), mask.sizes());
  Tensor out = opgen::clone(self.expand(shape), MemoryFormat::Contiguous);
  return out.masked_fill_(mask, value);
}

OPGEN_KERNEL(masked_select_out)(const Tensor& self, const Tensor& mask, Tensor& out) {
  OPGEN_CHECK(mask.scalar_type() == kBool, "masked_select: expected BoolTensor for mask");
  OPGEN_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  const DimVector shape = opgen::infer_size(self.sizes(), mask.sizes());
  const Tensor chosen = opgen::contiguous(mask.expand(shape));
  const Tensor source = opgen::contiguous(self.expand(shape));
  const bool* from_mask = chosen.const_data_ptr<bool>();
  const int64_t total = chosen.numel();
  const int64_t count = std::count(from_mask, from_mask + total, true);
  resize_out(out, {count});
  const Tensor dense =
      out.is_contiguous() ? Tensor(out) : Tensor(opgen::empty({count}, out.options()));
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    const T* from = static_cast<const T*>(source.const_data_ptr());
    T* to = static_cast<T*>(dense.mutable_data_ptr());
    for (int64_t i = 0; i < total; ++i) {
      if (from_mask[i]) *to++ = from[i];
    }
  });
  if (!dense.is_same(out)) opgen::copy_(out, dense);
  return out;
}
OPGEN_KERNEL(masked_select)(const Tensor& self, const Tensor& mask) {
  Tensor out = opgen::empty({0}, self.options());
  return at::masked_select_out(out, self, mask);
}

// Returns one row of indices per nonzero element. In memory, the indices of each dimension are
// contiguous, because they are used as index tensors.
OPGEN_KERNEL(nonzero_out)(const Tensor& self, Tensor& out) {
  OPGEN_CHECK(out.scalar_type() == kLong, "Expected out to be a Long tensor, but got ",
              out.scalar_type());
  const int64_t ndim = self.dim();
  const Tensor dense = opgen::contiguous(self);
  std::vector<int64_t> places;
  OPGEN_DISPATCH_ALL(self.scalar_type(), "nonzero", [&] {
    const scalar_t* from = dense.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i < dense.numel(); ++i) {
      if (!(from[i] == scalar_t(0))) places.push_back(i);
    }
  });
  const auto count = static_cast<int64_t>(places.size());
  if (opgen::resize_output(out, {count, ndim})) {
    opgen::restride_output(out, {count, ndim}, {1, count}, std::nullopt);
  }
  if (out.numel() == 0) return out;
  int64_t* to = out.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = places[i];
    for (int64_t d = ndim - 1; d >= 0; --d) {
      to[i * out.stride(0) + d * out.stride(1)] = rest % self.size(d);
      rest /= self.size(d);
    }
  }
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
  for (const std::optional<Tensor>& entry : given) {
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

// Returns the distance in bytes from the start of the indexed dimensions to the element selected by
// the operands from `first` on.
int64_t indexed_offset(char** data, const int64_t* strides, int first, int64_t i, IntArrayRef sizes,
                       IntArrayRef byte_strides) {
  int64_t offset = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const size_t operand = static_cast<size_t>(first) + k;
    const int64_t place = *reinterpret_cast<const int64_t*>(data[operand] + i * strides[operand]);
    offset += checked_place(place, sizes[k]) * byte_strides[k];
  }
  return offset;
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
    for (const std::optional<Tensor>& index : indices) {
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
(const Tensor& /*self*/, DimVector sizes, DimVector strides, const Tensor& /*out*/) {
  dispatch_by_size(static_cast<size_t>(element_size(0)), [&]<class T>() {
    for_each([&](char** data, const int64_t* steps, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const char* from =
            data[1] + i * steps[1] + indexed_offset(data, steps, 2, i, sizes, strides);
        *reinterpret_cast<T*>(data[0] + i * steps[0]) = *reinterpret_cast<const T*>(from);
      }
    });
  });
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
  Indexed indexed = make_indexed(self, IOptTensorListRef(indices));
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
  const Tensor source = values.is_alias_of(self) ? Tensor(opgen::clone(values)) : Tensor(values);
  opgen::TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .resize_outputs(false)
      .enforce_linear_iteration(true);
  config.add_output(indexed.self).add_const_input(source);
  for (const Tensor& index : indexed.indices) config.add_const_input(index);
  TensorIterator iter = config.build();
  // Run in order in one thread, so that the last of several values for an element is kept.
  OPGEN_DISPATCH_ALL(self.scalar_type(), "index_put_", [&] {
    iter.serial_for_each(
        [&](char** data, const int64_t* steps, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            char* to = data[0] + i * steps[0] +
                       indexed_offset(data, steps, 2, i, indexed.sizes, indexed.strides);
            auto* element = reinterpret_cast<scalar_t*>(to);
            const auto value = *reinterpret_cast<const scalar_t*>(data[1] + i * steps[1]);
            *element = accumulate ? plus(*element, value) : value;
          }
        },
        0, iter.numel());
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
