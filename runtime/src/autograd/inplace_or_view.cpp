// inplace_or_view.cpp: the runtime's own fallback for ADInplaceOrView, driven by alias annotations.
#include "opgen/autograd/inplace_or_view.h"

#include "autograd/tensors_of.h"
#include "autograd/view_part.h"
#include "opgen/autograd/grad_mode.h"
#include "opgen/core/small_vector.h"
#include "opgen/dispatch/dispatcher.h"
#include "opgen/schema/function_schema.h"
#include "schema/alias_plan.h"
#include "tensor/tensor_parts.h"

namespace opgen {

namespace {

using detail::for_each_tensor;

thread_local constinit bool grad_mode = true;

void check_writable(const OperatorHandle& op, const TensorBase& tensor) {
  OPGEN_CHECK(!tensor.is_inference() || InferenceMode::is_enabled(), op.full_name(),
              " would change a tensor that was made in inference mode, outside of that mode; "
              "clone() it first");
}

CreationMeta current_creation_meta(bool one_of_many) noexcept {
  if (InferenceMode::is_enabled()) return CreationMeta::InferenceMode;
  if (!GradMode::is_enabled()) return CreationMeta::NoGradMode;
  return one_of_many ? CreationMeta::MultiOutput : CreationMeta::Default;
}

void track_view(const TensorBase& view, const TensorBase& from, bool one_of_many) {
  if (from.is_inference() || view.is_same(from) || !view.is_alias_of(from) || is_view(view)) return;
  mark_view(view, from, current_creation_meta(one_of_many));
}

void inplace_or_view_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack,
                            void* context) {
  const auto& plan = *static_cast<const detail::AliasPlan*>(context);
  const IValue* arguments = stack.data() + (stack.size() - plan.arguments);
  SmallVector<IValue, 2> written;
  SmallVector<IValue, 2> sources;
  for (std::uint16_t i : plan.written) {
    for_each_tensor(arguments[i], [&](const TensorBase& tensor) { check_writable(op, tensor); });
    written.push_back(arguments[i]);
  }
  for (const auto& view : plan.views) sources.push_back(arguments[view.argument]);
  {
    AutoDispatchBelowADInplaceOrView below;
    op.redispatch_boxed(keys & after_ADInplaceOrView_keyset, stack);
  }
  for (const IValue& value : written) for_each_tensor(value, &increment_version);
  const IValue* results = stack.data() + (stack.size() - plan.returns);
  for (std::size_t i = 0; i < plan.views.size(); ++i) {
    const IValue& result = results[plan.views[i].result];
    for_each_tensor(sources[i], [&](const TensorBase& from) {
      for_each_tensor(result,
                      [&](const TensorBase& view) { track_view(view, from, result.isList()); });
    });
  }
}

const detail::AliasPlan& plan_of(const KernelFunction& kernel) {
  return *static_cast<const detail::AliasPlan*>(kernel.context);
}

}  // namespace

bool GradMode::is_enabled() noexcept {
  return grad_mode && !InferenceMode::is_enabled();
}
bool GradMode::is_set() noexcept {
  return grad_mode;
}
void GradMode::set_enabled(bool enabled) noexcept {
  grad_mode = enabled;
}

const char* toString(CreationMeta meta) noexcept {
  constexpr const char* names[] = {"default", "in a custom function", "as one of several outputs",
                                   "in no_grad mode", "in inference mode"};
  return names[static_cast<int>(meta)];
}

bool is_view(const TensorBase& tensor) noexcept {
  return find_view(tensor) != nullptr;
}
TensorBase view_base(const TensorBase& tensor) noexcept {
  const ViewPart* view = find_view(tensor);
  return view != nullptr ? view->base : TensorBase();
}
CreationMeta creation_meta(const TensorBase& tensor) noexcept {
  const ViewPart* view = find_view(tensor);
  return view != nullptr ? view->creation : CreationMeta::Default;
}
void set_creation_meta(const TensorBase& view, CreationMeta meta) {
  OPGEN_CHECK(is_view(view), "only a view has a creation_meta");
  detail::part_of<ViewPart>(view.unsafeGetTensorImpl()).creation = meta;
}
void mark_view(const TensorBase& view, const TensorBase& base, CreationMeta meta) {
  // A view of a view has the creation_meta of that view.
  if (meta == CreationMeta::Default) meta = creation_meta(base);
  auto& part = detail::part_of<ViewPart>(view.unsafeGetTensorImpl());
  part.creation = meta;
  part.version = view.unsafeGetTensorImpl()->version();
  const ScalarType dtype = view.scalar_type();
  if (isFloatingType(dtype) || isComplexType(dtype)) view.unsafeGetTensorImpl()->set_tracked(true);
  if (const ViewPart* of = find_view(base)) {
    part.base = of->base;
    part.has_tangent_base = of->has_tangent_base || of->is_dual;
    part.tangent_base = of->is_dual ? base : of->tangent_base;
  } else {
    part.base = base;
  }
}

void record_view(const TensorBase& view, const TensorBase& from) {
  track_view(view, from, false);
}

void increment_version(const TensorBase& tensor) {
  if (tensor.is_inference()) {
    OPGEN_CHECK(InferenceMode::is_enabled(),
                "a tensor made in inference mode cannot be changed in place outside of that mode; "
                "clone() it first");
    return;
  }
  tensor.bump_version();
}

namespace detail {

KernelFunction choose_inplace_or_view_kernel(const FunctionSchema& schema) {
  const AliasPlan& plan = shared_alias_plan(schema);
  if (plan.written.empty() && plan.views.empty()) return KernelFunction::fallthrough();
  KernelFunction kernel =
      KernelFunction::from_boxed(&inplace_or_view_kernel, const_cast<AliasPlan*>(&plan));
  kernel.tracks = true;
  return kernel;
}

}  // namespace detail

namespace {

using detail::TensorSpan;

bool before_writing(const OperatorSlot& slot, const KernelFunction& kernel,
                    const TensorSpan* arguments) {
  const detail::AliasPlan& plan = plan_of(kernel);
  for (std::uint16_t i : plan.written) {
    if (arguments[i].count == TensorSpan::kElsewhere) return false;
  }
  for (const detail::AliasPlan::View& view : plan.views) {
    if (arguments[view.argument].count == TensorSpan::kElsewhere) return false;
  }
  for (std::uint16_t i : plan.written) {
    for_each_tensor(arguments[i], [&](const TensorBase& tensor) {
      check_writable(OperatorHandle(slot.entry.load_acquire()), tensor);
    });
  }
  return true;
}

void after_writing(const KernelFunction& kernel, const TensorSpan* arguments,
                   const TensorSpan* results) {
  const detail::AliasPlan& plan = plan_of(kernel);
  for (std::uint16_t i : plan.written) for_each_tensor(arguments[i], &increment_version);
  for (const detail::AliasPlan::View& view : plan.views) {
    const TensorSpan& result = results[view.result];
    for_each_tensor(arguments[view.argument], [&](const TensorBase& from) {
      for_each_tensor(result, [&](const TensorBase& one) { track_view(one, from, result.list); });
    });
  }
}

constexpr detail::TrackingHooks kHooks{&detail::any_needs_recording, &before_writing,
                                       &after_writing};
const bool hooked = (detail::tracking_hooks.store_release(&kHooks), true);
const RegistrationHandle registered = Dispatcher::singleton().register_fallback(
    DispatchKey::ADInplaceOrView, &detail::choose_inplace_or_view_kernel, "opgen runtime");

}  // namespace
}  // namespace opgen
