// autograd_fallback.cpp: boxed kernels for Autograd and ADInplaceOrView, driven by the schema.
#include "opgen/autograd/autograd_fallback.h"

#include <algorithm>

#include "autograd/tensors_of.h"
#include "autograd/view_part.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/core/small_vector.h"
#include "schema/alias_plan.h"

namespace opgen {

namespace {

class NotImplementedNode final : public autograd::Node {
 public:
  explicit NotImplementedNode(std::string op) : op_(std::move(op)) {}
  [[nodiscard]] std::string name() const override { return "NotImplemented(" + op_ + ")"; }
  [[nodiscard]] autograd::Gradients apply(autograd::Gradients) override {
    // As in PyTorch, no NotImplementedError: an operator that is not differentiable is not a stub.
    OPGEN_CHECK(
        false, "the derivative for '", op_,
        "' is not implemented: give it a formula in derivatives.yaml or a kernel for Autograd, or "
        "detach() its result");
    __builtin_unreachable();
  }

 private:
  std::string op_;
};

void collect(const IValue& value, std::vector<TensorBase>& tensors) {
  detail::for_each_tensor(value, [&](const TensorBase& tensor) { tensors.push_back(tensor); });
}

bool is_differentiable(const TensorBase& tensor) noexcept {
  return isFloatingType(tensor.scalar_type()) || isComplexType(tensor.scalar_type());
}

// Whether a call that reads, and may write, the tensor needs to be recorded. An in-place change of
// a view also changes the history of its base.
bool needs_recording(const TensorBase& tensor) noexcept {
  if (tensor.unsafeGetTensorImpl()->parts() == nullptr) return false;
  if (autograd::has_tangent(tensor)) return true;
  if (!GradMode::is_enabled()) return false;
  if (autograd::requires_grad(tensor)) return true;
  const TensorBase base = view_base(tensor);
  return base.defined() && autograd::requires_grad(base);
}

void check_written(const OperatorHandle& op, const std::vector<TensorBase>& written) {
  for (const TensorBase& tensor : written) {
    autograd::check_inplace(tensor, op.full_name());
    if (is_view(tensor)) {
      OPGEN_WARN(op.full_name(),
                 " changes a view in place and has no gradient: neither the view nor its base can "
                 "be differentiated after this call");
    }
  }
}

// An operator out= has no gradient in any case. Tensors that can have none may be written.
void check_not_out(const OperatorHandle& op, const detail::AliasPlan& plan,
                   const std::vector<TensorBase>& written) {
  if (std::none_of(written.begin(), written.end(), is_differentiable)) return;
  for (std::uint16_t i : plan.written) {
    OPGEN_CHECK(!op.schema().arguments[i].is_out, op.name(),
                "(): functions with out=... arguments don't support automatic differentiation, but "
                "one of the arguments requires grad.");
  }
}

void not_implemented_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const detail::AliasPlan& plan = detail::shared_alias_plan(op.schema());
  const IValue* arguments = stack.data() + (stack.size() - plan.arguments);
  bool needed = false;
  for (std::size_t i = 0; i < plan.arguments; ++i) {
    detail::for_each_tensor(arguments[i],
                            [&](const TensorBase& tensor) { needed |= needs_recording(tensor); });
  }
  if (!needed) return op.redispatch_boxed(keys & after_autograd_keyset, stack);
  std::vector<TensorBase> inputs;
  std::vector<TensorBase> written;
  for (std::size_t i = 0; i < plan.arguments; ++i) collect(arguments[i], inputs);
  for (std::uint16_t i : plan.written) collect(arguments[i], written);
  bool has_tangent = false;
  for (const TensorBase& input : inputs) has_tangent |= autograd::has_tangent(input);
  for (const TensorBase& tensor : written) {
    if (has_tangent && is_differentiable(tensor)) {
      autograd::throw_no_forward_formula(op.full_name());
    }
  }
  bool records = autograd::any_requires_grad(inputs);
  for (const TensorBase& tensor : written) {
    if (!is_view(tensor)) continue;
    const TensorBase base = view_base(tensor);
    records |= autograd::any_requires_grad({&base, 1});
  }
  if (records) check_not_out(op, plan, written);
  Ref<autograd::Node> node;
  if (records) {
    check_written(op, written);
    node = autograd::make_node<NotImplementedNode>(op.full_name());
    for (const TensorBase& input : inputs) node->add_next_edge(autograd::gradient_edge(input));
  }
  {
    AutoDispatchBelowAutograd below;
    op.redispatch_boxed(keys & after_autograd_keyset, stack);
  }
  for (const TensorBase& tensor : written) {
    if (is_differentiable(tensor)) autograd::rebase_history(tensor, node);
  }
  for (std::size_t r = 0; r < plan.returns; ++r) {
    if (plan.returned[r] != 0) continue;
    IValue& result = stack[stack.size() - plan.returns + r];
    result = detail::map_tensors(result, [&](const TensorBase& tensor) -> TensorBase {
      // A result without a derivative, such as a mask, needs no tangent.
      if (!is_differentiable(tensor)) return tensor;
      if (has_tangent) autograd::throw_no_forward_formula(op.full_name());
      bool is_input = false;
      for (const TensorBase& input : inputs) is_input |= input.is_same(tensor);
      TensorBase output = is_input ? autograd::detach(tensor) : tensor;
      autograd::set_history(output, node);
      return output;
    });
  }
}

bool may_hold_tensors(const std::vector<SchemaArgument>& values) noexcept {
  for (const SchemaArgument& value : values) {
    if (value.type.may_hold_tensors()) return true;
  }
  return false;
}

// For operators without a kernel for their key of autograd. Those that neither take nor give
// tensors need none.
KernelFunction choose_autograd_kernel(const FunctionSchema& schema) {
  const bool gives =
      may_hold_tensors(schema.returns) || !detail::shared_alias_plan(schema).written.empty();
  if (!gives || !may_hold_tensors(schema.arguments)) return KernelFunction::fallthrough();
  KernelFunction kernel = CppFunction::makeFromBoxedFunction(&not_implemented_kernel).kernel();
  kernel.only_tracked = true;
  return kernel;
}

void inplace_or_view_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  KernelFunction kernel = detail::choose_inplace_or_view_kernel(op.schema());
  if (kernel.kind == KernelFunction::Kind::Boxed) {
    return kernel.boxed(op, keys, stack, kernel.context);
  }
  op.redispatch_boxed(keys & after_ADInplaceOrView_keyset, stack);
}

}  // namespace

namespace detail {

bool any_needs_recording(const TensorSpan* arguments, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (arguments[i].count == TensorSpan::kElsewhere) return true;
    for (std::size_t k = 0; k < arguments[i].count; ++k) {
      if (needs_recording(arguments[i].first[k])) return true;
    }
  }
  return false;
}

}  // namespace detail

CppFunction autogradNotImplementedFallback() {
  return CppFunction::makeFromBoxedFunction(&not_implemented_kernel).only_for_tracked();
}
CppFunction autogradNotImplementedInplaceOrViewFallback() {
  return CppFunction::makeFromBoxedFunction(&inplace_or_view_kernel);
}

namespace {

const bool is_default = [] {
  Dispatcher::singleton().set_autograd_default(&choose_autograd_kernel);
  return true;
}();

}  // namespace
}  // namespace opgen
