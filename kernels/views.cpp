// views.cpp: views, and the in-place operators that change a tensor's own sizes and strides.
#include <opgen/kernel.h>

#include <algorithm>

#include <aten/ops/_reshape_alias_native.h>
#include <aten/ops/alias_native.h>
#include <aten/ops/as_strided.h>
#include <aten/ops/as_strided_native.h>
#include <aten/ops/chunk_native.h>
#include <aten/ops/clone.h>
#include <aten/ops/detach_native.h>
#include <aten/ops/diagonal_native.h>
#include <aten/ops/expand_as_native.h>
#include <aten/ops/expand_native.h>
#include <aten/ops/flatten_native.h>
#include <aten/ops/flip_native.h>
#include <aten/ops/narrow.h>
#include <aten/ops/narrow_native.h>
#include <aten/ops/permute_native.h>
#include <aten/ops/repeat_native.h>
#include <aten/ops/reshape_as_native.h>
#include <aten/ops/reshape_native.h>
#include <aten/ops/select.h>
#include <aten/ops/select_native.h>
#include <aten/ops/slice.h>
#include <aten/ops/slice_inverse_native.h>
#include <aten/ops/slice_native.h>
#include <aten/ops/slice_scatter_native.h>
#include <aten/ops/split.h>
#include <aten/ops/split_copy_native.h>
#include <aten/ops/split_native.h>
#include <aten/ops/split_with_sizes.h>
#include <aten/ops/split_with_sizes_copy_native.h>
#include <aten/ops/split_with_sizes_native.h>
#include <aten/ops/squeeze_native.h>
#include <aten/ops/t_native.h>
#include <aten/ops/transpose_native.h>
#include <aten/ops/unbind.h>
#include <aten/ops/unbind_copy_native.h>
#include <aten/ops/unbind_native.h>
#include <aten/ops/unsqueeze_native.h>
#include <aten/ops/view_as_native.h>
#include <aten/ops/view_native.h>

#include <opgen/autograd.h>
#include <opgen/composite.h>

#include <opgen/cpu/indexed.h>

#include "common.h"
#include "layout.h"

using namespace kernels;

namespace {

using opgen::ViewGeometry;

Tensor view_with(const Tensor& self, const ViewGeometry& geometry) {
  return opgen::alias_with_sizes_and_strides(self, geometry.sizes, geometry.strides,
                                             geometry.storage_offset);
}

// Changes the tensor's own sizes, strides and offset, for in-place views.
const Tensor& lay_out(const Tensor& self, const ViewGeometry& layout) {
  opgen::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(layout.sizes, layout.strides);
  impl->set_storage_offset(layout.storage_offset);
  return self;
}
Tensor& lay_out(Tensor& self, const ViewGeometry& layout) {
  lay_out(static_cast<const Tensor&>(self), layout);
  return self;
}

}  // namespace

// ---- view, as_strided ----

OPGEN_KERNEL(view)(const Tensor& self, IntArrayRef size) {
  Tensor simple = opgen::view_if_row_major(self, size);
  if (simple.defined()) return simple;
  const DimVector shape = opgen::infer_view_size(size, self.numel());
  const std::optional<DimVector> strides =
      opgen::computeStride(self.sizes(), self.strides(), shape);
  OPGEN_CHECK(strides.has_value(),
              "view size is not compatible with input tensor's size and stride (at least one "
              "dimension spans across "
              "two contiguous subspaces). Use .reshape(...) instead.");
  return view_with(self, {shape, *strides, self.storage_offset()});
}

namespace {

ViewGeometry strided_layout(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                            std::optional<int64_t> storage_offset) {
  OPGEN_CHECK(size.size() == stride.size(),
              "mismatch in length of strides and shape: ", stride.size(), " and ", size.size());
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  OPGEN_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  opgen::check_sizes_nonnegative(size);
  for (int64_t s : stride) {
    OPGEN_CHECK(
        s >= 0,
        "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  }
  const size_t bytes = opgen::checked_storage_bytes(size, stride, offset, self.itemsize());
  OPGEN_CHECK(bytes <= self.storage().nbytes(), "setStorage: sizes ", size, ", strides ", stride,
              ", storage offset ", offset, ", and itemsize ", self.itemsize(),
              " requiring a storage size of ", bytes, " are out of bounds for storage of size ",
              self.storage().nbytes());
  return {DimVector(size), DimVector(stride), offset};
}

}  // namespace

OPGEN_KERNEL(as_strided)
(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  return view_with(self, strided_layout(self, size, stride, storage_offset));
}
OPGEN_KERNEL(as_strided__symint)
(const Tensor& self, SymIntArrayRef size, SymIntArrayRef stride,
 std::optional<SymInt> storage_offset) {
  return lay_out(self, strided_layout(self, size, stride, storage_offset));
}
OPGEN_KERNEL(_reshape_alias)(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  return view_with(self, strided_layout(self, size, stride, std::nullopt));
}
OPGEN_KERNEL(alias)(const Tensor& self) {
  return view_with(self, ViewGeometry::of(self));
}
OPGEN_KERNEL(detach)(const Tensor& self) {
  return view_with(self, ViewGeometry::of(self));
}
OPGEN_KERNEL(detach_)(Tensor& self) {
  opgen::autograd::detach_(self);
  return self;
}

// ---- transpose, permute, t ----

namespace {

ViewGeometry transposed(const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = wrap_dim(dim0, self.dim());
  dim1 = wrap_dim(dim1, self.dim());
  ViewGeometry layout = ViewGeometry::of(self);
  if (dim0 != dim1) layout.transpose(dim0, dim1);
  return layout;
}

void check_t(const char* name, const Tensor& self) {
  OPGEN_CHECK(self.dim() <= 2, name, " expects a tensor with <= 2 dimensions, but self is ",
              self.dim(), "D");
}

}  // namespace

OPGEN_KERNEL(transpose)(const Tensor& self, int64_t dim0, int64_t dim1) {
  return view_with(self, transposed(self, dim0, dim1));
}
OPGEN_KERNEL(transpose_)(Tensor& self, int64_t dim0, int64_t dim1) {
  return lay_out(self, transposed(self, dim0, dim1));
}
OPGEN_KERNEL(t)(const Tensor& self) {
  check_t("t()", self);
  return view_with(self, self.dim() < 2 ? ViewGeometry::of(self) : transposed(self, 0, 1));
}
OPGEN_KERNEL(t_)(Tensor& self) {
  check_t("t_()", self);
  return lay_out(self, self.dim() < 2 ? ViewGeometry::of(self) : transposed(self, 0, 1));
}
OPGEN_KERNEL(permute)(const Tensor& self, IntArrayRef dims) {
  OPGEN_CHECK(static_cast<int64_t>(dims.size()) == self.dim(),
              "permute(sparse_coo): number of dimensions in the tensor input does not match the "
              "length of the desired "
              "ordering of dimensions i.e. input.dim() = ",
              self.dim(), " is not equal to len(dims) = ", dims.size());
  ViewGeometry layout{{}, {}, self.storage_offset()};
  // This is not a bit mask, because a view may have any number of dimensions.
  opgen::SmallVector<bool, 8> seen(dims.size(), false);
  for (int64_t dim : dims) {
    dim = wrap_dim(dim, self.dim());
    OPGEN_CHECK(!seen[dim], "permute(): duplicate dims are not allowed.");
    seen[dim] = true;
    layout.append(self.size(dim), self.stride(dim));
  }
  return view_with(self, layout);
}

// ---- expand, and operators that repeat elements ----

OPGEN_KERNEL(expand)(const Tensor& self, IntArrayRef size, bool /*implicit*/) {
  const opgen::Geometry geometry = opgen::infer_expand_geometry(self.sizes(), self.strides(), size);
  return view_with(self, {geometry.sizes, geometry.strides, self.storage_offset()});
}
OPGEN_KERNEL(expand_as)(const Tensor& self, const Tensor& other) {
  return self.expand(other.sizes());
}

OPGEN_KERNEL(repeat)(const Tensor& self, IntArrayRef repeats) {
  const auto ndim = static_cast<int64_t>(repeats.size());
  OPGEN_CHECK(
      ndim >= self.dim(),
      "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  const int64_t extra = ndim - self.dim();
  // A dimension of size n that is repeated r times is an (r, n) view of the result.
  DimVector shape, window, window_strides, source, source_strides;
  for (int64_t d = 0; d < ndim; ++d) {
    OPGEN_CHECK(repeats[d] >= 0, "Repeats cannot be negative, found ", repeats[d]);
    int64_t size = 0;
    OPGEN_CHECK(!__builtin_mul_overflow(repeats[d], d < extra ? 1 : self.size(d - extra), &size),
                "repeat(): a tensor of sizes ", self.sizes(), " repeated ", repeats,
                " times is too large");
    shape.push_back(size);
  }
  Tensor out = opgen::empty(shape, self.options());
  if (out.numel() == 0) return out;
  for (int64_t d = 0; d < ndim; ++d) {
    const int64_t size = d < extra ? 1 : self.size(d - extra);
    window.push_back(repeats[d]);
    window_strides.push_back(out.stride(d) * size);
    source.push_back(repeats[d]);
    source_strides.push_back(0);
    window.push_back(size);
    window_strides.push_back(out.stride(d));
    source.push_back(size);
    source_strides.push_back(d < extra ? 0 : self.stride(d - extra));
  }
  opgen::copy_(view_with(out, {window, window_strides, 0}),
               view_with(self, {source, source_strides, self.storage_offset()}));
  return out;
}

namespace {

// Returns the dimension whose positions are rows to copy: a flipped one, so that the others form
// rows that are as long as possible, unless it is that of the smallest stride. -1 if there is none.
int64_t dim_of_rows(const Tensor& out, DimMask flipped) {
  DimVector order;
  for (int64_t d = 0; d < out.dim(); ++d) {
    if (out.size(d) != 1) order.push_back(d);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return out.stride(a) < out.stride(b); });
  for (size_t i = 1; i < order.size(); ++i) {
    if (has_dim(flipped, order[i])) return order[i];
  }
  return order.size() > 1 ? order[1] : -1;
}

}  // namespace

OPGEN_KERNEL(flip)(const Tensor& self, IntArrayRef dims) {
  const DimMask mask = mask_of_listed(dims, self.dim());
  Tensor out = opgen::empty_like(self);
  if (out.is_meta() || self.numel() == 0) return out;
  // Reads flipped dimensions backwards, from their last elements.
  DimVector strides(self.strides());
  int64_t last = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!has_dim(mask, d)) continue;
    last += (self.size(d) - 1) * strides[d];
    strides[d] = -strides[d];
  }
  const int64_t size = self.element_size();
  const char* from = static_cast<const char*>(self.const_data_ptr()) + last * size;
  char* to = static_cast<char*>(out.mutable_data_ptr());
  opgen::for_each_sheet(
      self.sizes(), dim_of_rows(out, mask), {out.strides(), strides}, opgen::Divide::kAll,
      [=](const opgen::Sheet& sheet) {
        const auto bytes = static_cast<size_t>(size);
        const int64_t to_step = sheet.steps[0] * size, from_step = sheet.steps[1] * size;
        char* row = to + sheet.offsets[0] * size + sheet.begin * to_step;
        const char* other = from + sheet.offsets[1] * size + sheet.begin * from_step;
        const int64_t count = sheet.end - sheet.begin;
        if (sheet.has_rows(2)) {
          const size_t length = static_cast<size_t>(sheet.run) * bytes;
          return opgen::copy_rows(row, to_step, other, from_step, count, length);
        }
        opgen::copy_runs(row, to_step, sheet.run_steps[0], other, from_step, sheet.run_steps[1],
                         count, sheet.run, bytes);
      });
  return out;
}

// ---- select, slice, narrow, diagonal ----

OPGEN_KERNEL(select_symint)(const Tensor& self, int64_t dim, SymInt index) {
  OPGEN_CHECK_INDEX(self.dim() != 0, "select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  OPGEN_CHECK_INDEX(index >= -size && index < size, "select(): index ", index,
                    " out of range for tensor of size ", self.sizes(), " at dimension ", dim);
  if (index < 0) index += size;
  ViewGeometry layout = ViewGeometry::of(self);
  layout.select(dim, index);
  return view_with(self, layout);
}

OPGEN_KERNEL(slice)
(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
 int64_t step) {
  OPGEN_CHECK(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  OPGEN_CHECK_VALUE(step > 0, "slice step must be positive");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  const auto clamped = [size](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + size : place, 0, size);
  };
  const int64_t first = clamped(start.value_or(0));
  const int64_t last = std::max(first, end.has_value() ? clamped(*end) : size);
  ViewGeometry layout = ViewGeometry::of(self);
  const int64_t length = last - first;
  layout.slice(dim, first, length / step + (length % step != 0 ? 1 : 0), step);
  return view_with(self, layout);
}

OPGEN_KERNEL(narrow_symint)(const Tensor& self, int64_t dim, SymInt start, SymInt length) {
  OPGEN_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  OPGEN_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t size = self.size(wrap_dim(dim, self.dim()));
  OPGEN_CHECK_INDEX(-size <= start && start <= size,
                    "start out of range (expected to be in range of [", -size, ", ", size,
                    "], but got ", start, ")");
  if (start < 0) start += size;
  OPGEN_CHECK(start <= size - length, "start (", start, ") + length (", length,
              ") exceeds dimension size (", size, ").");
  return at::slice(self, dim, start, start + length, 1);
}
OPGEN_KERNEL(narrow_tensor_symint)
(const Tensor& self, int64_t dim, const Tensor& start, SymInt length) {
  OPGEN_CHECK(start.dim() == 0 && isIntegralType(start.scalar_type(), /*include_bool=*/false),
              "start must be an 0-dim integral Tensor.");
  return at::narrow(self, dim, start.item().toLong(), length);
}

OPGEN_KERNEL(diagonal)(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t rows = wrap_dim(dim1, self.dim()), columns = wrap_dim(dim2, self.dim());
  OPGEN_CHECK(rows != columns, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  ViewGeometry layout = ViewGeometry::of(self);
  const int64_t row_stride = layout.strides[rows], column_stride = layout.strides[columns];
  const int64_t count = offset >= 0 ? std::min(self.size(rows), self.size(columns) - offset)
                                    : std::min(self.size(rows) + offset, self.size(columns));
  if (count > 0)
    layout.storage_offset += offset >= 0 ? offset * column_stride : -offset * row_stride;
  layout.remove(std::max(rows, columns));
  layout.remove(std::min(rows, columns));
  layout.append(std::max<int64_t>(count, 0),
                ViewGeometry::diagonal_stride(row_stride, column_stride));
  return view_with(self, layout);
}

OPGEN_KERNEL(slice_scatter)
(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
 std::optional<int64_t> end, int64_t step) {
  Tensor out = clone_in_layout(self);
  const Tensor part = at::slice(out, dim, start, end, step);
  OPGEN_CHECK(same_sizes(part.sizes(), src.sizes()),
              "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
              ", slice size = ", part.sizes());
  opgen::copy_(part, src);
  return out;
}
// Returns the whole tensor, with the layout of `src`, of which `self` is a slice.
OPGEN_KERNEL(slice_inverse_symint)
(const Tensor& self, const Tensor& src, int64_t dim, std::optional<SymInt> start,
 std::optional<SymInt> end, SymInt step) {
  const Tensor part = at::slice(src, dim, start, end, step);
  OPGEN_CHECK(same_sizes(part.sizes(), self.sizes()), "slice_inverse: self has size ", self.sizes(),
              ", but a slice of src has size ", part.sizes());
  return at::as_strided(self, src.sizes(), src.strides(), src.storage_offset());
}

// ---- squeeze, unsqueeze ----

namespace {

// Removes the dimensions of size 1 for which `is_named(d)` is true.
template <class F>
ViewGeometry squeezed(const Tensor& self, F is_named) {
  ViewGeometry layout{{}, {}, self.storage_offset()};
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 1 && is_named(d)) continue;
    layout.append(self.size(d), self.stride(d));
  }
  return layout;
}

ViewGeometry squeezed_all(const Tensor& self) {
  return squeezed(self, [](int64_t) { return true; });
}
ViewGeometry squeezed_one(const Tensor& self, int64_t dim) {
  const int64_t named = wrap_dim(dim, self.dim());
  return squeezed(self, [named](int64_t d) { return d == named; });
}
ViewGeometry squeezed_some(const Tensor& self, IntArrayRef dims) {
  const DimMask mask = mask_of_listed(dims, self.dim());
  return squeezed(self, [mask](int64_t d) { return has_dim(mask, d); });
}

ViewGeometry unsqueezed(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim() + 1);
  ViewGeometry layout = ViewGeometry::of(self);
  layout.unsqueeze(dim);
  return layout;
}

}  // namespace

OPGEN_KERNEL(squeeze)(const Tensor& self) {
  return view_with(self, squeezed_all(self));
}
OPGEN_KERNEL(squeeze)(const Tensor& self, int64_t dim) {
  return view_with(self, squeezed_one(self, dim));
}
OPGEN_KERNEL(squeeze)(const Tensor& self, IntArrayRef dim) {
  return view_with(self, squeezed_some(self, dim));
}
OPGEN_KERNEL(squeeze_)(Tensor& self) {
  return lay_out(self, squeezed_all(self));
}
OPGEN_KERNEL(squeeze_)(Tensor& self, int64_t dim) {
  return lay_out(self, squeezed_one(self, dim));
}
OPGEN_KERNEL(squeeze_)(Tensor& self, IntArrayRef dim) {
  return lay_out(self, squeezed_some(self, dim));
}
OPGEN_KERNEL(unsqueeze)(const Tensor& self, int64_t dim) {
  return view_with(self, unsqueezed(self, dim));
}
OPGEN_KERNEL(unsqueeze_)(Tensor& self, int64_t dim) {
  return lay_out(self, unsqueezed(self, dim));
}

// ---- reshape and flatten: a view if strides allow it, else a copy ----

OPGEN_KERNEL(reshape_symint)(const Tensor& self, SymIntArrayRef shape) {
  const DimVector size = opgen::infer_view_size(shape, self.numel());
  const std::optional<DimVector> strides = opgen::computeStride(self.sizes(), self.strides(), size);
  if (strides.has_value()) return self.view(size);
  return at::clone(self, MemoryFormat::Contiguous).view(size);
}
OPGEN_KERNEL(reshape_as)(const Tensor& self, const Tensor& other) {
  return self.reshape(other.sizes());
}
OPGEN_KERNEL(view_as)(const Tensor& self, const Tensor& other) {
  return self.view(other.sizes());
}
OPGEN_KERNEL(flatten)(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  start_dim = wrap_dim(start_dim, self.dim());
  end_dim = wrap_dim(end_dim, self.dim());
  OPGEN_CHECK(start_dim <= end_dim,
              "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return self.reshape({1});
  if (start_dim == end_dim) return self;
  DimVector shape;
  Size flat = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d >= start_dim && d <= end_dim) flat *= self.size(d);
    if (d < start_dim || d > end_dim) shape.push_back(self.size(d));
    if (d == end_dim) shape.push_back(flat);
  }
  return self.reshape(shape);
}

// ---- split, chunk, unbind ----

OPGEN_KERNEL(split_with_sizes)(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  OPGEN_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  dim = wrap_dim(dim, self.dim());
  std::vector<Tensor> parts;
  const int64_t size = self.size(dim);
  int64_t start = 0;
  bool fits = true;
  for (int64_t length : split_sizes) {
    OPGEN_CHECK(
        length >= 0,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=",
        split_sizes);
    // Compare before adding: a sum of lengths may overflow.
    if (length > size - start) fits = false;
    if (!fits) continue;
    parts.push_back(at::slice(self, dim, start, start + length, 1));
    start += length;
  }
  OPGEN_CHECK(fits && start == size, "split_with_sizes expects split_sizes to sum exactly to ",
              self.size(dim), " (input tensor's size at dimension ", dim,
              "), but got split_sizes=", split_sizes);
  return parts;
}
OPGEN_KERNEL(split)(const Tensor& self, int64_t split_size, int64_t dim) {
  OPGEN_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  OPGEN_CHECK(split_size >= 0,
              "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t size = self.size(dim);
  OPGEN_CHECK(split_size > 0 || size == 0,
              "split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
  if (size == 0) return std::vector<Tensor>{at::slice(self, dim, 0, 0, 1)};
  std::vector<Tensor> parts = room_for((size - 1) / split_size + 1);
  for (int64_t start = 0;;) {
    const int64_t length = std::min(split_size, size - start);
    parts.push_back(at::slice(self, dim, start, start + length, 1));
    start += length;
    if (start == size) return parts;
  }
}
OPGEN_KERNEL(split_symint)(const Tensor& self, SymIntArrayRef split_size, int64_t dim) {
  return at::split_with_sizes(self, split_size, dim);
}
OPGEN_KERNEL(chunk)(const Tensor& self, int64_t chunks, int64_t dim) {
  OPGEN_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  OPGEN_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t size = self.size(dim);
  // An empty dimension is split into as many empty parts as requested.
  if (size == 0) return at::split_with_sizes(self, DimVector(static_cast<size_t>(chunks), 0), dim);
  return at::split(self, size / chunks + (size % chunks != 0 ? 1 : 0), dim);
}
OPGEN_KERNEL(unbind)(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  OPGEN_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  std::vector<Tensor> parts = room_for(self.size(dim));
  for (int64_t i = 0; i < self.size(dim); ++i) parts.push_back(at::select(self, dim, i));
  return parts;
}

namespace {

void check_count(TensorList out, const std::vector<Tensor>& parts, const char* name) {
  OPGEN_CHECK(out.size() == parts.size(), name, "_out() expected an out= argument of size ",
              parts.size(), ", got size ", out.size());
}

}  // namespace

OPGEN_KERNEL(split_copy_Tensor_out)
(const Tensor& self, int64_t split_size, int64_t dim, TensorList out) {
  // These outputs keep shape and dtype, as in PyTorch; those of the two operators below are
  // resized.
  const std::vector<Tensor> parts = at::split(self, split_size, dim);
  check_count(out, parts, "split_copy");
  for (size_t i = 0; i < parts.size(); ++i) opgen::copy_(out[i], parts[i]);
}
OPGEN_KERNEL(split_with_sizes_copy_out)
(const Tensor& self, IntArrayRef split_sizes, int64_t dim, TensorList out) {
  const std::vector<Tensor> parts = at::split_with_sizes(self, split_sizes, dim);
  check_count(out, parts, "split_with_sizes_copy");
  opgen::assign_outputs(parts, out);
}
OPGEN_KERNEL(unbind_copy_int_out)(const Tensor& self, int64_t dim, TensorList out) {
  const std::vector<Tensor> parts = at::unbind(self, dim);
  check_count(out, parts, "unbind_copy");
  opgen::assign_outputs(parts, out);
}
