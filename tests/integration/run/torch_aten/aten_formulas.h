// aten_formulas.h: the functions that PyTorch's formulas call for the operators of the slice, and
// that libtorch does not export. Written for these tests.
#pragma once

#include <ATen/ATen.h>
#include <ATen/NestedTensorImpl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace slice {

using at::Scalar;
using at::ScalarType;
using at::Tensor;

using Mode = std::optional<std::string_view>;

// ---- numbers and dtypes ----

inline Tensor as_real_as(ScalarType dtype, const Tensor& gradient) {
  return gradient.is_complex() && !at::isComplexType(dtype) ? at::real(gradient) : gradient;
}
inline Tensor maybe_multiply(const Tensor& tensor, const Scalar& factor) {
  return factor.equal(1) ? tensor : tensor * factor;
}
inline Tensor mul_tensor_backward(const Tensor& grad, const Tensor& other, ScalarType dtype) {
  return as_real_as(dtype, grad * other.conj());
}
inline Tensor div_tensor_self_backward(const Tensor& grad, const Tensor& other, ScalarType dtype,
                                       const Mode& mode = std::nullopt) {
  return mode.has_value() ? at::zeros_like(grad) : as_real_as(dtype, grad / other.conj());
}
inline Tensor div_tensor_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other,
                                        const Mode& mode = std::nullopt) {
  if (mode.has_value()) return at::zeros_like(grad);
  return as_real_as(other.scalar_type(), -grad * (self / other / other).conj());
}

// ---- element-wise ----

inline std::tuple<Tensor, Tensor> atan2_backward(const Tensor& grad, const Tensor& self,
                                                 const Tensor& other, std::array<bool, 2> mask) {
  const Tensor square = self * self + other * other;
  const Tensor scaled = (grad / square).masked_fill(square == 0, 0);
  return {mask[0] ? scaled * other : Tensor(), mask[1] ? -scaled * self : Tensor()};
}
inline Tensor log1p_backward(const Tensor& grad, const Tensor& self) {
  return grad / (self + 1).conj();
}
inline Tensor copysign_tensor_self_backward(const Tensor& grad, const Tensor& self,
                                            const Tensor& result) {
  const Tensor ratio = result / self;
  return grad * ratio.masked_fill(self == 0, 0);
}
// d/dx of x / |x| in the direction of the gradient.
inline Tensor sgn_backward(const Tensor& self, const Tensor& grad, const Tensor& sgn) {
  if (!self.is_complex()) return at::zeros_like(self);
  const Tensor size = self.abs();
  const Tensor across = grad - at::real(sgn.conj() * grad) * sgn;
  return (across / size).masked_fill(size == 0, 0);
}
inline Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  const Tensor slope = exponent * self.pow(exponent - 1);
  const Tensor zero = at::zeros({}, grad.options());
  return as_real_as(self.scalar_type(), at::where(exponent == 0, zero, grad * slope.conj()));
}
inline Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                                    const Tensor& result) {
  const Tensor is_positive = exponent.is_complex() ? at::real(exponent) >= 0 : exponent >= 0;
  // The logarithm of a negative number is complex if the exponent is.
  const Tensor logarithm = self.to(at::result_type(self, exponent)).log();
  const Tensor flat = (self == 0).logical_and(is_positive);
  const Tensor zero = at::zeros({}, grad.options());
  return as_real_as(exponent.scalar_type(),
                    grad * at::where(flat, zero, (result * logarithm).conj()));
}
inline Tensor infinitely_differentiable_silu_backward(const Tensor& grad, const Tensor& self) {
  const Tensor s = self.sigmoid();
  return grad * s * (1 + self * (1 - s));
}
inline Tensor infinitely_differentiable_mish_backward(const Tensor& grad, const Tensor& self) {
  const Tensor t = at::softplus(self).tanh();
  return grad * (t + self * self.sigmoid() * (1 - t * t));
}

// ---- clamp: a bound that is not a number wins ----

inline Tensor clamp_backward(const Tensor& grad, const Tensor& self, const Tensor& min,
                             const Tensor& max) {
  if (!grad.defined()) return grad;
  Tensor kept = at::ones_like(self, at::kBool);
  if (min.defined()) kept = kept.logical_and(self >= min);
  if (max.defined()) kept = kept.logical_and(self <= max);
  return at::where(kept, grad, at::zeros({}, grad.options()));
}
inline std::tuple<Tensor, Tensor> clamp_backward_min_max(const Tensor& grad, const Tensor& self,
                                                         const Tensor& min, const Tensor& max,
                                                         std::array<bool, 2> mask) {
  if (!grad.defined()) return {};
  const Tensor zero = at::zeros({}, grad.options());
  Tensor to_min, to_max;
  if (mask[0] && min.defined()) {
    Tensor below = self < min;
    if (max.defined()) below = below.logical_and(min < max);
    to_min = at::where(below, grad, zero);
  }
  if (mask[1] && max.defined()) {
    Tensor above = self > max;
    if (min.defined()) above = above.logical_or(max < min);
    to_max = at::where(above, grad, zero);
  }
  return {to_min, to_max};
}
inline Tensor clamp_jvp(const Tensor& self_p, const Tensor& self_t, const Tensor& min_p,
                        const Tensor& min_t, const Tensor& max_p, const Tensor& max_t) {
  if (min_p.defined() && max_p.defined()) {
    const Tensor inner = at::where(self_p < min_p, min_t, self_t);
    return at::where(min_p > max_p, max_t, at::where(self_p > max_p, max_t, inner));
  }
  if (min_p.defined()) return at::where(self_p > min_p, self_t, min_t);
  if (max_p.defined()) return at::where(self_p < max_p, self_t, max_t);
  return self_t;
}

// ---- reductions ----

// `tensor` with the dimensions that a reduction removed, each of size 1.
inline Tensor restore_reduced_dims(const Tensor& tensor, at::IntArrayRef dims, bool keepdim) {
  if (keepdim) return tensor;
  const auto rank = tensor.dim() + static_cast<std::int64_t>(dims.size());
  std::vector<bool> removed(static_cast<std::size_t>(std::max<std::int64_t>(rank, 1)));
  for (const auto d : dims) removed[static_cast<std::size_t>(d < 0 ? d + rank : d)] = true;
  Tensor restored = tensor;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (removed[static_cast<std::size_t>(d)]) restored = restored.unsqueeze(d);
  }
  return restored;
}
inline Tensor spread(const Tensor& grad, c10::SymIntArrayRef sizes, at::OptionalIntArrayRef dims,
                     bool keepdim) {
  const bool all = !dims.has_value() || dims->empty();
  if (all || sizes.empty()) return grad.expand_symint(sizes);
  const auto rank = static_cast<std::int64_t>(sizes.size());
  std::vector<std::int64_t> sorted;
  for (const auto d : *dims) sorted.push_back(d < 0 ? d + rank : d);
  std::sort(sorted.begin(), sorted.end());
  Tensor wide = grad;
  for (const auto d : sorted) {
    if (!keepdim) wide = wide.unsqueeze(d);
  }
  return wide.expand_symint(sizes);
}
inline Tensor sum_backward(const Tensor& grad, c10::SymIntArrayRef sizes,
                           at::OptionalIntArrayRef dims, bool keepdim) {
  return spread(grad, sizes, dims, keepdim);
}
inline Tensor mean_backward(const Tensor& grad, c10::SymIntArrayRef sizes,
                            at::OptionalIntArrayRef dims, const c10::SymInt& numel, bool keepdim) {
  c10::SymInt count = 1;
  if (!dims.has_value() || dims->empty()) {
    count = numel;
  } else if (!sizes.empty()) {
    const auto rank = static_cast<std::int64_t>(sizes.size());
    for (const auto d : *dims) count *= sizes[static_cast<std::size_t>(d < 0 ? d + rank : d)];
  }
  return spread(grad, sizes, dims, keepdim) / std::move(count);
}
// The gradient is shared by all elements that are equal to the extreme one.
inline Tensor scale_grad_by_count(const Tensor& grad, const Tensor& mask, at::IntArrayRef dims) {
  return grad * mask / mask.sum(dims, /*keepdim=*/true);
}
inline Tensor amaxamin_jvp(const Tensor& x, const Tensor& dx, const Tensor& result,
                           at::IntArrayRef dims, bool keepdim) {
  const Tensor mask = x == restore_reduced_dims(result, dims, keepdim);
  return at::where(mask, dx, at::zeros({}, dx.options())).sum(dims, keepdim) /
         mask.sum(dims, keepdim);
}
inline Tensor gather_with_keepdimed_indices(const Tensor& self, std::int64_t dim,
                                            const Tensor& indices, bool keepdim) {
  if (self.dim() == 0) return self.clone();
  const Tensor found = self.gather(dim, keepdim ? indices : indices.unsqueeze(dim));
  return keepdim ? found : found.squeeze(dim);
}
inline Tensor logsumexp_jvp(const Tensor& self, const Tensor& tangent, at::IntArrayRef dims,
                            bool keepdim) {
  if (self.dim() == 0) return tangent;
  return (at::softmax(self, dims.front()) * tangent).sum(dims, keepdim);
}

// ---- cumulative ----

inline Tensor reversed_cumsum(const Tensor& tensor, std::int64_t dim) {
  return tensor.flip(dim).cumsum(dim).flip(dim);
}
inline Tensor cumsum_backward(const Tensor& grad, std::int64_t dim) {
  if (grad.numel() <= 1 || grad.sym_size(dim) == 1) return grad;
  return reversed_cumsum(grad, dim);
}
// Without the element at each place: prefix * suffix, which no zero can spoil.
inline Tensor product_of_others(const Tensor& self, std::int64_t dim) {
  const Tensor one = at::ones_like(self.narrow(dim, 0, 1));
  const auto n = self.size(dim);
  const Tensor before = at::cat({one, self.narrow(dim, 0, n - 1)}, dim).cumprod(dim);
  const Tensor after =
      at::cat({one, self.narrow(dim, 1, n - 1).flip(dim)}, dim).cumprod(dim).flip(dim);
  return before * after;
}
inline Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor&, std::int64_t dim,
                            bool keepdim) {
  if (self.dim() == 0) return grad.clone();
  if (self.numel() == 0) return (keepdim ? grad : grad.unsqueeze(dim)) * self;
  return (keepdim ? grad : grad.unsqueeze(dim)) * product_of_others(self, dim).conj();
}
// dy_j/dx_i is the product of x_0 to x_j without x_i, for i <= j.
inline Tensor cumprod_of_others(const Tensor& self, std::int64_t dim) {
  const Tensor x = self.movedim(dim, -1);
  const auto n = x.size(-1);
  const Tensor eye = at::eye(n, x.options().dtype(at::kBool));
  const Tensor rows = x.unsqueeze(-2).expand_symint([&] {
    auto sizes = x.sym_sizes().vec();
    sizes.insert(sizes.end() - 1, n);
    return sizes;
  }());
  return rows.masked_fill(eye, 1).cumprod(-1).triu();
}
inline Tensor cumprod_jvp(const Tensor& self_t, const Tensor& self_p, const Tensor&,
                          std::int64_t dim) {
  if (self_p.dim() == 0 || self_p.numel() == 0) return self_t;
  const Tensor all = cumprod_of_others(self_p, dim);
  return (all * self_t.movedim(dim, -1).unsqueeze(-1)).sum(-2).movedim(-1, dim);
}

// ---- matrices ----

inline Tensor mm_mat1_backward(const Tensor& grad, const Tensor& mat2, c10::SymIntArrayRef,
                               c10::SymIntArrayRef, c10::Layout, const Scalar& alpha) {
  return maybe_multiply(grad.mm(mat2.t().conj()), alpha.conj());
}
inline Tensor mm_mat2_backward(const Tensor& grad, const Tensor& mat1, c10::SymIntArrayRef,
                               c10::SymIntArrayRef, c10::Layout, const Scalar& alpha) {
  return maybe_multiply(mat1.t().conj().mm(grad), alpha.conj());
}
// Each slice along `dim` is scaled by maxnorm / its norm, if that is larger than maxnorm.
inline std::tuple<Tensor, Tensor> renorm_parts(const Tensor& self, const Scalar& p,
                                               std::int64_t dim, const Scalar& maxnorm) {
  std::vector<std::int64_t> others;
  const auto own = dim < 0 ? dim + self.dim() : dim;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (d != own) others.push_back(d);
  }
  const Tensor norm = at::linalg_vector_norm(self, p, others, /*keepdim=*/true);
  return {norm, norm > maxnorm};
}
// The gradient of x * maxnorm / (|x| + 1e-7), with that of the norm by another call of autograd's.
inline Tensor slope_of_norm(const Tensor& self, const Tensor& norm, const Scalar& p) {
  const double power = p.toDouble();
  if (power == 0.0) return at::zeros_like(self);
  const Tensor size = self.abs();
  const Tensor slope = self.sgn() * (size / norm).pow(power - 1);
  return slope.masked_fill((norm == 0).logical_or(size == 0), 0);
}
inline Tensor renorm_backward(const Tensor& grad, const Tensor& self, const Scalar& p,
                              std::int64_t dim, const Scalar& maxnorm) {
  const auto [norm, is_larger] = renorm_parts(self, p, dim, maxnorm);
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (d != (dim < 0 ? dim + self.dim() : dim)) others.push_back(d);
  }
  const Tensor bound = norm + 1e-7;
  Tensor along = (grad * self.conj()).sum(others, /*keepdim=*/true);
  if (along.is_complex()) along = at::real(along);
  const Tensor scaled =
      maxnorm.toDouble() * (grad / bound - along / (bound * bound) * slope_of_norm(self, norm, p));
  return at::where(is_larger, scaled.to(grad.scalar_type()), grad);
}
inline Tensor renorm_jvp(const Tensor& self_p, const Tensor& self_t, const Scalar& p,
                         std::int64_t dim, const Scalar& maxnorm) {
  const auto [norm, is_larger] = renorm_parts(self_p, p, dim, maxnorm);
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < self_p.dim(); ++d) {
    if (d != (dim < 0 ? dim + self_p.dim() : dim)) others.push_back(d);
  }
  const Tensor bound = norm + 1e-7;
  Tensor change = (slope_of_norm(self_p, norm, p).conj() * self_t).sum(others, /*keepdim=*/true);
  if (change.is_complex()) change = at::real(change);
  const Tensor scaled = maxnorm.toDouble() * (self_t / bound - self_p * (change / (bound * bound)));
  return at::where(is_larger, scaled.to(self_t.scalar_type()), self_t);
}

// ---- lists ----

inline std::vector<Tensor> cat_tensors_backward(const Tensor& grad,
                                                const std::vector<std::vector<c10::SymInt>>& sizes,
                                                const std::vector<ScalarType>& dtypes,
                                                std::int64_t dim) {
  std::vector<Tensor> gradients(sizes.size());
  if (!grad.defined()) return gradients;
  c10::SymInt start = 0;
  const auto own = dim < 0 ? dim + grad.dim() : dim;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Tensor real = as_real_as(dtypes[i], grad);
    if (sizes[i].size() == 1 && sizes[i][0] == 0) {
      // An empty vector may stand for a tensor of any rank.
      gradients[i] = at::zeros({0}, real.options());
      continue;
    }
    const c10::SymInt size = sizes[i][static_cast<std::size_t>(own)];
    gradients[i] = real.narrow_symint(own, start, size);
    start += size;
  }
  return gradients;
}
inline Tensor cat_jvp(const at::ITensorListRef& tensors, std::int64_t dim) {
  std::vector<Tensor> tangents;
  for (const Tensor& tensor : tensors) {
    const Tensor tangent = tensor._fw_grad(/*level=*/0);
    tangents.push_back(tangent.defined() ? tangent : at::zeros_like(tensor));
  }
  return at::cat(tangents, dim);
}
inline Tensor split_with_sizes_backward(const std::vector<Tensor>& grads,
                                        c10::SymIntArrayRef split_sizes, std::int64_t dim,
                                        c10::SymIntArrayRef sizes,
                                        const at::TensorOptions& options) {
  const auto own = dim < 0 ? dim + static_cast<std::int64_t>(sizes.size()) : dim;
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    auto size = sizes.vec();
    size[static_cast<std::size_t>(own)] = split_sizes[i];
    all.push_back(grads[i].defined() ? grads[i] : at::zeros_symint(size, options));
  }
  return at::cat(all, own);
}
inline Tensor unbind_backward(const std::vector<Tensor>& grads, std::int64_t dim) {
  std::vector<Tensor> all(grads);
  const auto there =
      std::find_if(all.begin(), all.end(), [](const auto& g) { return g.defined(); });
  for (Tensor& each : all) {
    if (!each.defined()) each = at::zeros_like(*there);
  }
  return at::stack(all, dim);
}

// Formulas of views ask for nested tensors, which these tests have none of.
inline Tensor unbind_backward_nested(const std::vector<Tensor>&, const Tensor&, std::int64_t,
                                     const at::TensorOptions&) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "nested tensors");
}
inline Tensor unbind_backward_nested_jagged(const std::vector<Tensor>&, const Tensor&,
                                            std::int64_t) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "nested tensors");
}
inline Tensor _nested_split_with_sizes_backward(const std::vector<Tensor>&, c10::SymIntArrayRef,
                                                std::int64_t, const Tensor&,
                                                const at::TensorOptions&) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "nested tensors");
}

// ---- roll ----

inline std::vector<c10::SymInt> reverse_list_symint(c10::SymIntArrayRef list) {
  return {list.rbegin(), list.rend()};
}
inline std::vector<std::int64_t> reverse_list(at::IntArrayRef list) {
  return {list.rbegin(), list.rend()};
}
template <class T, class F>
std::vector<T> fmap(const std::vector<T>& list, const F& f) {
  std::vector<T> mapped;
  for (const T& each : list) mapped.push_back(f(each));
  return mapped;
}

}  // namespace slice
