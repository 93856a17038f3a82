// primitives.cpp: the runtime's own operators: their kernels, gradients and batching rules.
#include "opgen/autograd/primitives.h"

#include <algorithm>

#include "autograd/primitive_calls.h"
#include "autograd/sums.h"
#include "autograd/view_history.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/forward.h"
#include "opgen/core/small_vector.h"
#include "opgen/dispatch_macros.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/shape_utils.h"
#include "opgen/view_geometry.h"
#include "schema/boxed_kernel.h"

namespace opgen::primitive {

namespace {

IValue box_sizes(IntArrayRef sizes) {
  return IValue(std::vector<IValue>(sizes.begin(), sizes.end()));
}
DimVector unbox_sizes(const IValue& value) {
  DimVector sizes;
  for (const IValue& size : value.toList()) sizes.push_back(size.toInt());
  return sizes;
}

// ---- Kernels -----------------------------------------------------------------------------------

TensorBase select_kernel(const TensorBase& self, std::int64_t dim, std::int64_t index) {
  dim = maybe_wrap_dim(dim, self.dim(), false);
  std::int64_t size = self.size(dim);
  OPGEN_CHECK_INDEX(index >= -size && index < size, "index ", index, " is out of range for size ",
                    size);
  ViewGeometry geometry = ViewGeometry::of(self);
  geometry.select(dim, index < 0 ? index + size : index);
  return opgen::detail::view_with(self, geometry);
}

TensorBase unsqueeze_kernel(const TensorBase& self, std::int64_t dim) {
  ViewGeometry geometry = ViewGeometry::of(self);
  geometry.unsqueeze(maybe_wrap_dim(dim, self.dim() + 1, false));
  return opgen::detail::view_with(self, geometry);
}

TensorBase movedim_kernel(const TensorBase& self, std::int64_t from, std::int64_t to) {
  ViewGeometry geometry = ViewGeometry::of(self);
  geometry.move(maybe_wrap_dim(from, self.dim(), false), maybe_wrap_dim(to, self.dim(), false));
  return opgen::detail::view_with(self, geometry);
}

TensorBase stack_kernel(const std::vector<IValue>& tensors, std::int64_t dim) {
  OPGEN_CHECK(!tensors.empty(), "stack() needs at least one tensor");
  TensorBase first = tensors[0].toTensor();
  dim = maybe_wrap_dim(dim, first.dim() + 1, false);
  DimVector sizes(first.sizes());
  sizes.push_back(0);
  for (std::size_t d = sizes.size() - 1; d > static_cast<std::size_t>(dim); --d) {
    sizes[d] = sizes[d - 1];
  }
  sizes[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(tensors.size());
  TensorBase out = opgen::detail::empty(sizes, first.options());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    TensorBase tensor = tensors[i].toTensor();
    OPGEN_CHECK(tensor.sizes() == first.sizes(), "stack() needs tensors of the same shape, got ",
                first.sizes(), " and ", tensor.sizes());
    opgen::copy_(select_kernel(out, dim, static_cast<std::int64_t>(i)), tensor);
  }
  return out;
}

using autograd::internal::SliceGeometry;

SliceGeometry unbox_geometry(const IValue* a) {
  return {unbox_sizes(a[1]), unbox_sizes(a[2]), unbox_sizes(a[3]), unbox_sizes(a[4]), a[5].toInt()};
}
Stack box_geometry(const TensorBase& self, const SliceGeometry& geometry) {
  return {self,
          box_sizes(geometry.base_sizes),
          box_sizes(geometry.base_strides),
          box_sizes(geometry.sizes),
          box_sizes(geometry.strides),
          geometry.offset};
}

// A range of positions: the first one, and the one after the last. For a tensor without elements,
// both are the offset.
struct Range {
  std::int64_t first;
  std::int64_t end;
  static Range of(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
    std::int64_t last = offset;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 0) return {offset, offset};
      last += (sizes[d] - 1) * strides[d];
    }
    return {offset, last + 1};
  }
};

// A tensor with the sizes and strides of the base, and the view of it, which may reach beyond the
// base. Strides are never negative. Positions in neither of them contain zeros.
struct Whole {
  Whole(const SliceGeometry& geometry, const TensorOptions& options) {
    const Range base = Range::of(geometry.base_sizes, geometry.base_strides, 0);
    const Range view = Range::of(geometry.sizes, geometry.strides, geometry.offset);
    const std::int64_t first = std::min(base.first, view.first);
    bytes = opgen::detail::full({std::max(base.end, view.end) - first}, 0, options);
    full = opgen::detail::alias_with_sizes_and_strides(bytes, geometry.base_sizes,
                                                       geometry.base_strides, -first);
    offset = geometry.offset - first;
    part = opgen::detail::alias_with_sizes_and_strides(bytes, geometry.sizes, geometry.strides,
                                                       offset);
  }
  TensorBase bytes;
  TensorBase full;
  TensorBase part;
  std::int64_t offset;  // of `part`
};

TensorBase take_slice_kernel(const TensorBase& self, const SliceGeometry& geometry) {
  if (autograd::internal::holds_slice(self, geometry)) {
    return opgen::detail::clone(opgen::detail::alias_with_sizes_and_strides(
        self, geometry.sizes, geometry.strides, self.storage_offset() + geometry.offset));
  }
  Whole whole(geometry, self.options());
  opgen::copy_(whole.full, self);
  return opgen::detail::clone(whole.part);
}
// Whether two indices of a view may lie at one place. Never false if some do.
bool may_overlap(IntArrayRef sizes, IntArrayRef strides) {
  SmallVector<std::size_t, 8> dims;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return false;
    if (sizes[d] > 1) dims.push_back(d);
  }
  std::sort(dims.begin(), dims.end(),
            [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  std::int64_t extent = 0;  // of the dimensions of smaller strides
  for (std::size_t d : dims) {
    if (strides[d] <= extent) return true;
    extent += (sizes[d] - 1) * strides[d];
  }
  return false;
}

// Adds each element of `from` to its place in `to`, which may be that of others, too.
void add_each(const TensorBase& to, const TensorBase& from) {
  const TensorBase dense = opgen::detail::clone(from, MemoryFormat::Contiguous);
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(to.scalar_type(), "put_slice", [&] {
    const scalar_t* next = dense.const_data_ptr<scalar_t>();
    scalar_t* const first = to.mutable_data_ptr<scalar_t>();
    DimVector index(static_cast<std::size_t>(to.dim()));
    std::int64_t place = 0;
    for (std::int64_t left = to.numel(); left > 0; --left) {
      first[place] = static_cast<scalar_t>(first[place] + *next++);
      for (std::size_t d = index.size(); d-- > 0;) {
        place += to.strides()[d];
        if (++index[d] < to.sizes()[d]) break;
        place -= to.strides()[d] * index[d];
        index[d] = 0;
      }
    }
  });
}

TensorBase put_slice_kernel(const TensorBase& self, const SliceGeometry& geometry) {
  Whole whole(geometry, self.options());
  // The gradients of repeated elements in an expanded dimension are added up.
  DimVector sizes = geometry.sizes;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (geometry.strides[d] == 0 && sizes[d] > 1) sizes[d] = 1;
  }
  const TensorBase sum = sizes == geometry.sizes ? self : sum_to(self, sizes);
  const TensorBase part = opgen::detail::alias_with_sizes_and_strides(
      whole.bytes, sizes, geometry.strides, whole.offset);
  if (may_overlap(sizes, geometry.strides)) {
    OPGEN_CHECK_NOT_IMPLEMENTED(part.is_cpu(), "the gradient of a view of sizes ", geometry.sizes,
                                " and strides ", geometry.strides,
                                ", whose elements overlap, is not implemented for device ",
                                part.device());
    add_each(part, sum);
    return whole.full;
  }
  opgen::copy_(part, sum);
  return whole.full;
}
TensorBase without_slice_kernel(const TensorBase& self, const SliceGeometry& geometry) {
  Whole whole(geometry, self.options());
  opgen::copy_(whole.full, self);
  opgen::zero_(whole.part);
  return whole.full;
}

// ---- Gradients ---------------------------------------------------------------------------------

using autograd::AutogradContext;
using autograd::Gradients;

struct Add : autograd::Function<Add> {
  static TensorBase forward(AutogradContext*, TensorBase a, TensorBase b) {
    AutoDispatchBelowAutograd below;
    return add(a, b);
  }
  static Gradients backward(AutogradContext*, Gradients g) { return {g[0], g[0]}; }
};
struct Cast : autograd::Function<Cast> {
  static TensorBase forward(AutogradContext* ctx, TensorBase self, ScalarType dtype) {
    ctx->saved_data["dtype"] = self.scalar_type();
    AutoDispatchBelowAutograd below;
    return cast(self, dtype);
  }
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    return {cast(g[0], static_cast<ScalarType>(ctx->saved_data["dtype"].toInt())), {}};
  }
};
struct Expand : autograd::Function<Expand> {
  static TensorBase forward(AutogradContext* ctx, TensorBase self, DimVector sizes) {
    ctx->saved_data["sizes"] = box_sizes(self.sizes());
    AutoDispatchBelowAutograd below;
    return expand(self, sizes);
  }
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    return {sum_to(g[0], unbox_sizes(ctx->saved_data["sizes"])), {}};
  }
};
struct SumTo : autograd::Function<SumTo> {
  static TensorBase forward(AutogradContext* ctx, TensorBase self, DimVector sizes) {
    ctx->saved_data["sizes"] = box_sizes(self.sizes());
    AutoDispatchBelowAutograd below;
    return sum_to(self, sizes);
  }
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    return {expand(g[0], unbox_sizes(ctx->saved_data["sizes"])), {}};
  }
};
struct Unsqueeze : autograd::Function<Unsqueeze> {
  static TensorBase forward(AutogradContext* ctx, TensorBase self, std::int64_t dim) {
    ctx->saved_data["dim"] = maybe_wrap_dim(dim, self.dim() + 1, false);
    AutoDispatchBelowAutograd below;
    return unsqueeze(self, dim);
  }
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    return {select(g[0], ctx->saved_data["dim"].toInt(), 0), {}};
  }
};
struct Movedim : autograd::Function<Movedim> {
  static TensorBase forward(AutogradContext* ctx, TensorBase self, std::int64_t from,
                            std::int64_t to) {
    ctx->saved_data["from"] = from;
    ctx->saved_data["to"] = to;
    AutoDispatchBelowAutograd below;
    return movedim(self, from, to);
  }
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    return {movedim(g[0], ctx->saved_data["to"].toInt(), ctx->saved_data["from"].toInt()), {}, {}};
  }
};
// The gradient is zero except in one slice.
struct Select : autograd::Function<Select> {
  static TensorBase forward(AutogradContext* ctx, TensorBase self, std::int64_t dim,
                            std::int64_t index) {
    dim = maybe_wrap_dim(dim, self.dim(), false);
    ctx->saved_data["dim"] = dim;
    ctx->saved_data["index"] = index < 0 ? index + self.size(dim) : index;
    ctx->saved_data["size"] = self.size(dim);
    AutoDispatchBelowAutograd below;
    return select(self, dim, index);
  }
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    std::int64_t size = ctx->saved_data["size"].toInt();
    TensorBase zero = opgen::detail::full(g[0].sizes(), 0, g[0].options());
    std::vector<TensorBase> slices(static_cast<std::size_t>(size), zero);
    slices[static_cast<std::size_t>(ctx->saved_data["index"].toInt())] = g[0];
    return {stack(slices, ctx->saved_data["dim"].toInt()), {}, {}};
  }
};

// Functions on slices. The gradient of each is another of them, so second derivatives need no
// further code.
template <class Derived, auto kForward, auto kBackward>
struct SliceFunction : autograd::Function<Derived> {
  static TensorBase forward(AutogradContext* ctx, TensorBase self, SliceGeometry geometry) {
    ctx->saved_data["geometry"] = IValue(std::vector<IValue>{
        box_sizes(geometry.base_sizes), box_sizes(geometry.base_strides), box_sizes(geometry.sizes),
        box_sizes(geometry.strides), geometry.offset});
    AutoDispatchBelowAutograd below;
    return kForward(self, geometry);
  }
  static Gradients backward(AutogradContext* ctx, Gradients g) {
    std::vector<IValue> boxed(1);
    for (const IValue& value : ctx->saved_data["geometry"].toList()) boxed.push_back(value);
    return {kBackward(g[0], unbox_geometry(boxed.data())), {}};
  }
};
using autograd::internal::put_slice;
using autograd::internal::take_slice;
using autograd::internal::without_slice;
struct TakeSlice : SliceFunction<TakeSlice, &take_slice, &put_slice> {};
struct PutSlice : SliceFunction<PutSlice, &put_slice, &take_slice> {};
struct WithoutSlice : SliceFunction<WithoutSlice, &without_slice, &without_slice> {};

// A Function takes no lists, so this node is written by hand.
class StackNode final : public autograd::Node {
 public:
  explicit StackNode(std::int64_t dim) : dim_(dim) {}
  [[nodiscard]] std::string name() const override { return "StackBackward"; }
  [[nodiscard]] Gradients apply(Gradients g) override {
    Gradients result;
    for (std::size_t i = 0; i < next_edges().size(); ++i) {
      result.push_back(next_edges()[i].is_valid() ? select(g[0], dim_, static_cast<std::int64_t>(i))
                                                  : TensorBase());
    }
    return result;
  }

 private:
  std::int64_t dim_;
};
TensorBase record_stack(const std::vector<TensorBase>& tensors, std::int64_t dim) {
  TensorBase out;
  {
    AutoDispatchBelowAutograd below;
    out = stack(tensors, dim);
  }
  if (!autograd::any_requires_grad(tensors)) return out;
  auto node = autograd::make_node<StackNode>(maybe_wrap_dim(dim, out.dim(), false));
  for (const TensorBase& tensor : tensors) node->add_next_edge(autograd::gradient_edge(tensor));
  autograd::set_history(out, node);
  return out;
}

// ---- Tangents ----------------------------------------------------------------------------------

// All primitives are linear, so the tangent of a result is the result for the tangents.
template <class F>
TensorBase with_tangent(const TensorBase& self, F&& f) {
  if (!autograd::has_tangent(self)) return f(self);
  TensorBase result = f(autograd::primal_of(self));
  autograd::set_tangent(result, f(autograd::tangent_of(self)));
  return result;
}
TensorBase add_autograd(const TensorBase& a, const TensorBase& b) {
  if (!autograd::forward_mode_is_active()) return Add::apply(a, b);
  TensorBase result = Add::apply(autograd::primal_of(a), autograd::primal_of(b));
  const TensorBase of_a = autograd::tangent_of(a);
  const TensorBase of_b = autograd::tangent_of(b);
  if (!of_a.defined() && !of_b.defined()) return result;
  TensorBase tangent = !of_b.defined() ? of_a : of_a.defined() ? add(of_a, of_b) : of_b;
  tangent = cast(expand(tangent, result.sizes()), result.scalar_type());
  autograd::set_tangent(result, tangent);
  return result;
}
TensorBase stack_autograd(const std::vector<TensorBase>& tensors, std::int64_t dim) {
  std::vector<TensorBase> primals;
  std::vector<TensorBase> tangents;
  bool any = false;
  for (const TensorBase& tensor : tensors) {
    primals.push_back(autograd::primal_of(tensor));
    tangents.push_back(autograd::tangent_of(tensor));
    any |= tangents.back().defined();
  }
  TensorBase result = record_stack(primals, dim);
  if (!any) return result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tangents[i].defined()) continue;
    tangents[i] = opgen::detail::full(tensors[i].sizes(), 0, tensors[i].options());
  }
  autograd::set_tangent(result, record_stack(tangents, dim));
  return result;
}

// ---- Registration ------------------------------------------------------------------------------

std::vector<TensorBase> tensors_of(const IValue& list) {
  std::vector<TensorBase> tensors;
  for (const IValue& item : list.toList()) tensors.push_back(item.toTensor());
  return tensors;
}

OPGEN_LIBRARY(opgen, m) {
  const std::vector<std::string> pointwise{"pointwise"};
  m.def("add(Tensor self, Tensor other) -> Tensor", pointwise);
  m.def("cast(Tensor self, ScalarType dtype) -> Tensor", pointwise);
  m.def("expand(Tensor(a) self, int[] size) -> Tensor(a)");
  m.def("sum_to(Tensor self, int[] size) -> Tensor");
  m.def("select(Tensor(a) self, int dim, int index) -> Tensor(a)");
  m.def("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)");
  m.def("movedim(Tensor(a) self, int source, int destination) -> Tensor(a)");
  m.def("stack(Tensor[] tensors, int dim) -> Tensor");
  const std::string geometry =
      "int[] base_size, int[] base_stride, int[] size, int[] stride, int offset) -> Tensor";
  m.def("take_slice(Tensor self, " + geometry);
  m.def("put_slice(Tensor self, " + geometry);
  m.def("without_slice(Tensor self, " + geometry);
}
OPGEN_LIBRARY_IMPL(opgen, CPU, m) {
  m.impl("add", OPGEN_BOXED(2, add_kernel(a[0].toTensor(), a[1].toTensor())));
  m.impl("sum_to", OPGEN_BOXED(2, sum_to_kernel(a[0].toTensor(), unbox_sizes(a[1]))));
}
OPGEN_LIBRARY_IMPL(opgen, Meta, m) {
  m.impl("add", OPGEN_BOXED(2, add_kernel(a[0].toTensor(), a[1].toTensor())));
  m.impl("sum_to", OPGEN_BOXED(2, sum_to_kernel(a[0].toTensor(), unbox_sizes(a[1]))));
}
OPGEN_LIBRARY_IMPL(opgen, CompositeExplicitAutograd, m) {
  m.impl("cast", OPGEN_BOXED(2, opgen::detail::to_dtype(a[0].toTensor(),
                                                        static_cast<ScalarType>(a[1].toInt()))));
  m.impl("expand", OPGEN_BOXED(2, opgen::detail::expand_view(a[0].toTensor(), unbox_sizes(a[1]))));
  m.impl("select", OPGEN_BOXED(3, select_kernel(a[0].toTensor(), a[1].toInt(), a[2].toInt())));
  m.impl("unsqueeze", OPGEN_BOXED(2, unsqueeze_kernel(a[0].toTensor(), a[1].toInt())));
  m.impl("movedim", OPGEN_BOXED(3, movedim_kernel(a[0].toTensor(), a[1].toInt(), a[2].toInt())));
  m.impl("stack", OPGEN_BOXED(2, stack_kernel(a[0].toList(), a[1].toInt())));
  m.impl("take_slice", OPGEN_BOXED(6, take_slice_kernel(a[0].toTensor(), unbox_geometry(a))));
  m.impl("put_slice", OPGEN_BOXED(6, put_slice_kernel(a[0].toTensor(), unbox_geometry(a))));
  m.impl("without_slice", OPGEN_BOXED(6, without_slice_kernel(a[0].toTensor(), unbox_geometry(a))));
}
OPGEN_LIBRARY_IMPL(opgen, Autograd, m) {
  m.impl("add", OPGEN_BOXED(2, add_autograd(a[0].toTensor(), a[1].toTensor())));
  m.impl("cast", OPGEN_BOXED(2, with_tangent(a[0].toTensor(), [&](const TensorBase& t) {
                               return Cast::apply(t, static_cast<ScalarType>(a[1].toInt()));
                             })));
  m.impl("expand", OPGEN_BOXED(2, with_tangent(a[0].toTensor(), [&](const TensorBase& t) {
                                 return Expand::apply(t, unbox_sizes(a[1]));
                               })));
  m.impl("sum_to", OPGEN_BOXED(2, with_tangent(a[0].toTensor(), [&](const TensorBase& t) {
                                 return SumTo::apply(t, unbox_sizes(a[1]));
                               })));
  m.impl("select", OPGEN_BOXED(3, with_tangent(a[0].toTensor(), [&](const TensorBase& t) {
                                 return Select::apply(t, a[1].toInt(), a[2].toInt());
                               })));
  m.impl("unsqueeze", OPGEN_BOXED(2, with_tangent(a[0].toTensor(), [&](const TensorBase& t) {
                                    return Unsqueeze::apply(t, a[1].toInt());
                                  })));
  m.impl("movedim", OPGEN_BOXED(3, with_tangent(a[0].toTensor(), [&](const TensorBase& t) {
                                  return Movedim::apply(t, a[1].toInt(), a[2].toInt());
                                })));
  m.impl("take_slice", OPGEN_BOXED(6, with_tangent(a[0].toTensor(), [&](const TensorBase& t) {
                                     return TakeSlice::apply(t, unbox_geometry(a));
                                   })));
  m.impl("put_slice", OPGEN_BOXED(6, with_tangent(a[0].toTensor(), [&](const TensorBase& t) {
                                    return PutSlice::apply(t, unbox_geometry(a));
                                  })));
  m.impl("without_slice", OPGEN_BOXED(6, with_tangent(a[0].toTensor(), [&](const TensorBase& t) {
                                        return WithoutSlice::apply(t, unbox_geometry(a));
                                      })));
  m.impl("stack", OPGEN_BOXED(2, stack_autograd(tensors_of(a[0]), a[1].toInt())));
}

}  // namespace

TensorBase add(const TensorBase& a, const TensorBase& b) {
  static const OperatorHandle op = find("opgen::add");
  return call(op, {a, b});
}
TensorBase cast(const TensorBase& self, ScalarType dtype) {
  if (self.scalar_type() == dtype) return self;
  static const OperatorHandle op = find("opgen::cast");
  return call(op, {self, dtype});
}
TensorBase expand(const TensorBase& self, IntArrayRef sizes) {
  if (self.sizes() == sizes) return self;
  static const OperatorHandle op = find("opgen::expand");
  return call(op, {self, box_sizes(sizes)});
}
TensorBase sum_to(const TensorBase& self, IntArrayRef sizes) {
  if (self.sizes() == sizes) return self;
  static const OperatorHandle op = find("opgen::sum_to");
  return call(op, {self, box_sizes(sizes)});
}
TensorBase select(const TensorBase& self, std::int64_t dim, std::int64_t index) {
  static const OperatorHandle op = find("opgen::select");
  return call(op, {self, dim, index});
}
TensorBase unsqueeze(const TensorBase& self, std::int64_t dim) {
  static const OperatorHandle op = find("opgen::unsqueeze");
  return call(op, {self, dim});
}
TensorBase movedim(const TensorBase& self, std::int64_t from, std::int64_t to) {
  if (from == to) return self;
  static const OperatorHandle op = find("opgen::movedim");
  return call(op, {self, from, to});
}
TensorBase stack(const std::vector<TensorBase>& tensors, std::int64_t dim) {
  static const OperatorHandle op = find("opgen::stack");
  return call(op, {IValue(std::vector<IValue>(tensors.begin(), tensors.end())), dim});
}

}  // namespace opgen::primitive

namespace opgen::autograd::internal {

bool holds_slice(const TensorBase& full, const SliceGeometry& geometry) noexcept {
  if (full.strides() != IntArrayRef(geometry.base_strides) || !full.has_storage()) return false;
  using primitive::Range;
  const Range base = Range::of(geometry.base_sizes, geometry.base_strides, 0);
  const Range view = Range::of(geometry.sizes, geometry.strides, geometry.offset);
  return view.first >= 0 && view.end <= base.end;
}

TensorBase take_slice(const TensorBase& full, const SliceGeometry& geometry) {
  static const OperatorHandle op = primitive::find("opgen::take_slice");
  return primitive::call(op, primitive::box_geometry(full, geometry));
}
TensorBase put_slice(const TensorBase& part, const SliceGeometry& geometry) {
  static const OperatorHandle op = primitive::find("opgen::put_slice");
  return primitive::call(op, primitive::box_geometry(part, geometry));
}
TensorBase without_slice(const TensorBase& full, const SliceGeometry& geometry) {
  static const OperatorHandle op = primitive::find("opgen::without_slice");
  return primitive::call(op, primitive::box_geometry(full, geometry));
}

}  // namespace opgen::autograd::internal
