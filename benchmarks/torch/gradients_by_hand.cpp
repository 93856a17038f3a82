// gradients_by_hand.cpp: the operators of gradients.yaml, written by hand, with a node for each and
// a kernel for Autograd that does what torchgen's kernels do for operators with formulas: it checks
// whether an argument requires a gradient, saves what the node needs, calls the operator below
// ADInplaceOrView, records the node, and computes the tangent if an argument has one.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/add.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include <mutex>

#include "gradients_work.h"

namespace {

using at::Tensor;
using c10::DispatchKeySet;
using torch::autograd::collect_next_edges;
using torch::autograd::compute_requires_grad;
using torch::autograd::isFwGradDefined;
using torch::autograd::SavedVariable;
using torch::autograd::set_history;
using torch::autograd::TraceableFunction;
using torch::autograd::variable_list;

template <class Signature>
auto handle(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}
using Unary = Tensor(const Tensor&);
using Binary = Tensor(const Tensor&, const Tensor&);
using Scaling = Tensor(const Tensor&, double);
const auto& scale_op() {
  static const auto op = handle<Scaling>("by_hand::scale");
  return op;
}
const auto& times_op() {
  static const auto op = handle<Binary>("by_hand::times");
  return op;
}
const auto& grow_op() {
  static const auto op = handle<Unary>("by_hand::grow");
  return op;
}
Tensor tangent_or_zeros(const Tensor& tensor) {
  const Tensor& tangent = tensor._fw_grad(0);
  return tangent.defined() ? tangent : tensor.new_zeros(tensor.sizes());
}

// scale
struct ScaleBackward : TraceableFunction {
  variable_list apply(variable_list&& grads) override {
    if (!task_should_compute_output(0) || !grads[0].defined()) return {Tensor()};
    return {scale_op().call(grads[0], by)};
  }
  std::string name() const override { return "ScaleBackward"; }
  double by = 0;
};
Tensor scale(DispatchKeySet keys, const Tensor& self, double by) {
  const bool has_tangent = isFwGradDefined(self);
  c10::intrusive_ptr<ScaleBackward> node;
  if (compute_requires_grad(self)) {
    node = c10::make_intrusive<ScaleBackward>();
    node->set_next_edges(collect_next_edges(self));
    node->by = by;
  }
  Tensor result = [&] {
    at::AutoDispatchBelowADInplaceOrView guard;
    return scale_op().redispatch(keys & c10::after_autograd_keyset, self, by);
  }();
  if (node) set_history(result, node);
  if (has_tangent) result._set_fw_grad(scale_op().call(tangent_or_zeros(self), by), 0, false);
  return result;
}

// times
struct TimesBackward : TraceableFunction {
  variable_list apply(variable_list&& grads) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    variable_list found(2);
    if (!grads[0].defined()) return found;
    if (task_should_compute_output(0)) found[0] = times_op().call(grads[0], other.unpack());
    if (task_should_compute_output(1)) found[1] = times_op().call(grads[0], self.unpack());
    return found;
  }
  std::string name() const override { return "TimesBackward"; }
  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    self.reset_data();
    other.reset_data();
  }
  SavedVariable self, other;
};
Tensor times(DispatchKeySet keys, const Tensor& self, const Tensor& other) {
  const bool has_tangent = isFwGradDefined(self) || isFwGradDefined(other);
  c10::intrusive_ptr<TimesBackward> node;
  if (compute_requires_grad(self, other)) {
    node = c10::make_intrusive<TimesBackward>();
    node->set_next_edges(collect_next_edges(self, other));
    if (node->should_compute_output(1)) node->self = SavedVariable(self, false);
    if (node->should_compute_output(0)) node->other = SavedVariable(other, false);
  }
  Tensor result = [&] {
    at::AutoDispatchBelowADInplaceOrView guard;
    return times_op().redispatch(keys & c10::after_autograd_keyset, self, other);
  }();
  if (node) set_history(result, node);
  if (has_tangent) {
    const Tensor left = times_op().call(tangent_or_zeros(self), other);
    result._set_fw_grad(at::add(left, times_op().call(self, tangent_or_zeros(other))), 0, false);
  }
  return result;
}

// grow
struct GrowBackward : TraceableFunction {
  variable_list apply(variable_list&& grads) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!task_should_compute_output(0) || !grads[0].defined()) return {Tensor()};
    return {times_op().call(grads[0], result.unpack(getptr()))};
  }
  std::string name() const override { return "GrowBackward"; }
  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    result.reset_data();
  }
  SavedVariable result;
};
Tensor grow(DispatchKeySet keys, const Tensor& self) {
  const bool has_tangent = isFwGradDefined(self);
  c10::intrusive_ptr<GrowBackward> node;
  if (compute_requires_grad(self)) {
    node = c10::make_intrusive<GrowBackward>();
    node->set_next_edges(collect_next_edges(self));
  }
  Tensor result = [&] {
    at::AutoDispatchBelowADInplaceOrView guard;
    return grow_op().redispatch(keys & c10::after_autograd_keyset, self);
  }();
  if (node) {
    set_history(result, node);
    node->result = SavedVariable(result, true);
  }
  if (has_tangent) result._set_fw_grad(times_op().call(tangent_or_zeros(self), result), 0, false);
  return result;
}

}  // namespace

TORCH_LIBRARY(by_hand, m) {
  m.def("scale(Tensor self, float by) -> Tensor");
  m.def("times(Tensor self, Tensor other) -> Tensor");
  m.def("grow(Tensor self) -> Tensor");
}
TORCH_LIBRARY_IMPL(by_hand, CPU, m) {
  m.impl("scale", TORCH_FN(work::scale));
  m.impl("times", TORCH_FN(work::times));
  m.impl("grow", TORCH_FN(work::grow));
}
TORCH_LIBRARY_IMPL(by_hand, Autograd, m) {
  m.impl("scale", TORCH_FN(scale));
  m.impl("times", TORCH_FN(times));
  m.impl("grow", TORCH_FN(grow));
}
