// forms.cpp: the kernels of native_functions.yaml, for the three targets.
#include <opgen/kernel.h>

#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include <forms/ops/add_all_native.h>
#include <forms/ops/halves_native.h>
#include <forms/ops/joined_native.h>
#include <forms/ops/mul_closed_native.h>
#include <forms/ops/mul_given_native.h>
#include <forms/ops/mul_joint_backward_native.h>
#include <forms/ops/mul_joint_native.h>
#include <forms/ops/mul_meta.h>
#include <forms/ops/mul_native.h>
#include <forms/ops/mul_once_native.h>
#include <forms/ops/mul_plain_native.h>
#include <forms/ops/mul_sign_native.h>
#include <forms/ops/mul_when_native.h>
#include <forms/ops/multiply_all_native.h>
#include <forms/ops/multiply_both__native.h>
#include <forms/ops/multiply_native.h>
#include <forms/ops/multiply_some__native.h>
#include <forms/ops/push__native.h>
#include <forms/ops/turned_native.h>
#include <forms/ops/weigh_native.h>

using namespace opgen::types;

namespace {

// Sets `to` to f(a, b) for each element; all are of type double and of one shape.
template <class F>
void combine(const Tensor& to, const Tensor& a, const Tensor& b, const F& f) {
  if (to.is_meta()) return;
  const Tensor left = opgen::contiguous(a);
  const Tensor right = opgen::contiguous(b);
  Tensor values = opgen::empty(left.sizes(), left.options());
  const double* const x = left.data_ptr<double>();
  const double* const y = right.data_ptr<double>();
  double* const z = values.data_ptr<double>();
  for (std::int64_t i = 0; i < left.numel(); ++i) z[i] = f(x[i], y[i]);
  opgen::copy_(to, values);
}

Tensor like(const Tensor& tensor) {
  return opgen::empty_symint(tensor.sym_sizes(), tensor.options());
}
void multiply(const Tensor& to, const Tensor& a, const Tensor& b) {
  combine(to, a, b, [](double x, double y) { return x * y; });
}
Tensor product(const Tensor& a, const Tensor& b) {
  Tensor result = like(a);
  multiply(result, a, b);
  return result;
}

}  // namespace

OPGEN_META_FUNC2(mul, Tensor)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(mul_out)(const Tensor&, const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES(common_dtype(), "mul", [&] {
    opgen::cpu_kernel(*this, [](scalar_t x, scalar_t y) -> scalar_t { return x * y; });
  });
}

OPGEN_KERNEL(multiply_)(Tensor& self, const Tensor& other) {
  multiply(self, self, other);
  return self;
}
// The product goes to `self`, and the square of its old value to `other`.
OPGEN_KERNEL(multiply_both_)(Tensor& self, Tensor& other) {
  const Tensor square = product(self, self);
  multiply(self, self, other);
  opgen::copy_(other, square);
  return {self, other};
}

OPGEN_KERNEL(multiply_all)(TensorList self, const Tensor& other) {
  std::vector<Tensor> results;
  for (const Tensor& each : self) results.push_back(product(each, other));
  return results;
}
OPGEN_KERNEL(multiply_all_)(TensorList self, const Tensor& other) {
  for (const Tensor& each : self) multiply(each, each, other);
}
OPGEN_KERNEL(multiply_some_)(const List<std::optional<Tensor>>& self, const Tensor& other) {
  for (const std::optional<Tensor>& each : self) {
    if (each.has_value()) multiply(*each, *each, other);
  }
}
OPGEN_KERNEL(weigh)(TensorList left, TensorList right) {
  Tensor sum = product(left[0], right[0]);
  for (std::size_t i = 1; i < left.size(); ++i) {
    combine(sum, sum, product(left[i], right[i]), [](double x, double y) { return x + y; });
  }
  return sum;
}
OPGEN_KERNEL(add_all)(TensorList left, TensorList right) {
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < left.size(); ++i) {
    results.push_back(like(left[i]));
    combine(results[i], left[i], right[i], [](double x, double y) { return x + y; });
  }
  return results;
}

// Adds `other` to `self`, and returns the square of `other`.
OPGEN_KERNEL(push_)(Tensor& self, const Tensor& other) {
  combine(self, self, other, [](double x, double y) { return x + y; });
  return product(other, other);
}

OPGEN_KERNEL(turned)(const Tensor& self) {
  return opgen::as_strided_symint(self, {self.sym_size(1), self.sym_size(0)},
                                  {self.sym_stride(1), self.sym_stride(0)},
                                  self.sym_storage_offset());
}
OPGEN_KERNEL(halves)(const Tensor& self) {
  const auto rows = self.sym_size(0) / 2;
  const auto columns = self.sym_size(1);
  const auto offset = self.sym_storage_offset();
  const auto stride = self.sym_stride(0);
  return {opgen::as_strided_symint(self, {rows, columns}, {stride, self.sym_stride(1)}, offset),
          opgen::as_strided_symint(self, {rows, columns}, {stride, self.sym_stride(1)},
                                   offset + rows * stride)};
}
OPGEN_KERNEL(joined)(const Tensor& above, const Tensor& below) {
  Tensor result = opgen::empty_symint({above.sym_size(0) * 2, above.sym_size(1)}, above.options());
  if (result.is_meta()) return result;
  opgen::copy_(opgen::as_strided(result, above.sizes(), result.strides(), 0), above);
  opgen::copy_(opgen::as_strided(result, above.sizes(), result.strides(), above.numel()), below);
  return result;
}

OPGEN_KERNEL(mul_given)(const Tensor& self, const std::optional<Tensor>& other) {
  return other.has_value() ? product(self, *other) : opgen::clone(self);
}
OPGEN_KERNEL(mul_sign)(const Tensor& self, const Tensor& other) {
  Tensor result = product(self, other);
  return {result, opgen::to_dtype(result, opgen::kLong)};
}
OPGEN_KERNEL(mul_when)(const Tensor& self, const Tensor& other, bool) {
  return product(self, other);
}
OPGEN_KERNEL(mul_joint)(const Tensor& self, const Tensor& other) {
  return product(self, other);
}
OPGEN_KERNEL(mul_joint_backward)
(const Tensor& grad_output, const Tensor& self, const Tensor& other, std::array<bool, 2> mask) {
  return {mask[0] ? product(grad_output, other) : Tensor(),
          mask[1] ? product(grad_output, self) : Tensor()};
}
OPGEN_KERNEL(mul_closed)(const Tensor& self, const Tensor& other) {
  return product(self, other);
}
OPGEN_KERNEL(mul_once)(const Tensor& self, const Tensor& other) {
  return product(self, other);
}
OPGEN_KERNEL(mul_plain)(const Tensor& self, const Tensor& other) {
  return product(self, other);
}
