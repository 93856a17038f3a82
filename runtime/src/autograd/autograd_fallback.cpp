// autograd_fallback.cpp: boxed kernels for Autograd and ADInplaceOrView, driven by the schema.
#include "opgen/autograd/autograd_fallback.h"

#include "dispatch/alias_plan.h"
#include "dispatch/tensors_of.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/core/small_vector.h"

namespace opgen {

namespace {

class NotImplementedNode final : public autograd::Node {
 public:
  explicit NotImplementedNode(std::string op) : op_(std::move(op)) {}
  [[nodiscard]] std::string name() const override { return "NotImplemented(" + op_ + ")"; }
  [[nodiscard]] autograd::Gradients apply(autograd::Gradients) override {
    OPGEN_CHECK_NOT_IMPLEMENTED(
        false, "the gradient of ", op_,
        " is not implemented: register a kernel for it at Autograd, or detach() its result");
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

void not_implemented_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const detail::AliasPlan plan = detail::make_alias_plan(op.schema());
  const IValue* arguments = stack.data() + (stack.size() - plan.arguments);
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
  // An in-place change of a view also changes the history of its base.
  bool records = autograd::any_requires_grad(inputs);
  for (const TensorBase& tensor : written) {
    if (!is_view(tensor)) continue;
    const TensorBase base = view_base(tensor);
    records |= autograd::any_requires_grad({&base, 1});
  }
  Ref<autograd::Node> node;
  if (records) {
    check_written(op, written);
    node = autograd::make_node<NotImplementedNode>(op.full_name());
    for (const TensorBase& input : inputs) node->add_next_edge(autograd::gradient_edge(input));
  }
  inputs.clear();
  {
    AutoDispatchBelowAutograd below;
    op.redispatch_boxed(keys & after_autograd_keyset, stack);
  }
  if (!records && !has_tangent) return;
  for (const TensorBase& tensor : written) {
    if (is_differentiable(tensor)) autograd::rebase_history(tensor, node);
  }
  for (std::size_t r = 0; r < plan.returns; ++r) {
    if (plan.returned[r] != 0) continue;
    std::vector<TensorBase> results;
    collect(stack[stack.size() - plan.returns + r], results);
    for (const TensorBase& tensor : results) {
      if (!is_differentiable(tensor)) continue;
      // A result without a derivative, such as a mask, needs no tangent.
      if (has_tangent) autograd::throw_no_forward_formula(op.full_name());
      autograd::set_history(tensor, node);
    }
  }
}

void inplace_or_view_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  KernelFunction kernel = detail::choose_inplace_or_view_kernel(op.schema());
  if (kernel.kind == KernelFunction::Kind::Boxed) {
    return kernel.boxed(op, keys, stack, kernel.context);
  }
  op.redispatch_boxed(keys & after_ADInplaceOrView_keyset, stack);
}

}  // namespace

CppFunction autogradNotImplementedFallback() {
  return CppFunction::makeFromBoxedFunction(&not_implemented_kernel);
}
CppFunction autogradNotImplementedInplaceOrViewFallback() {
  return CppFunction::makeFromBoxedFunction(&inplace_or_view_kernel);
}

}  // namespace opgen
