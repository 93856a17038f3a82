// forms_stable.cpp: the kernels of forms.yaml for target torch-stable, whose tensors have no
// operators as methods.
#include <opgen/kernel.h>

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/div.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/select.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/unbind.h>
#include <ATen/ops/var.h>
#include <ATen/ops/zero.h>

#include <forms/NativeFunctions.h>

#include <optional>
#include <vector>

using namespace opgen::types;

namespace {

Tensor times(const Tensor& x, double factor) {
  return at::mul(x, Scalar(factor));
}
void scale(const Tensor& x, double factor) {
  opgen::copy_(x, times(x, factor));
}

}  // namespace

namespace forms::native {

OPGEN_KERNEL(rms_norm_cpu)
(Tensor& result, const Tensor& input, const Tensor& weight, double epsilon) {
  const Tensor mean =
      at::mean(at::square(input), opgen::OptionalIntArrayRef({-1}), /*keepdim=*/true);
  opgen::copy_(result, at::mul(at::mul(input, at::rsqrt(at::add(mean, Scalar(epsilon)))), weight));
}

OPGEN_KERNEL(myadd_out_cpu)(const Tensor& a, const Tensor& b, Tensor& out) {
  opgen::copy_(out, at::add(a, b));
}

OPGEN_KERNEL(sums_cpu)(const Tensor& input, Tensor& rows, Tensor& columns, Tensor& all) {
  opgen::copy_(rows, at::sum(input, opgen::OptionalIntArrayRef({1})));
  opgen::copy_(columns, at::sum(input, opgen::OptionalIntArrayRef({0})));
  opgen::copy_(all, at::sum(input));
}

OPGEN_KERNEL(rotate_cpu)
(Tensor& query, const std::optional<Tensor>& key, const Tensor& positions) {
  opgen::copy_(query, at::mul(query, positions));
  if (key.has_value()) opgen::copy_(*key, at::mul(*key, positions));
}

OPGEN_KERNEL(doubled_into_cpu)(const Tensor& input, const std::optional<Tensor>& out) {
  if (out.has_value()) opgen::copy_(*out, times(input, 2));
}

OPGEN_KERNEL(scale_each_cpu)(TensorList xs, double factor) {
  for (const Tensor& x : xs) scale(x, factor);
}

OPGEN_KERNEL(scale_list_cpu)(TensorList xs, const Tensor& factor) {
  for (const Tensor& x : xs) opgen::copy_(x, at::mul(x, factor));
}

OPGEN_KERNEL(scale_some_cpu)
(const Tensor& x, std::optional<TensorList> others, double factor) {
  if (others.has_value()) {
    for (const Tensor& other : *others) scale(other, factor);
  }
  return times(x, factor);
}
OPGEN_KERNEL(scale_some_meta)(const Tensor& x, std::optional<TensorList>, double) {
  return opgen::empty_like(x);
}

OPGEN_KERNEL(scale_beside_cpu)
(const Tensor& x, const std::optional<Tensor>& other, double factor) {
  if (other.has_value()) scale(*other, factor);
  return times(x, factor);
}
OPGEN_KERNEL(scale_beside_meta)(const Tensor& x, const std::optional<Tensor>&, double) {
  return opgen::empty_like(x);
}

OPGEN_KERNEL(normalize_cpu)(Tensor& x) {
  Tensor norm = at::norm(x);
  opgen::copy_(x, at::div(x, norm));
  return norm;
}
OPGEN_KERNEL(normalize_meta)(Tensor& x) {
  return opgen::empty({}, x.options());
}

OPGEN_KERNEL(moments_cpu)(const Tensor& x, Tensor& count) {
  opgen::fill_(count, x.size(0));
  return {at::mean(x, opgen::OptionalIntArrayRef({0})),
          at::var(x, opgen::OptionalIntArrayRef({0}))};
}
OPGEN_KERNEL(moments_meta)(const Tensor& x, Tensor&) {
  const SymIntArrayRef sizes = x.sym_sizes().slice(1);
  return {opgen::empty_symint(sizes, x.options()), opgen::empty_symint(sizes, x.options())};
}

OPGEN_KERNEL(pieces_cpu)(Tensor& x, int64_t n) {
  opgen::copy_(x, at::add(x, Scalar(1)));
  std::vector<Tensor> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(times(x, static_cast<double>(i)));
  return all;
}
OPGEN_KERNEL(pieces_meta)(Tensor& x, int64_t n) {
  std::vector<Tensor> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(opgen::empty_like(x));
  return all;
}

OPGEN_KERNEL(step__cpu)(Tensor& self, double by) {
  opgen::copy_(self, at::add(self, Scalar(by)));
  return self;
}

OPGEN_KERNEL(relu_into_cpu)(const Tensor& x, Tensor& y) {
  opgen::copy_(y, at::relu(x));
  return y;
}

OPGEN_KERNEL(lerp_out_cpu)(const Tensor& a, const Tensor& b, double weight, Tensor& out) {
  opgen::copy_(out, at::lerp(a, b, Scalar(weight)));
  return out;
}

OPGEN_KERNEL(swap_cpu)(Tensor& x, Tensor& y) {
  const Tensor old = opgen::clone(x);
  opgen::copy_(x, y);
  opgen::copy_(y, old);
  return {y, x};
}

OPGEN_KERNEL(clear_each_cpu)(TensorList xs) {
  for (const Tensor& x : xs) opgen::zero_(x);
  return xs.vec();
}

OPGEN_KERNEL(fill_count)(Tensor& x, double value) {
  opgen::fill_(x, value);
  return x.sym_numel().guard_int(__FILE__, __LINE__);
}

OPGEN_KERNEL(doubled_rows)(const Tensor& x) {
  return x.sym_size(0) * 2;
}

OPGEN_KERNEL(merge_cpu)(Tensor& output, const Tensor& x, std::optional<int64_t> count) {
  opgen::copy_(output, at::add(output, x, Scalar(count.value_or(1))));
}

OPGEN_KERNEL(halve_cpu)(const Tensor& x) {
  return times(x, 0.5);
}
OPGEN_KERNEL(halve_meta)(const Tensor& x) {
  return opgen::empty_like(x);
}
OPGEN_KERNEL(halve_out_cpu)(const Tensor& x, Tensor& out) {
  opgen::copy_(out, times(x, 0.5));
  return out;
}

OPGEN_KERNEL(twos_like)
(const Tensor& x, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory) {
  const TensorOptions options =
      TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
  Tensor result = opgen::empty_like(x, options);
  opgen::fill_(result, 2);
  return result;
}

OPGEN_KERNEL(accumulate__cpu)(const Tensor& x, Tensor& self) {
  opgen::copy_(self, at::add(self, x));
}

OPGEN_KERNEL(plain__cpu)(const Tensor& x) {
  return at::add(x, Scalar(1));
}
OPGEN_KERNEL(plain__meta)(const Tensor& x) {
  return opgen::empty_like(x);
}

OPGEN_KERNEL(row)(const Tensor& x, int64_t index) {
  return at::select(x, 0, index);
}

OPGEN_KERNEL(rows)(const Tensor& x) {
  return at::unbind(x, 0);
}

OPGEN_KERNEL(ramp_cpu)(int64_t n, Device device) {
  return at::arange(Scalar(n), TensorOptions().device(device));
}
OPGEN_KERNEL(ramp_meta)(int64_t n, Device device) {
  return opgen::empty({n}, TensorOptions().device(device).dtype(kLong));
}

}  // namespace forms::native
