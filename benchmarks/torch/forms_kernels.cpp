// forms_kernels.cpp: the kernels for forms.yaml.
#include <opgen/kernel.h>

#include <forms/NativeFunctions.h>

#include "forms_work.h"

OPGEN_KERNEL(scaled_cpu)(const Tensor& self, double by) {
  Tensor out = work::like(self);
  work::scale(out, self, by);
  return out;
}
OPGEN_KERNEL(scaled_cpu_)(Tensor& self, double by) {
  work::scale(self, self, by);
  return self;
}
OPGEN_KERNEL(scaled_out_cpu)(const Tensor& self, double by, Tensor& out) {
  work::scale(out, self, by);
  return out;
}
OPGEN_KERNEL(implicit)(const Tensor& self, const Tensor& other) {
  return self.add(other);
}
OPGEN_KERNEL(implicit_)(Tensor& self, const Tensor& other) {
  return self.add_(other);
}
OPGEN_KERNEL(composed)(const Tensor& self, const Tensor& other) {
  return self.add(other);
}
OPGEN_KERNEL(write_cpu)(Tensor& result, const Tensor& input, double by) {
  work::scale(result, input, by);
}
OPGEN_KERNEL(write_two_cpu)(Tensor& first, Tensor& second, const Tensor& input) {
  work::scale(first, input, 2);
  work::scale(second, input, 3);
}
OPGEN_KERNEL(write_new_cpu)(Tensor& result, const Tensor& input) {
  work::scale(result, input, 2);
  return work::like(input);
}
OPGEN_KERNEL(first_of_cpu)(TensorList tensors) {
  return work::first_of(tensors);
}
OPGEN_KERNEL(parts_cpu)(const Tensor& self, int64_t n) {
  return work::parts(self, n);
}
OPGEN_KERNEL(foreach_cpu)(TensorList self, double by) {
  for (const Tensor& each : self) work::scale(each, each, by);
}
OPGEN_KERNEL(biased_cpu)(const Tensor& self, const std::optional<Tensor>& bias) {
  Tensor out = work::like(self);
  work::scale(out, bias.has_value() ? *bias : self, 1);
  return out;
}
OPGEN_KERNEL(sized_cpu)(const Tensor& self, int64_t n) {
  Tensor out = work::like(self);
  work::scale(out, self, static_cast<double>(n));
  return out;
}
OPGEN_KERNEL(shaped_cpu)
(const Tensor& self, IntArrayRef sizes, c10::string_view mode, bool flag) {
  return work::shaped(self, sizes, mode, flag);
}
OPGEN_KERNEL(row)(const Tensor& self, int64_t index) {
  return self.select(0, index);
}
OPGEN_KERNEL(filled_cpu)
(int64_t n, std::optional<ScalarType> dtype, std::optional<at::Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory) {
  return work::filled(
      n, TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory));
}
