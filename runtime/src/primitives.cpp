// primitives.cpp: the runtime's own operators: their kernels, gradients and batching rules.
#include "opgen/primitives.h"

#include "boxed_kernel.h"
#include "opgen/autograd.h"
#include "opgen/copy.h"
#include "opgen/cpu/loops.h"
#include "opgen/dispatch_macros.h"
#include "opgen/factories.h"
#include "opgen/iterator.h"
#include "opgen/reduce.h"
#include "opgen/shape_utils.h"

namespace opgen::primitive {

namespace {

// A primitive's handle, looked up once; the library below defines it for the life of the process.
OperatorHandle find(const char* name) {
  return Dispatcher::singleton().findSchemaOrThrow(name, "");
}

TensorBase call(const OperatorHandle& op, Stack stack) {
  std::uint64_t bits = 0;
  for (const IValue& value : stack) bits |= value.key_bits();
  op.redispatch_boxed(opgen::detail::with_local_keys(bits), stack);
  return stack.back().toTensor();
}

IValue box_sizes(IntArrayRef sizes) {
  return IValue(std::vector<IValue>(sizes.begin(), sizes.end()));
}
DimVector unbox_sizes(const IValue& value) {
  DimVector sizes;
  for (const IValue& size : value.toList()) sizes.push_back(size.toInt());
  return sizes;
}

// ---- Kernels -----------------------------------------------------------------------------------

TensorBase add_kernel(const TensorBase& a, const TensorBase& b) {
  TensorBase out;
  TensorIterator iter = TensorIterator::binary_op(out, a, b);
  if (!iter.output().is_meta()) {
    OPGEN_DISPATCH_ALL(iter.common_dtype(), "add", [&] {
      cpu_kernel(iter, [](scalar_t x, scalar_t y) { return static_cast<scalar_t>(x + y); });
    });
  }
  return iter.output();
}

TensorBase sum_to_kernel(const TensorBase& self, IntArrayRef sizes) {
  OPGEN_CHECK(opgen::detail::is_expandable_to(sizes, self.sizes()), "a tensor of sizes ",
              self.sizes(), " cannot be summed to ", sizes);
  DimVector dims;
  DimVector kept(self.sizes());
  std::int64_t lead = self.dim() - static_cast<std::int64_t>(sizes.size());
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    bool sums = d < lead || (sizes[static_cast<std::size_t>(d - lead)] == 1 && self.size(d) != 1);
    if (!sums) continue;
    dims.push_back(d);
    kept[static_cast<std::size_t>(d)] = 1;
  }
  TensorBase out = opgen::detail::full(kept, 0, self.options());
  if (dims.empty()) {
    opgen::detail::copy_(out, self);
  } else if (!out.is_meta()) {
    TensorIterator iter = make_reduction(out, self, OptionalIntArrayRef(IntArrayRef(dims)), true);
    OPGEN_DISPATCH_ALL(self.scalar_type(), "sum_to", [&] { cpu_sum<scalar_t>(iter); });
  }
  DimVector strides;
  opgen::detail::contiguous_strides(sizes, strides);
  return opgen::detail::alias_with_sizes_and_strides(out, sizes, strides, 0);
}

TensorBase restrided(const TensorBase& self, const DimVector& sizes, const DimVector& strides,
                     std::int64_t offset) {
  return opgen::detail::alias_with_sizes_and_strides(self, sizes, strides, offset);
}

TensorBase select_kernel(const TensorBase& self, std::int64_t dim, std::int64_t index) {
  dim = maybe_wrap_dim(dim, self.dim(), false);
  std::int64_t size = self.size(dim);
  OPGEN_CHECK_INDEX(index >= -size && index < size, "index ", index, " is out of range for size ",
                    size);
  if (index < 0) index += size;
  DimVector sizes;
  DimVector strides;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (d == dim) continue;
    sizes.push_back(self.size(d));
    strides.push_back(self.stride(d));
  }
  return restrided(self, sizes, strides, self.storage_offset() + index * self.stride(dim));
}

TensorBase unsqueeze_kernel(const TensorBase& self, std::int64_t dim) {
  dim = maybe_wrap_dim(dim, self.dim() + 1, false);
  DimVector sizes;
  DimVector strides;
  for (std::int64_t d = 0; d <= self.dim(); ++d) {
    bool last = d == self.dim();
    if (d == dim) {
      sizes.push_back(1);
      strides.push_back(last ? 1 : self.size(d) * self.stride(d));
    }
    if (last) break;
    sizes.push_back(self.size(d));
    strides.push_back(self.stride(d));
  }
  return restrided(self, sizes, strides, self.storage_offset());
}

TensorBase movedim_kernel(const TensorBase& self, std::int64_t from, std::int64_t to) {
  from = maybe_wrap_dim(from, self.dim(), false);
  to = maybe_wrap_dim(to, self.dim(), false);
  std::vector<std::int64_t> order;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (d != from) order.push_back(d);
  }
  order.insert(order.begin() + to, from);
  DimVector sizes;
  DimVector strides;
  for (std::int64_t d : order) {
    sizes.push_back(self.size(d));
    strides.push_back(self.stride(d));
  }
  return restrided(self, sizes, strides, self.storage_offset());
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
    OPGEN_CHECK(tensor.sizes() == first.sizes(), "stack() needs tensors of one shape, got ",
                first.sizes(), " and ", tensor.sizes());
    opgen::detail::copy_(select_kernel(out, dim, static_cast<std::int64_t>(i)), tensor);
  }
  return out;
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
// The gradient is zero but for one slice.
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

// Lists are no arguments of a Function: the node is written by hand.
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
TensorBase stack_autograd(const std::vector<TensorBase>& tensors, std::int64_t dim) {
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
}
OPGEN_LIBRARY_IMPL(opgen, Autograd, m) {
  m.impl("add", OPGEN_BOXED(2, Add::apply(a[0].toTensor(), a[1].toTensor())));
  m.impl("cast",
         OPGEN_BOXED(2, Cast::apply(a[0].toTensor(), static_cast<ScalarType>(a[1].toInt()))));
  m.impl("expand", OPGEN_BOXED(2, Expand::apply(a[0].toTensor(), unbox_sizes(a[1]))));
  m.impl("sum_to", OPGEN_BOXED(2, SumTo::apply(a[0].toTensor(), unbox_sizes(a[1]))));
  m.impl("select", OPGEN_BOXED(3, Select::apply(a[0].toTensor(), a[1].toInt(), a[2].toInt())));
  m.impl("unsqueeze", OPGEN_BOXED(2, Unsqueeze::apply(a[0].toTensor(), a[1].toInt())));
  m.impl("movedim", OPGEN_BOXED(3, Movedim::apply(a[0].toTensor(), a[1].toInt(), a[2].toInt())));
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
