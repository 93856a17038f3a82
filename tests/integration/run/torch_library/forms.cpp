// The kernels of forms.yaml; forms.py has their expected results, computed in Python.
#include <ATen/ATen.h>
#include <opgen/kernel.h>

#include <forms/NativeFunctions.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace forms::native {

OPGEN_KERNEL(rms_norm_cpu)
(at::Tensor& result, const at::Tensor& input, const at::Tensor& weight, double epsilon) {
  const at::Tensor mean = input.square().mean(-1, /*keepdim=*/true);
  result.copy_(input * (mean + epsilon).rsqrt() * weight);
}

OPGEN_KERNEL(myadd_out_cpu)(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  out.copy_(a + b);
}

OPGEN_KERNEL(sums_cpu)
(const at::Tensor& input, at::Tensor& rows, at::Tensor& columns, at::Tensor& all) {
  rows.copy_(input.sum(1));
  columns.copy_(input.sum(0));
  all.copy_(input.sum());
}

OPGEN_KERNEL(rotate_cpu)
(at::Tensor& query, const std::optional<at::Tensor>& key, const at::Tensor& positions) {
  query.mul_(positions);
  if (key.has_value()) key->mul_(positions);
}

OPGEN_KERNEL(doubled_into_cpu)(const at::Tensor& input, const std::optional<at::Tensor>& out) {
  if (out.has_value()) out->copy_(input * 2);
}

OPGEN_KERNEL(scale_each_cpu)(at::TensorList xs, double factor) {
  for (const at::Tensor& x : xs) x.mul_(factor);
}

OPGEN_KERNEL(scale_list_cpu)(at::TensorList xs, const at::Tensor& factor) {
  for (const at::Tensor& x : xs) x.mul_(factor);
}

OPGEN_KERNEL(scale_some_cpu)
(const at::Tensor& x, std::optional<at::TensorList> others, double factor) {
  if (others.has_value()) {
    for (const at::Tensor& other : *others) other.mul_(factor);
  }
  return x * factor;
}

OPGEN_KERNEL(scale_some_meta)(const at::Tensor& x, std::optional<at::TensorList>, double) {
  return at::empty_like(x);
}

OPGEN_KERNEL(scale_beside_cpu)
(const at::Tensor& x, const std::optional<at::Tensor>& other, double factor) {
  if (other.has_value()) other->mul_(factor);
  return x * factor;
}

OPGEN_KERNEL(scale_beside_meta)
(const at::Tensor& x, const std::optional<at::Tensor>&, double) {
  return at::empty_like(x);
}

OPGEN_KERNEL(normalize_cpu)(at::Tensor& x) {
  at::Tensor norm = x.norm();
  x.div_(norm);
  return norm;
}

OPGEN_KERNEL(normalize_meta)(at::Tensor& x) {
  return at::empty({}, x.options());
}

OPGEN_KERNEL(moments_cpu)(const at::Tensor& x, at::Tensor& count) {
  count.fill_(x.size(0));
  return {x.mean(0), x.var(0)};
}

OPGEN_KERNEL(moments_meta)(const at::Tensor& x, at::Tensor&) {
  const c10::SymIntArrayRef sizes = x.sym_sizes().slice(1);
  return {at::empty_symint(sizes, x.options()), at::empty_symint(sizes, x.options())};
}

OPGEN_KERNEL(pieces_cpu)(at::Tensor& x, int64_t n) {
  x.add_(1);
  std::vector<at::Tensor> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(x * i);
  return all;
}

OPGEN_KERNEL(pieces_meta)(at::Tensor& x, int64_t n) {
  std::vector<at::Tensor> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(at::empty_like(x));
  return all;
}

OPGEN_KERNEL(step__cpu)(at::Tensor& self, double by) {
  return self.add_(by);
}

OPGEN_KERNEL(relu_into_cpu)(const at::Tensor& x, at::Tensor& y) {
  return y.copy_(x.relu());
}

OPGEN_KERNEL(lerp_out_cpu)
(const at::Tensor& a, const at::Tensor& b, double weight, at::Tensor& out) {
  return out.copy_(a + weight * (b - a));
}

OPGEN_KERNEL(swap_cpu)(at::Tensor& x, at::Tensor& y) {
  const at::Tensor old = x.clone();
  x.copy_(y);
  y.copy_(old);
  return {y, x};
}

OPGEN_KERNEL(attend_cpu)
(const at::Tensor& q, const at::Tensor& k, const std::optional<at::Tensor>& out, bool scaled) {
  const at::Tensor scores = at::mm(q, k.t());
  const at::Tensor weights = at::softmax(scaled ? scores / 2 : scores, -1);
  const at::Tensor result = out.has_value() ? *out : at::empty_like(k);
  result.copy_(at::mm(weights, k));
  return {result, weights, scores.sum(-1)};
}

OPGEN_KERNEL(attend_meta)
(const at::Tensor& q, const at::Tensor& k, const std::optional<at::Tensor>& out, bool) {
  const c10::SymInt rows = q.sym_size(0);
  return {out.has_value() ? *out : at::empty_like(k),
          at::empty_symint({rows, k.sym_size(0)}, q.options()),
          at::empty_symint({rows}, q.options())};
}

OPGEN_KERNEL(softmax_into_cpu)(const at::Tensor& x, const std::optional<at::Tensor>& out) {
  const at::Tensor result = out.has_value() ? *out : at::empty_like(x);
  return result.copy_(x.softmax(-1));
}

OPGEN_KERNEL(softmax_into_meta)(const at::Tensor& x, const std::optional<at::Tensor>& out) {
  return out.has_value() ? *out : at::empty_like(x);
}

OPGEN_KERNEL(append_cpu)(at::Tensor& cache, const at::Tensor& x, int64_t at) {
  cache.select(0, at).copy_(x);
  return {cache.sum(), cache};
}

OPGEN_KERNEL(append_meta)(at::Tensor& cache, const at::Tensor&, int64_t) {
  return {at::empty({}, cache.options()), cache};
}

OPGEN_KERNEL(clear_each_cpu)(at::TensorList xs) {
  for (const at::Tensor& x : xs) x.zero_();
  return xs.vec();
}

OPGEN_KERNEL(fill_count)(at::Tensor& x, double value) {
  x.fill_(value);
  return x.sym_numel().guard_int(__FILE__, __LINE__);
}

OPGEN_KERNEL(doubled_rows)(const at::Tensor& x) {
  return x.sym_size(0) * 2;
}

OPGEN_KERNEL(merge_cpu)(at::Tensor& output, const at::Tensor& x, std::optional<int64_t> times) {
  output.add_(x, times.value_or(1));
}

OPGEN_KERNEL(halve_cpu)(const at::Tensor& x) {
  return x / 2;
}
OPGEN_KERNEL(halve_meta)(const at::Tensor& x) {
  return at::empty_like(x);
}
OPGEN_KERNEL(halve_out_cpu)(const at::Tensor& x, at::Tensor& out) {
  return out.copy_(x / 2);
}

OPGEN_KERNEL(twos_like)
(const at::Tensor& x, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
 std::optional<at::Device> device, std::optional<bool> pin_memory) {
  return at::full_like(x, 2, dtype, layout, device, pin_memory, std::nullopt);
}

OPGEN_KERNEL(accumulate__cpu)(const at::Tensor& x, at::Tensor& self) {
  self.add_(x);
}

OPGEN_KERNEL(plain__cpu)(const at::Tensor& x) {
  return x + 1;
}
OPGEN_KERNEL(plain__meta)(const at::Tensor& x) {
  return at::empty_like(x);
}

OPGEN_KERNEL(row)(const at::Tensor& x, int64_t index) {
  return x.select(0, index);
}

OPGEN_KERNEL(rows)(const at::Tensor& x) {
  return x.unbind(0);
}

OPGEN_KERNEL(ramp_cpu)(int64_t n, at::Device device) {
  return at::arange(n, at::TensorOptions().device(device));
}

OPGEN_KERNEL(ramp_meta)(int64_t n, at::Device device) {
  return at::empty({n}, at::TensorOptions().device(device).dtype(at::kLong));
}

OPGEN_KERNEL(words_cpu)
(at::Tensor& template_, const at::Tensor& default_, int64_t int_, c10::string_view lambda) {
  template_.copy_(default_ * int_);
  return default_ + static_cast<int64_t>(lambda.size());
}

OPGEN_KERNEL(words_meta)(at::Tensor&, const at::Tensor& default_, int64_t, c10::string_view) {
  return at::empty_like(default_);
}

OPGEN_KERNEL(total)
(const c10::Dict<std::string, at::Tensor>& parts,
 const c10::List<std::tuple<at::Tensor, int64_t>>& weighted, at::ArrayRef<double> powers) {
  at::Tensor sum = at::zeros({});
  for (const auto& part : parts) sum = sum + part.value().sum();
  for (std::size_t i = 0; i < weighted.size(); ++i) {
    const auto [x, times] = weighted.get(i);
    sum = sum + x.sum() * times;
  }
  for (const double power : powers) sum = sum + power;
  return sum;
}

}  // namespace forms::native
