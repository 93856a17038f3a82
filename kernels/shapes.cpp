// shapes.cpp: composites that cut, join, arrange and embed tensors.
#include <opgen/kernel.h>

#include <string>

#include <aten/ops/atleast_1d.h>
#include <aten/ops/atleast_1d_native.h>
#include <aten/ops/atleast_2d.h>
#include <aten/ops/atleast_2d_native.h>
#include <aten/ops/atleast_3d.h>
#include <aten/ops/atleast_3d_native.h>
#include <aten/ops/block_diag_native.h>
#include <aten/ops/cartesian_prod_native.h>
#include <aten/ops/cat.h>
#include <aten/ops/cumsum.h>
#include <aten/ops/cumulative_trapezoid_native.h>
#include <aten/ops/diag_embed_native.h>
#include <aten/ops/diagonal_scatter_native.h>
#include <aten/ops/diff.h>
#include <aten/ops/diff_native.h>
#include <aten/ops/dsplit_native.h>
#include <aten/ops/flip.h>
#include <aten/ops/hsplit_native.h>
#include <aten/ops/index_select.h>
#include <aten/ops/kron.h>
#include <aten/ops/kron_native.h>
#include <aten/ops/logical_xor.h>
#include <aten/ops/meshgrid.h>
#include <aten/ops/meshgrid_native.h>
#include <aten/ops/mul.h>
#include <aten/ops/repeat_interleave.h>
#include <aten/ops/repeat_interleave_native.h>
#include <aten/ops/rot90_native.h>
#include <aten/ops/select_scatter_native.h>
#include <aten/ops/stack.h>
#include <aten/ops/sub.h>
#include <aten/ops/tensor_split.h>
#include <aten/ops/tensor_split_native.h>
#include <aten/ops/trapezoid.h>
#include <aten/ops/trapezoid_native.h>
#include <aten/ops/trapz_native.h>
#include <aten/ops/unflatten_native.h>
#include <aten/ops/vsplit_native.h>
#include <aten/ops/zeros.h>

#include <opgen/cpu/loops.h>
#include <opgen/cpu/vec.h>
#include <opgen/tensor/memory_overlap.h>

#include "common.h"
#include "composite.h"
#include "devices.h"
#include "layout.h"
#include "optional.h"
#include "plain.h"

using namespace kernels;

// ---- More dimensions ----

OPGEN_KERNEL2(atleast_1d, default)(const Tensor& self) {
  return self.dim() == 0 ? self.reshape({1}) : self;
}
OPGEN_KERNEL2(atleast_2d, default)(const Tensor& self) {
  if (self.dim() == 0) return self.reshape({1, 1});
  return self.dim() == 1 ? self.unsqueeze(0) : self;
}
OPGEN_KERNEL2(atleast_3d, default)(const Tensor& self) {
  if (self.dim() == 0) return self.reshape({1, 1, 1});
  if (self.dim() == 1) return self.unsqueeze(0).unsqueeze(-1);
  return self.dim() == 2 ? self.unsqueeze(-1) : self;
}

namespace {

template <class F>
std::vector<Tensor> each_of(TensorList tensors, F f) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(f(tensor));
  return result;
}

}  // namespace

OPGEN_KERNEL2(atleast_1d, Sequence)(TensorList tensors) {
  return each_of(tensors, [](const Tensor& x) { return at::atleast_1d(x); });
}
OPGEN_KERNEL2(atleast_2d, Sequence)(TensorList tensors) {
  return each_of(tensors, [](const Tensor& x) { return at::atleast_2d(x); });
}
OPGEN_KERNEL2(atleast_3d, Sequence)(TensorList tensors) {
  return each_of(tensors, [](const Tensor& x) { return at::atleast_3d(x); });
}

OPGEN_KERNEL(unflatten)(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  OPGEN_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  OPGEN_CHECK(self.dim() > 0, "unflatten: a tensor without dimensions cannot be split");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  Size known = 1;
  std::optional<size_t> open;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      OPGEN_CHECK(!open.has_value(), "only one dimension can be inferred");
      open = i;
    } else {
      OPGEN_CHECK(sizes[i] >= 0, "invalid shape dimension ", sizes[i]);
      known *= sizes[i];
    }
  }
  OPGEN_CHECK(!open.has_value() || known != 0 || size != 0,
              "unflatten: a size cannot be inferred from ", sizes,
              " for a dimension without "
              "elements");
  OPGEN_CHECK(open.has_value() ? known != 0 && size % known == 0 : known == size,
              "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", dim,
              " (", size, ") in the input tensor");
  DimVector shape(self.sizes());
  shape.erase(shape.begin() + dim);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t part = open == i ? size / known : sizes[i];
    shape.insert(shape.begin() + dim + static_cast<int64_t>(i), part);
  }
  return self.view(shape);
}

OPGEN_KERNEL(rot90)(const Tensor& self, int64_t k, IntArrayRef dims) {
  OPGEN_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  OPGEN_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  const int64_t one = wrap_dim(dims[0], self.dim()), two = wrap_dim(dims[1], self.dim());
  OPGEN_CHECK(one != two, "expected rotation dims to be different, but got dim0 = ", dims[0],
              " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1:
      return at::flip(self, {two}).transpose_(one, two);
    case 2:
      return at::flip(self, {one, two});
    case 3:
      return at::flip(self, {one}).transpose_(one, two);
    default:
      return self.clone(MemoryFormat::Contiguous);
  }
}

// ---- Parts ----

namespace {

std::vector<Tensor> split_at(const Tensor& self, IntArrayRef ends, int64_t dim) {
  std::vector<Tensor> parts;
  int64_t first = 0;
  for (int64_t end : ends) {
    parts.push_back(self.slice(dim, first, end, 1));
    first = end;
  }
  parts.push_back(self.slice(dim, first, self.size(dim), 1));
  return parts;
}

// The first parts are longer by one, if the parts cannot be equally long.
std::vector<Tensor> split_into(const Tensor& self, int64_t sections, int64_t dim) {
  OPGEN_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  const int64_t size = self.size(dim), least = size / sections, more = size % sections;
  std::vector<Tensor> parts = room_for(sections);
  int64_t first = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = least + (i < more ? 1 : 0);
    parts.push_back(self.slice(dim, first, first + length, 1));
    first += length;
  }
  return parts;
}

int64_t tensor_split_dim(const Tensor& self, int64_t dim) {
  OPGEN_CHECK(self.dim() > 0,
              "tensor_split expected at least a 1-dimensional tensor, but got a "
              "tensor with 0 dims");
  return wrap_dim(dim, self.dim());
}

// The dimension that hsplit, vsplit and dsplit cut: the second, the first and the third one.
int64_t split_dim(const char* name, const Tensor& self, int64_t dim) {
  const int64_t least = name[0] == 'h' ? 1 : dim == 0 ? 2 : 3;
  OPGEN_CHECK(self.dim() >= least, "torch.", name, " requires a tensor with at least ", least,
              " dimension", least == 1 ? "" : "s", ", but got a tensor with ", self.dim(),
              " dimensions!");
  return name[0] == 'h' && self.dim() == 1 ? 0 : dim;
}

std::vector<Tensor> split_evenly(const char* name, const Tensor& self, int64_t sections,
                                 int64_t dim) {
  dim = split_dim(name, self, dim);
  OPGEN_CHECK(sections != 0 && self.size(dim) % sections == 0, "torch.", name,
              " attempted to split along dimension ", dim, ", but the size of the dimension ",
              self.size(dim), " is not divisible by the split_size ", sections, "!");
  return split_into(self, sections, dim);
}

}  // namespace

OPGEN_KERNEL(tensor_split)(const Tensor& self, int64_t sections, int64_t dim) {
  return split_into(self, sections, tensor_split_dim(self, dim));
}
OPGEN_KERNEL(tensor_split)(const Tensor& self, IntArrayRef indices, int64_t dim) {
  return split_at(self, indices, tensor_split_dim(self, dim));
}
OPGEN_KERNEL(tensor_split)
(const Tensor& self, const Tensor& tensor_indices_or_sections, int64_t dim) {
  tensor_split_dim(self, dim);
  const Tensor& given = tensor_indices_or_sections;
  OPGEN_CHECK(given.device().is_cpu(),
              "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on ",
              given.device());
  OPGEN_CHECK(given.scalar_type() == kLong,
              "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
              given.scalar_type());
  OPGEN_CHECK(given.dim() <= 1,
              "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
              "one-dimensional tensor, but got a tensor with ",
              given.dim(), " dims");
  if (given.dim() == 0) return at::tensor_split(self, given.item().toLong(), dim);
  room_for(given.numel());
  DimVector places;
  for (int64_t i = 0; i < given.numel(); ++i) {
    places.push_back(given.select(0, i).item().toLong());
  }
  return at::tensor_split(self, IntArrayRef(places), dim);
}
OPGEN_KERNEL(hsplit)(const Tensor& self, int64_t sections) {
  return split_evenly("hsplit", self, sections, 1);
}
OPGEN_KERNEL(hsplit)(const Tensor& self, IntArrayRef indices) {
  return split_at(self, indices, split_dim("hsplit", self, 1));
}
OPGEN_KERNEL(vsplit)(const Tensor& self, int64_t sections) {
  return split_evenly("vsplit", self, sections, 0);
}
OPGEN_KERNEL(vsplit)(const Tensor& self, IntArrayRef indices) {
  return split_at(self, indices, split_dim("vsplit", self, 0));
}
OPGEN_KERNEL(dsplit)(const Tensor& self, int64_t sections) {
  return split_evenly("dsplit", self, sections, 2);
}
OPGEN_KERNEL(dsplit)(const Tensor& self, IntArrayRef indices) {
  return split_at(self, indices, split_dim("dsplit", self, 2));
}

// ---- Grids ----

OPGEN_KERNEL(meshgrid)(TensorList tensors) {
  OPGEN_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  const auto count = static_cast<int64_t>(tensors.size());
  DimVector shape;
  for (const Tensor& tensor : tensors) {
    OPGEN_CHECK(tensor.dim() <= 1,
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list "
                "but got: ",
                tensor);
    OPGEN_CHECK(tensor.scalar_type() == tensors[0].scalar_type(),
                "torch.meshgrid expects all tensors to have the same dtype");
    check_same_device("torch.meshgrid", tensors[0], tensor);
    shape.push_back(tensor.numel());
  }
  std::vector<Tensor> grids;
  for (int64_t i = 0; i < count; ++i) {
    DimVector line(static_cast<size_t>(count), 1);
    line[static_cast<size_t>(i)] = tensors[static_cast<size_t>(i)].numel();
    grids.push_back(Tensor(tensors[static_cast<size_t>(i)]).view(line).expand(shape));
  }
  return grids;
}
OPGEN_KERNEL(meshgrid)(TensorList tensors, std::string_view indexing) {
  OPGEN_CHECK(indexing == "ij" || indexing == "xy",
              "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  if (indexing == "ij" || tensors.size() < 2) return at::meshgrid(tensors);
  std::vector<Tensor> swapped(tensors.begin(), tensors.end());
  std::swap(swapped[0], swapped[1]);
  std::vector<Tensor> grids = at::meshgrid(swapped);
  std::swap(grids[0], grids[1]);
  return grids;
}

OPGEN_KERNEL(cartesian_prod)(TensorList tensors) {
  for (const Tensor& tensor : tensors) {
    OPGEN_CHECK(tensor.dim() == 1, "Expect a 1D vector, but got shape ", tensor.sizes());
  }
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = at::meshgrid(tensors);
  for (Tensor& column : columns) column = column.reshape({-1});
  return at::stack(columns, 1);
}

// ---- Diagonals ----

OPGEN_KERNEL(diag_embed)(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t ndim = self.dim() + 1, one = wrap_dim(dim1, ndim), two = wrap_dim(dim2, ndim);
  OPGEN_CHECK(one != two, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t side = self.size(-1) + (offset < 0 ? -Size(offset) : Size(offset));
  DimVector shape(self.sizes());
  shape.pop_back();
  shape.insert(shape.begin() + std::min(one, two), side);
  shape.insert(shape.begin() + std::max(one, two), side);
  Tensor result = at::zeros(shape, self.options());
  result.diagonal(offset, one, two).copy_(self);
  return result;
}

OPGEN_KERNEL(block_diag)(TensorList tensors) {
  if (tensors.empty()) return at::zeros({1, 0});
  std::vector<Tensor> blocks;
  opgen::ResultTypeState state;
  Size rows = 0, columns = 0;
  for (const Tensor& tensor : tensors) {
    OPGEN_CHECK(tensor.dim() <= 2,
                "torch.block_diag: Input tensors must have 2 or fewer "
                "dimensions. Input ",
                blocks.size(), " has ", tensor.dim(), " dimensions");
    OPGEN_CHECK(tensor.device() == tensors[0].device(),
                "torch.block_diag: input tensors must all be on the same device. Input 0 is on "
                "device ",
                tensors[0].device(), " and input ", blocks.size(), " is on device ",
                tensor.device());
    state = opgen::update_result_type(tensor, state);
    blocks.push_back(at::atleast_2d(tensor));
    rows += blocks.back().size(0);
    columns += blocks.back().size(1);
  }
  const ScalarType dtype = opgen::result_type(state);
  Tensor result = at::zeros({rows, columns}, tensors[0].options().dtype(dtype));
  int64_t row = 0, column = 0;
  for (const Tensor& block : blocks) {
    result.narrow(0, row, block.size(0)).narrow(1, column, block.size(1)).copy_(block);
    row += block.size(0);
    column += block.size(1);
  }
  return result;
}

namespace {

// A copy of `self`, with other elements in a part of it.
template <class Part>
Tensor with_part(const char* name, const Tensor& self, const Tensor& src, Part part) {
  Tensor result = clone_in_layout(self);
  Tensor written = part(result);
  OPGEN_CHECK(same_sizes(written.sizes(), src.sizes()), name,
              ": expected src to have a size equal to the slice of self. src size = ", src.sizes(),
              ", slice size = ", written.sizes());
  written.copy_(src);
  return result;
}

}  // namespace

OPGEN_KERNEL(select_scatter)
(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  return with_part("select_scatter", self, src,
                   [&](const Tensor& x) { return x.select(dim, index); });
}
OPGEN_KERNEL(diagonal_scatter)
(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  return with_part("diagonal_scatter", self, src,
                   [&](const Tensor& x) { return x.diagonal(offset, dim1, dim2); });
}

// ---- Repetition ----

OPGEN_KERNEL(repeat_interleave_cpu)(const Tensor& repeats, std::optional<SymInt> output_size) {
  OPGEN_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  OPGEN_CHECK(repeats.scalar_type() == kLong || repeats.scalar_type() == kInt,
              "repeats has to be Long or Int tensor");
  const Tensor counts = opgen::contiguous(to_dtype(repeats, kLong));
  const int64_t* count = counts.const_data_ptr<int64_t>();
  Size total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    OPGEN_CHECK(count[i] >= 0, "repeats can not be negative");
    total += count[i];
  }
  if (output_size.has_value() && counts.numel() > 0) {
    OPGEN_CHECK(static_cast<int64_t>(*output_size) == total,
                "allocated size does not match required size");
  }
  const Tensor result = opgen::empty({total}, repeats.options());
  OPGEN_DISPATCH_INTEGRAL(repeats.scalar_type(), "repeat_interleave", [&] {
    scalar_t* to = result.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < counts.numel(); ++i) {
      to = std::fill_n(to, count[i], static_cast<scalar_t>(i));
    }
  });
  return result;
}
OPGEN_KERNEL(repeat_interleave)
(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
 std::optional<SymInt> output_size) {
  const Tensor flat = dim.has_value() ? self : self.reshape({-1});
  const int64_t along = wrap_dim(dim.value_or(0), flat.dim());
  const Tensor line = flat.dim() == 0 ? flat.unsqueeze(0) : flat;
  Tensor counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1)) {
    counts = repeats.reshape({1}).expand({line.size(along)});
  } else {
    OPGEN_CHECK(repeats.dim() == 1, "repeats must be 0-dim or 1-dim tensor");
    OPGEN_CHECK(repeats.size(0) == line.size(along),
                "repeats must have the same size as input along dim, but got repeats.size(0) = ",
                repeats.size(0), " and input.size(", along, ") = ", line.size(along));
  }
  return at::index_select(line, along, at::repeat_interleave(counts, output_size));
}
OPGEN_KERNEL(repeat_interleave)
(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
 std::optional<SymInt> output_size) {
  const Tensor flat = dim.has_value() ? self : self.reshape({-1});
  const Tensor line = flat.dim() == 0 ? flat.unsqueeze(0) : flat;
  const int64_t along = wrap_dim(dim.value_or(0), line.dim());
  OPGEN_CHECK(repeats >= 0, "Repeats must be non-negative");
  const int64_t repeated = Size(repeats) * line.size(along);
  OPGEN_CHECK(!output_size.has_value() || static_cast<int64_t>(*output_size) == repeated,
              "repeat_interleave: Invalid output_size, expected ", repeated);
  DimVector shape(line.sizes());
  shape.insert(shape.begin() + along + 1, repeats);
  DimVector result(line.sizes());
  result[static_cast<size_t>(along)] = repeated;
  return line.unsqueeze(along + 1).expand(shape).clone(MemoryFormat::Contiguous).view(result);
}

// ---- Differences and areas along a dimension ----

namespace {

// The tensor whose neighbours are subtracted.
Tensor joined(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
              const std::optional<Tensor>& append) {
  OPGEN_CHECK(self.dim() > 0, "diff expects input to be at least one-dimensional");
  OPGEN_CHECK(n >= 0, "order must be non-negative but got ", n);
  dim = wrap_dim(dim, self.dim());
  const auto check = [&](const std::optional<Tensor>& other) {
    if (is_given(other)) check_same_device("diff", self, *other);
    OPGEN_CHECK(!is_given(other) || other->dim() == self.dim(),
                "diff expects prepend or append to be the same dimension as input");
    for (int64_t d = 0; is_given(other) && d < self.dim(); ++d) {
      OPGEN_CHECK(d == dim || other->size(d) == self.size(d),
                  "diff expects the shape of tensor to prepend or append to match that of input "
                  "except along the differencing dimension; input.size(",
                  d, ") = ", self.size(d), ", but got ", other->size(d));
    }
  };
  check(prepend);
  check(append);
  // As in PyTorch, nothing is joined for order 0.
  if (n == 0 || (!is_given(prepend) && !is_given(append))) return self;
  std::vector<Tensor> parts;
  if (is_given(prepend)) parts.push_back(*prepend);
  parts.push_back(self);
  if (is_given(append)) parts.push_back(*append);
  return at::cat(parts, dim);
}

// All elements along `dim` but the first, and all but the last.
std::pair<Tensor, Tensor> neighbours(const Tensor& all, int64_t dim) {
  const int64_t size = all.size(dim);
  const int64_t left = std::max<int64_t>(0, size - 1), first = std::min<int64_t>(1, size);
  return {all.narrow(dim, first, left), all.narrow(dim, 0, left)};
}

}  // namespace

OPGEN_KERNEL(diff)
(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
 const std::optional<Tensor>& append) {
  Tensor all = joined(self, n, dim, prepend, append);
  if (n == 0) return all.clone(std::nullopt);
  dim = wrap_dim(dim, self.dim());
  n = std::min(n, all.size(dim));
  for (int64_t i = 0; i < n; ++i) {
    const auto [later, earlier] = neighbours(all, dim);
    all = all.scalar_type() == kBool ? at::logical_xor(later, earlier) : at::sub(later, earlier, 1);
  }
  return all;
}
OPGEN_KERNEL(diff_out)
(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
 const std::optional<Tensor>& append, Tensor& out) {
  const Tensor all = joined(self, n, dim, prepend, append);
  dim = wrap_dim(dim, self.dim());
  // The last step writes the output.
  if (n > 0 && all.size(dim) > 0 && is_plain(all) && is_plain(out) &&
      out.scalar_type() == all.scalar_type() && !opgen::share_elements(out, all)) {
    const Tensor last = n == 1 ? all : at::diff(all, n - 1, dim, std::nullopt, std::nullopt);
    if (last.size(dim) > 0) {
      const auto [later, earlier] = neighbours(last, dim);
      return all.scalar_type() == kBool ? at::logical_xor_out(out, later, earlier)
                                        : at::sub_out(out, later, earlier, 1);
    }
    return write_out(out, last);
  }
  const Tensor result = at::diff(all, n, dim, std::nullopt, std::nullopt);
  return write_out(out, result);
}

namespace {

// All elements of `y` along `dim` but the last, and all but the first.
Tensor earlier(const Tensor& y, int64_t dim) {
  return y.slice(dim, 0, -1, 1);
}
Tensor later(const Tensor& y, int64_t dim) {
  return y.slice(dim, 1, std::nullopt, 1);
}

// The distances of the places `x`, as a factor for differences of `y` along `dim`.
Tensor widths(const Tensor& y, const Tensor& x, int64_t dim) {
  if (x.dim() == 1) {
    OPGEN_CHECK(x.size(0) == y.size(dim),
                "trapezoid: There must be one `x` value for each sample point");
    DimVector shape(static_cast<size_t>(y.dim()), 1);
    shape[static_cast<size_t>(dim)] = x.size(0);
    const Tensor line = x.view(shape);
    return later(line, dim).sub(earlier(line, dim), 1);
  }
  Tensor places = x;
  if (x.dim() < y.dim()) {
    DimVector shape(static_cast<size_t>(y.dim() - x.dim()), 1);
    for (int64_t size : x.sizes()) shape.push_back(size);
    places = x.view(shape);
  }
  return later(places, dim).sub(earlier(places, dim), 1);
}

Tensor no_area(const Tensor& y, int64_t dim) {
  DimVector shape(y.sizes());
  shape.erase(shape.begin() + dim);
  return at::zeros(shape, y.options());
}

void check_distance(const char* name, const Tensor& y, const Scalar& dx) {
  OPGEN_CHECK(y.scalar_type() != kBool, name,
              ": received a bool input for `y`, but bool is not "
              "supported");
  OPGEN_CHECK(!dx.isBoolean(), name, ": Currently, we only support dx as a real number.");
}

void check_places(const char* name, const Tensor& y, const Tensor& x) {
  OPGEN_CHECK(y.scalar_type() != kBool && x.scalar_type() != kBool, name,
              ": received a bool input for `x` or `y`, but bool is not supported");
}

}  // namespace

OPGEN_KERNEL(trapezoid)(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = wrap_dim(dim, y.dim());
  if (y.size(dim) == 0) return no_area(y, dim);
  check_distance("trapezoid", y, dx);
  const Tensor ends = y.select(dim, 0).add(y.select(dim, -1), 1).mul(Scalar(0.5));
  return y.sum(dim).sub(ends, 1).mul(dx);
}
OPGEN_KERNEL(trapezoid)(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = wrap_dim(dim, y.dim());
  if (y.size(dim) == 0) return no_area(y, dim);
  check_places("trapezoid", y, x);
  const Tensor sums = earlier(y, dim).add(later(y, dim), 1);
  return widths(y, x, dim).mul(sums).sum(dim).div(Scalar(2));
}
OPGEN_KERNEL(trapz)(const Tensor& y, double dx, int64_t dim) {
  return at::trapezoid(y, Scalar(dx), dim);
}
OPGEN_KERNEL(trapz)(const Tensor& y, const Tensor& x, int64_t dim) {
  return at::trapezoid(y, x, dim);
}
OPGEN_KERNEL(cumulative_trapezoid)(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = wrap_dim(dim, y.dim());
  check_distance("cumulative_trapezoid", y, dx);
  const Tensor sums = earlier(y, dim).add(later(y, dim), 1);
  // Halves first: sums of integers would overflow.
  return sums.div(Scalar(2)).cumsum(dim, std::nullopt).mul(dx);
}
OPGEN_KERNEL(cumulative_trapezoid)(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = wrap_dim(dim, y.dim());
  check_places("cumulative_trapezoid", y, x);
  const Tensor sums = earlier(y, dim).add(later(y, dim), 1);
  return widths(y, x, dim).mul(sums).cumsum(dim, std::nullopt).div(Scalar(2));
}

// ---- Products of all elements with all ----

namespace {

// Both factors as views with twice the dimensions: the outer one repeats each element, and the
// inner one itself. `sizes` are those of their product, `shape` those of the result.
struct KroneckerFactors {
  Tensor outer, inner;
  DimVector sizes, shape;
};

KroneckerFactors kronecker_factors(const Tensor& self, const Tensor& other) {
  const int64_t ndim = std::max(self.dim(), other.dim());
  DimVector left, right;
  KroneckerFactors result;
  for (int64_t d = 0; d < ndim; ++d) {
    const int64_t i = d - ndim + self.dim(), j = d - ndim + other.dim();
    const int64_t outer = i < 0 ? 1 : self.size(i), inner = j < 0 ? 1 : other.size(j);
    left.push_back(outer);
    left.push_back(1);
    right.push_back(1);
    right.push_back(inner);
    result.sizes.push_back(outer);
    result.sizes.push_back(inner);
    result.shape.push_back(Size(outer) * inner);
  }
  result.outer = self.reshape(left);
  result.inner = other.reshape(right);
  return result;
}

// to[i] = factor * row[i].
template <class T, int bytes>
OPGEN_ALWAYS_INLINE void scale_here(T* to, T factor, const T* row, int64_t n) {
  using V = opgen::Vec<T, bytes>;
  const V factors(factor);
  int64_t i = 0;
  for (; i + V::size <= n; i += V::size) (factors * V::load(row + i)).store(to + i);
  for (; i < n; ++i) to[i] = factor * row[i];
}
// Multiples of one row, next to each other.
template <class T, int bytes>
OPGEN_ALWAYS_INLINE void scale_all_here(T* to, const T* factors, int64_t count, const T* row,
                                        int64_t n) {
  for (int64_t j = 0; j < count; ++j) scale_here<T, bytes>(to + j * n, factors[j], row, n);
}
#if OPGEN_LOOPS_AVX2
template <class T>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void scale_all_avx2(T* to, const T* factors, int64_t count,
                                                     const T* row, int64_t n) {
  scale_all_here<T, 32>(to, factors, count, row, n);
}
#endif
template <class T>
OPGEN_NOINLINE void scale_all(T* to, const T* factors, int64_t count, const T* row, int64_t n) {
#if OPGEN_LOOPS_AVX2
  if (opgen::get_cpu_capability() >= opgen::CPUCapability::AVX2)
    return scale_all_avx2(to, factors, count, row, n);
#endif
  scale_all_here<T, 16>(to, factors, count, row, n);
}

// Whether multiply_matrices computes the product of these factors: matrices row by row, with gaps.
bool are_plain_matrices(const Tensor& self, const Tensor& other) {
  const auto fits = [](const Tensor& x) {
    return is_plain(x) && x.dim() == 2 &&
           (x.is_contiguous() || (x.stride(1) > 0 && x.stride(0) >= x.size(1) * x.stride(1)));
  };
  return (self.scalar_type() == opgen::kFloat || self.scalar_type() == opgen::kDouble) &&
         other.scalar_type() == self.scalar_type() && fits(self) && fits(other);
}
// The rows of a product of matrices are too short for an iterator.
void multiply_matrices(const Tensor& self, const Tensor& other, const Tensor& out) {
  const int64_t columns = self.size(1), inner_rows = other.size(0), inner = other.size(1);
  const int64_t length = columns * inner;
  OPGEN_DISPATCH_FLOATING_TYPES(out.scalar_type(), "kron", [&] {
    const Tensor first = opgen::contiguous(self), second = opgen::contiguous(other);
    const scalar_t* left = first.const_data_ptr<scalar_t>();
    const scalar_t* right = second.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / std::max<int64_t>(1, length));
    opgen::parallel_for(0, out.size(0), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        scale_all(to + i * length, left + i / inner_rows * columns, columns,
                  right + i % inner_rows * inner, inner);
      }
    });
  });
}

}  // namespace

OPGEN_KERNEL(kron)(const Tensor& self, const Tensor& other) {
  if (are_plain_matrices(self, other)) {
    const Tensor out = opgen::empty(
        {Size(self.size(0)) * other.size(0), Size(self.size(1)) * other.size(1)}, self.options());
    multiply_matrices(self, other, out);
    return out;
  }
  const auto is_transposed = [](const Tensor& x) {
    return x.dim() == 2 && x.stride(0) == 1 && x.stride(1) == x.size(0);
  };
  if (is_transposed(self) && is_transposed(other) && is_plain(self) && is_plain(other) &&
      !self.is_contiguous() && !other.is_contiguous()) {
    return at::kron(self.t(), other.t()).t();
  }
  const KroneckerFactors factors = kronecker_factors(self, other);
  // The strides of the product follow those of the factors.
  return at::mul(factors.outer, factors.inner).reshape(factors.shape);
}
OPGEN_KERNEL(kron_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  // Nothing is copied if the product can be written to the output.
  if (is_plain(self) && is_plain(other) && is_plain(out) && out.is_contiguous() &&
      out.scalar_type() == opgen::result_type_of(self, other) &&
      !opgen::share_elements(out, self) && !opgen::share_elements(out, other)) {
    const KroneckerFactors factors = kronecker_factors(self, other);
    if (same_sizes(out.sizes(), factors.shape)) {
      if (are_plain_matrices(self, other)) {
        multiply_matrices(self, other, out);
        out.bump_version();
        return out;
      }
      Tensor product = out.view(factors.sizes);
      at::mul_out(product, factors.outer, factors.inner);
      return out;
    }
  }
  const Tensor result = at::kron(self, other);
  return write_out(out, result);
}
