// vmap.cpp: wrappers, scopes, and the fallback for Batched.
#include "opgen/transforms/vmap.h"

#include <algorithm>

#include "autograd/tensors_of.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/primitives.h"
#include "opgen/schema/function_schema.h"
#include "schema/alias_plan.h"
#include "schema/boxed_kernel.h"
#include "tensor/tensor_parts.h"

namespace opgen::batching {

namespace {

using detail::for_each_tensor;
using detail::map_tensors;

struct BatchedPart final : TensorPart {
  static constexpr TensorPartKind kKind = TensorPartKind::Batched;
  Batched batched;
};

thread_local std::int64_t levels = 0;
thread_local Randomness randomness_now = Randomness::Error;

// One call of an operator on wrappers of level `level`.
struct Call {
  const OperatorHandle& op;
  const FunctionSchema& schema;
  const detail::AliasPlan& plan;
  std::vector<IValue> arguments;
  std::int64_t level = 0;
  std::int64_t batch_size = 0;

  // Returns whether every tensor in `value` is a wrapper of this level; true if there are no
  // tensors.
  [[nodiscard]] bool is_batched(const IValue& value) const {
    bool all = true;
    for_each_tensor(value, [&](const TensorBase& t) { all &= level_of(t) == level; });
    return all;
  }
};

void check_random(const Call& call) {
  if (randomness_now == Randomness::Different) return;
  auto is_generator = [](const SchemaArgument& argument) {
    const SchemaType& type = argument.type;
    return (type.kind == TypeKind::Optional ? *type.element : type).kind == TypeKind::Generator;
  };
  std::vector<std::string> tags = call.op.tags();
  bool random =
      std::any_of(call.schema.arguments.begin(), call.schema.arguments.end(), is_generator) ||
      std::find(tags.begin(), tags.end(), "nondeterministic_seeded") != tags.end();
  OPGEN_CHECK(!random, "vmap: ", call.op.full_name(),
              " draws random numbers; pass Randomness::Different to draw them for each example");
}

void check_written(const Call& call) {
  for (std::uint16_t i : call.plan.written) {
    OPGEN_CHECK(call.is_batched(call.arguments[i]), "vmap: ", call.op.full_name(),
                " would write a result for each example into argument '",
                call.schema.arguments[i].name, "', which all examples share");
  }
}

// Returns whether the type contains only tensors.
bool only_tensors(const SchemaType& type) {
  if (type.element != nullptr) return only_tensors(*type.element);
  if (type.kind != TypeKind::Tuple) return type.kind == TypeKind::Tensor;
  return std::all_of(type.members.begin(), type.members.end(), only_tensors);
}

void check_returns(const Call& call) {
  for (const SchemaArgument& result : call.schema.returns) {
    OPGEN_CHECK(only_tensors(result.type), "vmap: ", call.op.full_name(), " returns ",
                result.type.str(), ", which may differ between examples");
  }
}

// ---- Results of the loop -----------------------------------------------------------------------

// Joins the views of all examples into one view. Returns an undefined tensor unless they have the
// same strides and are equally spaced.
TensorBase join_views(const std::vector<TensorBase>& views) {
  const TensorBase& first = views[0];
  if (const Batched* inner = find_batched(first)) {
    std::vector<TensorBase> values;
    for (const TensorBase& view : views) {
      const Batched* other = find_batched(view);
      if (other == nullptr || other->level != inner->level || other->dim != inner->dim) return {};
      values.push_back(other->value);
    }
    TensorBase joined = join_views(values);
    return joined.defined() ? make_batched(joined, inner->dim + 1, inner->level) : joined;
  }
  if (!first.has_storage()) return {};
  std::int64_t step =
      views.size() > 1 ? views[1].storage_offset() - first.storage_offset() : first.numel();
  for (std::size_t b = 0; b < views.size(); ++b) {
    bool regular =
        views[b].is_alias_of(first) && views[b].sizes() == first.sizes() &&
        views[b].strides() == first.strides() && !autograd::requires_grad(views[b]) &&
        views[b].storage_offset() == first.storage_offset() + static_cast<std::int64_t>(b) * step;
    if (!regular) return {};
  }
  DimVector sizes{static_cast<std::int64_t>(views.size())};
  DimVector strides{step};
  for (std::int64_t size : first.sizes()) sizes.push_back(size);
  for (std::int64_t stride : first.strides()) strides.push_back(stride);
  return detail::alias_with_sizes_and_strides(first, sizes, strides, first.storage_offset());
}

IValue join(const Call& call, const std::vector<IValue>& results, bool is_view) {
  for (const IValue& result : results) {
    OPGEN_CHECK(result.tag() == results[0].tag(), "vmap: ", call.op.full_name(), " returns ",
                toString(results[0].tag()), " for one example and ", toString(result.tag()),
                " for another");
  }
  if (results[0].isNone()) return results[0];
  if (results[0].has_elements()) {
    std::vector<IValue> joined;
    for (std::size_t i = 0; i < results[0].elements().size(); ++i) {
      std::vector<IValue> items;
      for (const IValue& result : results) {
        OPGEN_CHECK(result.elements().size() == results[0].elements().size(),
                    "vmap: ", call.op.full_name(), " returns lists of different lengths");
        items.push_back(result.elements()[i]);
      }
      joined.push_back(join(call, items, is_view));
    }
    return results[0].with_elements(std::move(joined));
  }
  std::vector<TensorBase> tensors;
  for (const IValue& result : results) {
    tensors.push_back(result.toTensor());
    OPGEN_CHECK(tensors.back().sizes() == tensors[0].sizes(), "vmap: ", call.op.full_name(),
                " returns tensors of different shapes, ", tensors[0].sizes(), " and ",
                tensors.back().sizes(), ", which cannot be one batch");
  }
  if (!tensors[0].defined()) return IValue(TensorBase());
  TensorBase joined = is_view ? join_views(tensors) : TensorBase();
  if (!joined.defined()) joined = primitive::stack(tensors, 0);
  return IValue(make_batched(joined, 0, call.level));
}

// Throws Error if a written argument was resized: it is a slice of the batch.
void check_shapes(const Call& call, const std::vector<IValue>& example) {
  for (std::uint16_t i : call.plan.written) {
    std::vector<TensorBase> wrappers;
    for_each_tensor(call.arguments[i], [&](const TensorBase& t) { wrappers.push_back(t); });
    std::size_t next = 0;
    for_each_tensor(example[i], [&](const TensorBase& slice) {
      const TensorBase& wrapper = wrappers[next++];
      OPGEN_CHECK(slice.sizes() == wrapper.sizes(), "vmap: ", call.op.full_name(),
                  " would resize argument '", call.schema.arguments[i].name, "' of sizes ",
                  wrapper.sizes(), " to ", slice.sizes(), "; give it the right sizes");
    });
  }
}

void run_loop(const Call& call, Stack& stack) {
  check_random(call);
  check_written(call);
  check_returns(call);
  OPGEN_CHECK(call.batch_size != 0, "vmap: ", call.op.full_name(),
              " has no batching rule, and an empty batch does not show what it returns");
  std::vector<std::vector<IValue>> results(call.plan.returns);
  for (std::int64_t b = 0; b < call.batch_size; ++b) {
    Stack example;
    for (const IValue& argument : call.arguments) {
      example.push_back(map_tensors(argument, [&](const TensorBase& tensor) {
        if (level_of(tensor) != call.level) return tensor;
        const Batched* batched = find_batched(tensor);
        return primitive::select(batched->value, batched->dim, b);
      }));
    }
    std::vector<IValue> kept(example.begin(), example.end());
    call.op.call_boxed(example);
    check_shapes(call, kept);
    for (std::size_t r = 0; r < results.size(); ++r) results[r].push_back(std::move(example[r]));
  }
  for (std::size_t r = 0; r < results.size(); ++r) {
    std::uint16_t written = call.plan.returned[r];
    if (written != 0) {
      stack.push_back(call.arguments[written - 1u]);
      continue;
    }
    bool is_view = std::any_of(call.plan.views.begin(), call.plan.views.end(),
                               [&](const auto& view) { return view.result == r; });
    stack.push_back(join(call, results[r], is_view));
  }
}

// ---- Element by element ------------------------------------------------------------------------

// Returns whether a batch is promoted like its examples. Zero-dim examples are promoted as zero-dim
// tensors, but as a batch they have a dimension.
bool promotes_alike(const Call& call) {
  bool alike = true;
  ScalarType dtype = ScalarType::Undefined;
  for (const IValue& argument : call.arguments) {
    for_each_tensor(argument, [&](const TensorBase& tensor) {
      if (dtype == ScalarType::Undefined) dtype = tensor.scalar_type();
      alike &= dtype == tensor.scalar_type();
    });
  }
  return alike;
}

bool can_run_pointwise(const Call& call) {
  return call.plan.written.empty() && call.plan.views.empty() && call.plan.returns == 1 &&
         call.schema.returns[0].type.kind == TypeKind::Tensor && promotes_alike(call);
}

void run_pointwise(const Call& call, Stack& stack) {
  std::int64_t dims = 0;
  for (const IValue& argument : call.arguments) {
    for_each_tensor(argument, [&](const TensorBase& t) { dims = std::max(dims, t.dim()); });
  }
  Stack whole;
  for (const IValue& argument : call.arguments) {
    whole.push_back(map_tensors(argument, [&](const TensorBase& tensor) {
      Unwrapped unwrapped = unwrap(tensor, call.level);
      // The batch dimension comes before all dimensions that broadcast.
      while (unwrapped.batched && unwrapped.value.dim() <= dims) {
        unwrapped.value = primitive::unsqueeze(unwrapped.value, 1);
      }
      return unwrapped.value;
    }));
  }
  call.op.call_boxed(whole);
  stack.push_back(IValue(make_batched(whole.back().toTensor(), 0, call.level)));
}

// ---- The kernels -------------------------------------------------------------------------------

Call take_call(const OperatorHandle& op, Stack& stack) {
  const FunctionSchema& schema = op.schema();
  auto first = stack.end() - static_cast<std::ptrdiff_t>(schema.arguments.size());
  Call call{op, schema, detail::shared_alias_plan(schema), {first, stack.end()}, 0, 0};
  stack.erase(first, stack.end());
  for (const IValue& argument : call.arguments) {
    for_each_tensor(argument, [&](const TensorBase& tensor) {
      if (level_of(tensor) <= call.level) return;
      const Batched* batched = find_batched(tensor);
      call.level = batched->level;
      call.batch_size = batched->value.size(batched->dim);
    });
  }
  OPGEN_CHECK(call.level != 0, "vmap: ", op.full_name(),
              " was called at the key Batched without a batched tensor");
  return call;
}

bool is_pointwise(const OperatorHandle& op) {
  std::vector<std::string> tags = op.tags();
  return std::find(tags.begin(), tags.end(), "pointwise") != tags.end();
}

void fallback_kernel(const OperatorHandle& op, DispatchKeySet, Stack& stack) {
  Call call = take_call(op, stack);
  if (can_run_pointwise(call) && is_pointwise(op)) return run_pointwise(call, stack);
  run_loop(call, stack);
}

void pointwise_kernel(const OperatorHandle& op, DispatchKeySet, Stack& stack) {
  Call call = take_call(op, stack);
  if (can_run_pointwise(call)) return run_pointwise(call, stack);
  run_loop(call, stack);
}

// The rules for the runtime's own operators, which the loop itself uses.
TensorBase select_rule(const TensorBase& self, std::int64_t dim, std::int64_t index) {
  std::int64_t level = level_of(self);
  dim = maybe_wrap_dim(dim, self.dim(), false);
  return make_batched(primitive::select(unwrap(self, level).value, dim + 1, index), 0, level);
}
TensorBase unsqueeze_rule(const TensorBase& self, std::int64_t dim) {
  std::int64_t level = level_of(self);
  dim = maybe_wrap_dim(dim, self.dim() + 1, false);
  return make_batched(primitive::unsqueeze(unwrap(self, level).value, dim + 1), 0, level);
}
TensorBase movedim_rule(const TensorBase& self, std::int64_t from, std::int64_t to) {
  std::int64_t level = level_of(self);
  from = maybe_wrap_dim(from, self.dim(), false);
  to = maybe_wrap_dim(to, self.dim(), false);
  return make_batched(primitive::movedim(unwrap(self, level).value, from + 1, to + 1), 0, level);
}

OPGEN_LIBRARY_IMPL(opgen, Batched, m) {
  m.impl("select", OPGEN_BOXED(3, select_rule(a[0].toTensor(), a[1].toInt(), a[2].toInt())));
  m.impl("unsqueeze", OPGEN_BOXED(2, unsqueeze_rule(a[0].toTensor(), a[1].toInt())));
  m.impl("movedim", OPGEN_BOXED(3, movedim_rule(a[0].toTensor(), a[1].toInt(), a[2].toInt())));
}

}  // namespace

const Batched* find_batched(const TensorBase& tensor) noexcept {
  const auto* part = detail::find_part<BatchedPart>(tensor.unsafeGetTensorImpl());
  return part != nullptr ? &part->batched : nullptr;
}

TensorBase make_batched(const TensorBase& value, std::int64_t dim, std::int64_t level) {
  dim = maybe_wrap_dim(dim, value.dim(), false);
  OPGEN_CHECK(level_of(value) < level, "a batch of level ", level,
              " cannot be made from one of level ", level_of(value));
  DispatchKeySet keys{DispatchKey::Batched, DispatchKey::ADInplaceOrView};
  TensorBase wrapper = TensorBase::adopt(
      TensorImpl::create(Storage(), keys, value.scalar_type(), value.device(), value.layout()));
  DimVector sizes;
  DimVector strides;
  for (std::int64_t d = 0; d < value.dim(); ++d) {
    if (d == dim) continue;
    sizes.push_back(value.size(d));
    strides.push_back(value.stride(d));
  }
  wrapper.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  detail::part_of<BatchedPart>(wrapper.unsafeGetTensorImpl()).batched = {value, dim, level};
  return wrapper;
}

std::int64_t level_of(const TensorBase& tensor) noexcept {
  const Batched* batched = find_batched(tensor);
  return batched != nullptr ? batched->level : 0;
}

Unwrapped unwrap(const TensorBase& tensor, std::int64_t level) {
  const Batched* batched = find_batched(tensor);
  if (batched == nullptr || batched->level != level) return {tensor, false};
  return {primitive::movedim(batched->value, batched->dim, 0), true};
}

CppFunction pointwise() {
  return CppFunction::makeFromBoxedFunction(&pointwise_kernel);
}

Scope::Scope(Randomness randomness) : outer_(randomness_now) {
  // The first vmap of the process registers the fallback, so until then no operator's table
  // changes.
  static const RegistrationHandle fallback = Dispatcher::singleton().register_fallback(
      DispatchKey::Batched, KernelFunction::from_boxed(&fallback_kernel), "vmap");
  level_ = ++levels;
  randomness_now = randomness;
}
Scope::~Scope() {
  --levels;
  randomness_now = outer_;
}

TensorBase Scope::enter(const TensorBase& tensor, std::optional<std::int64_t> dim) {
  if (!dim.has_value() || !tensor.defined()) return tensor;
  std::int64_t at = maybe_wrap_dim(*dim, tensor.dim(), false);
  std::int64_t size = tensor.size(at);
  OPGEN_CHECK(batch_size_ == -1 || batch_size_ == size,
              "vmap: the arguments disagree on the size of the batch: ", batch_size_, " and ",
              size);
  batch_size_ = size;
  return make_batched(tensor, at, level_);
}

TensorBase Scope::leave(const TensorBase& tensor, std::int64_t dim) const {
  OPGEN_CHECK(batch_size_ != -1, "vmap: no argument has a batch");
  if (!tensor.defined()) return tensor;
  Unwrapped result = unwrap(tensor, level_);
  OPGEN_CHECK(level_of(result.value) < level_,
              "vmap: the function returned a tensor of an inner vmap");
  if (!result.batched) {  // the same tensor for every example
    DimVector sizes{batch_size_};
    for (std::int64_t size : tensor.sizes()) sizes.push_back(size);
    result.value = primitive::expand(result.value, sizes);
  }
  return primitive::movedim(result.value, 0, maybe_wrap_dim(dim, result.value.dim(), false));
}

}  // namespace opgen::batching
