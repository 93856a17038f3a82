// forms_by_hand.cpp: the operators of forms.yaml, written by hand with TORCH_LIBRARY, with kernels
// for all keys that a call goes through: CPU, Autograd, ADInplaceOrView, BackendSelect. The kernels
// for Autograd and ADInplaceOrView are PyTorch's fallbacks for operators without a formula. The
// latter increases version counters only of tensors that are returned, so for write, write_two,
// write_new and foreach_ it does nothing, while opgen's kernel also counts these writes.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include "forms_work.h"

namespace {

using at::Tensor;

Tensor scaled(const Tensor& self, double by) {
  Tensor out = work::like(self);
  work::scale(out, self, by);
  return out;
}
Tensor& scaled_(Tensor& self, double by) {
  work::scale(self, self, by);
  return self;
}
Tensor& scaled_out(const Tensor& self, double by, Tensor& out) {
  work::scale(out, self, by);
  return out;
}
Tensor add(const Tensor& self, const Tensor& other) {
  return self.add(other);
}
Tensor& add_(Tensor& self, const Tensor& other) {
  return self.add_(other);
}
void write_scaled(Tensor& result, const Tensor& input, double by) {
  work::scale(result, input, by);
}
void write_two(Tensor& first, Tensor& second, const Tensor& input) {
  work::scale(first, input, 2);
  work::scale(second, input, 3);
}
Tensor write_new(Tensor& result, const Tensor& input) {
  work::scale(result, input, 2);
  return work::like(input);
}
void foreach (at::TensorList self, double by) {
  for (const Tensor& each : self) work::scale(each, each, by);
}
Tensor biased(const Tensor& self, const std::optional<Tensor>& bias) {
  Tensor out = work::like(self);
  work::scale(out, bias.has_value() ? *bias : self, 1);
  return out;
}
Tensor sized(const Tensor& self, int64_t n) {
  Tensor out = work::like(self);
  work::scale(out, self, static_cast<double>(n));
  return out;
}
Tensor row(const Tensor& self, int64_t index) {
  return self.select(0, index);
}
Tensor filled(int64_t n, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
              std::optional<at::Device> device, std::optional<bool> pin_memory) {
  return work::filled(
      n, at::TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory));
}
// A factory has no tensor argument that determines the device.
Tensor select_filled(int64_t n, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout> layout, std::optional<at::Device> device,
                     std::optional<bool> pin_memory) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("by_hand::filled", "")
                             .typed<decltype(filled)>();
  const c10::DispatchKeySet keys(c10::computeDispatchKey(dtype, layout, device));
  return op.redispatch(keys, n, dtype, layout, device, pin_memory);
}

constexpr const char* kOperators[] = {
    "scaled", "scaled_",  "scaled.out", "composed", "write",  "write_two", "write_new", "first_of",
    "parts",  "foreach_", "biased",     "sized",    "shaped", "row",       "filled"};

}  // namespace

TORCH_LIBRARY(by_hand, m) {
  m.def("scaled(Tensor self, float by) -> Tensor");
  m.def("scaled_(Tensor(a!) self, float by) -> Tensor(a!)");
  m.def("scaled.out(Tensor self, float by, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("implicit(Tensor self, Tensor other) -> Tensor");
  m.def("implicit_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  m.def("composed(Tensor self, Tensor other) -> Tensor");
  m.def("write(Tensor! result, Tensor input, float by) -> ()");
  m.def("write_two(Tensor! first, Tensor! second, Tensor input) -> ()");
  m.def("write_new(Tensor! result, Tensor input) -> Tensor");
  m.def("first_of(Tensor[] tensors) -> Tensor");
  m.def("parts(Tensor self, int n) -> Tensor[]");
  m.def("foreach_(Tensor(a!)[] self, float by) -> ()");
  m.def("biased(Tensor self, Tensor? bias=None) -> Tensor");
  m.def("sized(Tensor self, SymInt n) -> Tensor");
  m.def("shaped(Tensor self, SymInt[] sizes, str mode, bool flag=False) -> Tensor");
  m.def("row(Tensor(a) self, int index) -> Tensor(a)");
  m.def(
      "filled(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,"
      " bool? pin_memory=None) -> Tensor");
  m.impl("implicit", TORCH_FN(add));
  m.impl("implicit_", TORCH_FN(add_));
}

TORCH_LIBRARY_IMPL(by_hand, CompositeExplicitAutograd, m) {
  m.impl("composed", TORCH_FN(add));
  m.impl("row", TORCH_FN(row));
}

TORCH_LIBRARY_IMPL(by_hand, CPU, m) {
  m.impl("scaled", TORCH_FN(scaled));
  m.impl("scaled_", TORCH_FN(scaled_));
  m.impl("scaled.out", TORCH_FN(scaled_out));
  m.impl("write", TORCH_FN(write_scaled));
  m.impl("write_two", TORCH_FN(write_two));
  m.impl("write_new", TORCH_FN(write_new));
  m.impl("first_of", TORCH_FN(work::first_of));
  m.impl("parts", TORCH_FN(work::parts));
  m.impl("foreach_", TORCH_FN(foreach));
  m.impl("biased", TORCH_FN(biased));
  m.impl("sized", TORCH_FN(sized));
  m.impl("shaped", TORCH_FN(work::shaped));
  m.impl("filled", TORCH_FN(filled));
}

TORCH_LIBRARY_IMPL(by_hand, BackendSelect, m) {
  m.impl("filled", TORCH_FN(select_filled));
}

TORCH_LIBRARY_IMPL(by_hand, Autograd, m) {
  for (const char* op : kOperators) {
    m.impl(op, torch::autograd::autogradNotImplementedFallback());
  }
}

TORCH_LIBRARY_IMPL(by_hand, ADInplaceOrView, m) {
  for (const char* op :
       {"scaled_", "scaled.out", "write", "write_two", "write_new", "foreach_", "row"}) {
    m.impl(op, torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  }
}
