// The kernels of native_functions.yaml.
#include <ATen/ATen.h>
#include <opgen/kernel.h>

#include <derived/NativeFunctions.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace derived::meta {

OPGEN_META_FUNC(cube)(const Tensor& self) {
  build_borrowing_unary_op(maybe_get_output(), self);
}

}  // namespace derived::meta

namespace derived::native {

OPGEN_IMPL_FUNC(cube_out)(const at::Tensor& self, const at::Tensor& out) {
  const at::Tensor result = self * self * self;
  const_cast<at::Tensor&>(out).copy_(result);
}

OPGEN_KERNEL(grow)(const at::Tensor& self) {
  return self.exp();
}
OPGEN_KERNEL(grow_)(at::Tensor& self) {
  return self.exp_();
}

OPGEN_KERNEL(mul)(const at::Tensor& self, const at::Tensor& other) {
  return at::mul(self, other);
}
OPGEN_KERNEL(mul_)(at::Tensor& self, const at::Tensor& other) {
  return self.mul_(other);
}

OPGEN_KERNEL(polar)(const at::Tensor& radius, const at::Tensor& angle) {
  return {radius * angle.cos(), radius * angle.sin()};
}

OPGEN_KERNEL(weigh)(at::TensorList tensors, const at::Tensor& weight) {
  at::Tensor sum = at::zeros_like(weight);
  for (const at::Tensor& tensor : tensors) sum = sum + tensor * weight;
  return sum;
}

OPGEN_KERNEL(powers)(const at::Tensor& self, int64_t count) {
  std::vector<at::Tensor> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(self.pow(i + 1));
  return all;
}

OPGEN_KERNEL(affine)
(const at::Tensor& input, const std::optional<at::Tensor>& weight,
 const std::optional<at::Tensor>& bias) {
  at::Tensor result = weight.has_value() ? input * *weight : input.clone();
  return bias.has_value() ? result + *bias : result;
}

OPGEN_KERNEL(stretch_symint)(const at::Tensor& self, c10::SymIntArrayRef size) {
  return self.expand_symint(size).clone();
}

OPGEN_KERNEL(from_row_symint)(const at::Tensor& self, c10::SymInt start) {
  return self.slice_symint(0, start);
}

OPGEN_KERNEL(halves)(const at::Tensor& self) {
  const std::int64_t half = self.size(0) / 2;
  return {self.slice(0, 0, half), self.slice(0, half)};
}

OPGEN_KERNEL(scale)(const at::Tensor& self, const at::Scalar& factor) {
  return self * factor;
}
OPGEN_KERNEL(foreach_scale)(at::TensorList self, const at::Scalar& factor) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& each : self) all.push_back(each * factor);
  return all;
}
OPGEN_KERNEL(foreach_scale_)(at::TensorList self, const at::Scalar& factor) {
  for (const at::Tensor& each : self) each.mul_(factor);
}
OPGEN_KERNEL(scale_all_)(at::TensorList self, double by) {
  for (const at::Tensor& each : self) each.mul_(by);
}

OPGEN_KERNEL(add_to)(const at::Tensor& x, at::Tensor& total) {
  return total.add_(x);
}

OPGEN_KERNEL(count)(const at::Tensor& x, at::Tensor& calls) {
  calls.add_(1);
  return x * 2;
}

OPGEN_KERNEL(pick)(const at::Tensor& self, const at::Tensor& index) {
  return self.index_select(0, index);
}

OPGEN_KERNEL(largest)(const at::Tensor& self, int64_t dim) {
  return self.max(dim);
}

OPGEN_KERNEL(total)(const at::Tensor& self) {
  return self.sum();
}

OPGEN_KERNEL(scale_if)(const at::Tensor& self, double factor, bool) {
  return self * factor;
}

OPGEN_KERNEL(backward_only)(const at::Tensor& self) {
  return self * 5;
}

OPGEN_KERNEL(shift)(const at::Tensor& self, const std::optional<at::Tensor>& by) {
  return by.has_value() ? self + *by : self.clone();
}

OPGEN_KERNEL(chosen)(const at::Tensor& self) {
  return {self.sign(), self * 2};
}

OPGEN_KERNEL(mixed)(const at::Tensor& self, int64_t count) {
  std::vector<at::Tensor> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(self * (i + 1));
  return {self * 2, parts};
}

OPGEN_KERNEL(perhaps)(const at::Tensor& self, bool there) {
  return there ? std::optional<at::Tensor>(self * 2) : std::nullopt;
}

OPGEN_KERNEL(drain_)(at::Tensor& self, const at::Tensor& other) {
  self.add_(other);
  return other * 3;
}

OPGEN_KERNEL(swap_)(at::Tensor& self, at::Tensor& other) {
  const at::Tensor copy = self.clone();
  self.copy_(other);
  other.copy_(copy);
  return {self, other};
}

OPGEN_KERNEL(times_into)(const at::Tensor& x, at::Tensor& total) {
  total.mul_(x);
  return {total * 10, total};
}

OPGEN_KERNEL(broken)(const at::Tensor& self) {
  return self * 1;
}

OPGEN_KERNEL(nested)(const at::Tensor& self) {
  return {{self * 2}, {self * 3, self * 4}};
}
OPGEN_KERNEL(gaps)(const at::Tensor& self) {
  return {std::nullopt, self * 2};
}
OPGEN_KERNEL(named)(const at::Tensor& self) {
  c10::Dict<std::string, at::Tensor> found;
  found.insert("twice", self * 2);
  return found;
}
OPGEN_KERNEL(given)(const c10::List<std::optional<at::Tensor>>& parts) {
  at::Tensor sum = at::zeros({});
  for (const std::optional<at::Tensor>& part : parts) {
    if (part.has_value()) sum = sum + part->sum();
  }
  return sum;
}

}  // namespace derived::native
