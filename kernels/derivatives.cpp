// derivatives.cpp: the functions that formulas call.
#include "derivatives.h"

#include <aten/ops/abs.h>
#include <aten/ops/arange.h>
#include <aten/ops/cat.h>
#include <aten/ops/constant_pad_nd.h>
#include <aten/ops/convolution.h>
#include <aten/ops/embedding_dense_backward.h>
#include <aten/ops/i0.h>
#include <aten/ops/index_put.h>
#include <aten/ops/isnan.h>
#include <aten/ops/ldexp.h>
#include <aten/ops/logical_not.h>
#include <aten/ops/masked_fill.h>
#include <aten/ops/masked_select.h>
#include <aten/ops/native_group_norm_backward.h>
#include <aten/ops/native_layer_norm_backward.h>
#include <aten/ops/ones.h>
#include <aten/ops/ones_like.h>
#include <aten/ops/pow.h>
#include <aten/ops/roll.h>
#include <aten/ops/scatter.h>
#include <aten/ops/scatter_add.h>
#include <aten/ops/scatter_reduce.h>
#include <aten/ops/sigmoid.h>
#include <aten/ops/sign.h>
#include <aten/ops/softplus.h>
#include <aten/ops/stack.h>
#include <aten/ops/where.h>
#include <aten/ops/zeros.h>
#include <aten/ops/zeros_like.h>

#include <opgen/autograd.h>

#include "common.h"
#include "loss_reduction.h"
#include "optional.h"
#include "special.h"

namespace at::derivatives {

using kernels::has_dim;
using kernels::is_given;
using kernels::mask_of;
using kernels::pi;
using kernels::reduced;
using kernels::tensor_or_undefined;
using kernels::wrap_dim;
using opgen::DimMask;
using opgen::autograd::formulas::is_zero_tangent;
using opgen::autograd::formulas::real;
using opgen::autograd::formulas::TensorGeometry;

// ---- Numbers -----------------------------------------------------------------------------------

Tensor scaled(const Tensor& tensor, const Scalar& factor) {
  if (!tensor.defined() || factor.equal(1) || is_zero_tangent(tensor)) return tensor;
  return tensor * factor;
}

Tensor number(const Scalar& value) {
  return kernels::number(value);
}
std::optional<Tensor> number(const std::optional<Scalar>& value) {
  return value.has_value() ? std::optional<Tensor>(number(*value)) : std::nullopt;
}

double dropout_scale(double p, std::optional<bool> train) {
  if (!train.value_or(true)) return 1;
  return p == 1 ? 0 : 1 / (1 - p);
}

// ---- Shapes ------------------------------------------------------------------------------------

DimVector inverse_order(IntArrayRef dims) {
  const auto ndim = static_cast<int64_t>(dims.size());
  DimVector inverse(dims.size(), 0);
  for (int64_t d = 0; d < ndim; ++d) {
    inverse[static_cast<size_t>(wrap_dim(dims[static_cast<size_t>(d)], ndim))] = d;
  }
  return inverse;
}

namespace {

template <class F>
Tensor unsqueezed_where(Tensor tensor, IntArrayRef sizes, F was_squeezed) {
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (sizes[static_cast<size_t>(d)] == 1 && was_squeezed(d)) tensor = tensor.unsqueeze(d);
  }
  return tensor;
}

}  // namespace

Tensor unsqueezed(const Tensor& squeezed, IntArrayRef sizes) {
  return unsqueezed_where(squeezed, sizes, [](int64_t) { return true; });
}
Tensor unsqueezed(const Tensor& squeezed, IntArrayRef sizes, int64_t dim) {
  return unsqueezed(squeezed, sizes, IntArrayRef(dim));
}
Tensor unsqueezed(const Tensor& squeezed, IntArrayRef sizes, IntArrayRef dims) {
  const DimMask mask = kernels::mask_of_listed(dims, static_cast<int64_t>(sizes.size()));
  return unsqueezed_where(squeezed, sizes, [&](int64_t d) { return has_dim(mask, d); });
}

Tensor split_gradient(const std::vector<Tensor>& grads, int64_t split_size, int64_t dim,
                      IntArrayRef sizes, const TensorOptions& options) {
  const int64_t size =
      sizes[static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size())))];
  DimVector parts(grads.size(), split_size);
  if (!parts.empty()) {
    parts.back() = size - split_size * (static_cast<int64_t>(grads.size()) - 1);
  }
  return split_gradient(grads, IntArrayRef(parts), dim, sizes, options);
}
Tensor split_gradient(const std::vector<Tensor>& grads, IntArrayRef split_sizes, int64_t dim,
                      IntArrayRef sizes, const TensorOptions& options) {
  dim = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  std::vector<Tensor> parts;
  parts.reserve(grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    DimVector part(sizes);
    part[static_cast<size_t>(dim)] = split_sizes[i];
    parts.push_back(grads[i].defined() ? grads[i] : at::zeros(part, options));
  }
  return at::cat(parts, dim);
}
Tensor unbind_gradient(const std::vector<Tensor>& grads, int64_t dim) {
  const Tensor* known = nullptr;
  for (const Tensor& grad : grads) known = grad.defined() ? &grad : known;
  if (known == nullptr) return {};
  std::vector<Tensor> all;
  for (const Tensor& grad : grads) all.push_back(grad.defined() ? grad : at::zeros_like(*known));
  return at::stack(all, dim);
}

std::vector<Tensor> cat_gradients(const Tensor& grad, const std::vector<std::vector<SymInt>>& sizes,
                                  int64_t dim) {
  std::vector<Tensor> gradients;
  gradients.reserve(sizes.size());
  int64_t start = 0;
  for (const std::vector<SymInt>& shape : sizes) {
    // cat() takes such tensors among others, which have any number of dimensions.
    if (shape.size() == 1 && shape[0] == 0) {
      gradients.push_back(at::zeros({0}, grad.options()));
      continue;
    }
    dim = wrap_dim(dim, grad.dim());
    const int64_t size = shape[static_cast<size_t>(dim)];
    gradients.push_back(grad.narrow(dim, start, size));
    start += size;
  }
  return gradients;
}

std::vector<Tensor> block_diag_gradients(const Tensor& grad,
                                         const std::vector<std::vector<SymInt>>& sizes) {
  std::vector<Tensor> grads;
  int64_t row = 0, column = 0;
  for (const std::vector<SymInt>& symbols : sizes) {
    DimVector shape;
    for (const SymInt& size : symbols) shape.push_back(static_cast<int64_t>(size));
    const int64_t rows = shape.size() < 2 ? 1 : shape[0];
    const int64_t columns = shape.empty() ? 1 : shape.back();
    grads.push_back(grad.narrow(0, row, rows).narrow(1, column, columns).reshape(shape));
    row += rows;
    column += columns;
  }
  return grads;
}

Tensor unpadded(const Tensor& grad, IntArrayRef pad) {
  DimVector opposite;
  for (int64_t each : pad) opposite.push_back(-each);
  return at::constant_pad_nd(grad, opposite, 0);
}
Tensor roll_back(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims) {
  DimVector back;
  for (int64_t shift : shifts) back.push_back(-shift);
  return at::roll(grad, back, dims);
}
Tensor repeat_gradient(const Tensor& grad, IntArrayRef repeats, IntArrayRef sizes) {
  // A repeated dimension is seen as two: the copies, over which is summed, and the elements.
  const size_t more = repeats.size() - sizes.size();
  DimVector shape, copies;
  for (size_t d = 0; d < repeats.size(); ++d) {
    const int64_t size = d < more ? 1 : sizes[d - more];
    // Of no copies there is nothing to sum.
    if (repeats[d] == 0) return at::zeros(sizes, grad.options());
    if (d < more || repeats[d] != 1) {
      copies.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(repeats[d]);
    }
    if (d >= more) shape.push_back(size);
  }
  const Tensor split = grad.reshape(shape);
  return copies.empty() ? split : split.sum(copies);
}

namespace {

// The place in a storage of each element of a tensor, in row-major order.
Tensor places_of(IntArrayRef sizes, IntArrayRef strides, int64_t offset, Device device) {
  const TensorOptions options = TensorOptions().dtype(kLong).device(device);
  Tensor places = at::zeros({}, options) + Scalar(offset);
  for (size_t d = 0; d < sizes.size(); ++d) {
    places = places.unsqueeze(-1) + at::arange(sizes[d], options) * Scalar(strides[d]);
  }
  return places.reshape({-1});
}

int64_t last_place(IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return offset;
    offset += (sizes[d] - 1) * strides[d];
  }
  return offset;
}

// The places of two tensors in a storage that holds both, counted from the first of them.
struct SharedPlaces {
  SharedPlaces(IntArrayRef a_sizes, IntArrayRef a_strides, int64_t a_offset, IntArrayRef b_sizes,
               IntArrayRef b_strides, int64_t b_offset, Device device) {
    const int64_t start = std::min(a_offset, b_offset);
    count = std::max(last_place(a_sizes, a_strides, a_offset),
                     last_place(b_sizes, b_strides, b_offset)) +
            1 - start;
    of_a = places_of(a_sizes, a_strides, a_offset - start, device);
    of_b = places_of(b_sizes, b_strides, b_offset - start, device);
  }
  Tensor of_a, of_b;
  int64_t count;
};

// Divides each place by the number of elements that have it.
Tensor shared_equally(const Tensor& storage, const Tensor& places) {
  const Tensor ones = at::ones({places.numel()}, storage.options());
  const Tensor uses = at::zeros(storage.sizes(), storage.options()).index_add(0, places, ones);
  return storage / uses.masked_fill(uses == 0, 1);
}

}  // namespace

Tensor as_strided_gradient(const Tensor& grad, const TensorGeometry& self, IntArrayRef size,
                           IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const int64_t offset = self.storage_offset();
  const SharedPlaces places(self.sizes(), self.strides(), offset, size, stride,
                            storage_offset.value_or(offset), grad.device());
  const Tensor storage =
      at::zeros({places.count}, grad.options()).index_add(0, places.of_b, grad.reshape({-1}));
  return shared_equally(storage, places.of_a).index_select(0, places.of_a).reshape(self.sizes());
}
Tensor as_strided_tangent(const Tensor& self_t, const Tensor& self, IntArrayRef size,
                          IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const int64_t offset = self.storage_offset();
  const SharedPlaces places(self.sizes(), self.strides(), offset, size, stride,
                            storage_offset.value_or(offset), self_t.device());
  const Tensor storage =
      at::zeros({places.count}, self_t.options()).index_add(0, places.of_a, self_t.reshape({-1}));
  return shared_equally(storage, places.of_a).index_select(0, places.of_b).reshape(size);
}

// ---- Indexing ----------------------------------------------------------------------------------

Tensor selected_like(const Tensor& grad, int64_t dim, const Tensor& index,
                     IntArrayRef source_sizes) {
  if (source_sizes.empty()) return grad.index_select(dim, index).reshape({});
  return grad.index_select(dim, index).expand(source_sizes);
}

Tensor sum_of_selected(const Tensor& grad, int64_t dim, const Tensor& index) {
  // Elements elsewhere may be infinite: they are replaced rather than subtracted.
  opgen::DimVector shape(static_cast<size_t>(grad.dim()), 1);
  if (!shape.empty()) shape[static_cast<size_t>(wrap_dim(dim, grad.dim()))] = grad.size(dim);
  const Tensor others = at::ones(shape, grad.options().dtype(opgen::kBool));
  return grad.masked_fill(others.index_fill(dim, index, 0), 0).sum();
}

Tensor take_gradient(const Tensor& grad, IntArrayRef sizes, const Tensor& index) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  const Tensor places = at::where(index < 0, index + Scalar(count), index).reshape({-1});
  return at::zeros({count}, grad.options()).index_add(0, places, grad.reshape({-1})).reshape(sizes);
}

Tensor masked_select_gradient(const Tensor& grad, IntArrayRef sizes, const Tensor& mask) {
  const DimVector common = opgen::infer_size(sizes, mask.sizes());
  const Tensor flat = mask.expand(common).reshape({-1});
  const Tensor zeros = at::zeros(flat.sizes(), grad.options());
  return zeros.index_put({std::optional<Tensor>(flat)}, grad).reshape(common);
}

Tensor masked_scatter_gradient(const Tensor& grad, const Tensor& mask, IntArrayRef source_sizes) {
  int64_t count = 1;
  for (int64_t size : source_sizes) count *= size;
  const Tensor taken = grad.masked_select(mask);
  const int64_t rest = count - taken.numel();
  if (rest == 0) return taken.view(source_sizes);
  const Tensor parts[] = {taken, at::zeros({rest}, grad.options())};
  return at::cat(parts, 0).view(source_sizes);
}

namespace {

// The first elements along each dimension: only those have an index.
Tensor first_elements(const Tensor& src, IntArrayRef sizes) {
  Tensor part = src;
  for (int64_t d = 0; d < src.dim(); ++d) {
    if (part.size(d) != sizes[d]) part = part.narrow(d, 0, sizes[d]);
  }
  return part;
}

}  // namespace

std::tuple<Tensor, Tensor> scatter_reduce_gradients(const Tensor& grad, const Tensor& self,
                                                    int64_t dim, const Tensor& index,
                                                    const Tensor& all, std::string_view reduce,
                                                    bool include_self, const Tensor& result,
                                                    std::array<bool, 2> wanted) {
  const Tensor src = first_elements(all, index.sizes());
  Tensor of_self, of_src;
  if (reduce == "sum") {
    of_self = grad;
    of_src = grad.gather(dim, index);
  } else if (reduce == "mean") {
    const Tensor start = include_self ? at::ones_like(grad) : at::zeros_like(grad);
    const Tensor count = start.scatter_add(dim, index, at::ones_like(src));
    of_self = grad / count.masked_fill(count == 0, 1);
    of_src = of_self.gather(dim, index);
  } else if (reduce == "prod") {
    // The product of the others: a factor that is 0 is left out of the product.
    const Tensor self_or_1 = self.masked_fill(self == 0, 1);
    const Tensor others = self_or_1.scatter_reduce(dim, index, src, reduce, include_self);
    of_self = grad * (others / self_or_1).conj();
    const Tensor is_zero = src == 0;
    const Tensor zeros = at::zeros_like(self)
                             .scatter_add(dim, index, is_zero.to(self.scalar_type()))
                             .gather(dim, index);
    const Tensor is_only_zero = is_zero & (zeros == 1);
    const Tensor rest =
        self.scatter_reduce(dim, index, src.masked_fill(is_only_zero, 1), reduce, include_self);
    of_src =
        at::where(is_only_zero, (grad * rest.conj()).gather(dim, index),
                  (grad * result.conj()).gather(dim, index) / src.masked_fill(is_zero, 1).conj());
  } else {
    // Equal extremes share the gradient.
    Tensor of_self_share = (self == result).to(grad.scalar_type());
    if (!include_self) of_self_share = of_self_share.scatter(dim, index, 0);
    const Tensor of_src_share = (src == result.gather(dim, index)).to(grad.scalar_type());
    const Tensor share = grad / of_self_share.scatter_add(dim, index, of_src_share);
    of_self = of_self_share * share;
    of_src = of_src_share * share.gather(dim, index);
  }
  if (!include_self) of_self = of_self.scatter(dim, index, 0);
  for (int64_t d = 0; d < all.dim(); ++d) {
    if (of_src.size(d) == all.size(d)) continue;
    DimVector rest(of_src.sizes());
    rest[static_cast<size_t>(d)] = all.size(d) - of_src.size(d);
    const Tensor parts[] = {of_src, at::zeros(rest, of_src.options())};
    of_src = at::cat(parts, d);
  }
  return {wanted[0] ? of_self : Tensor(), wanted[1] ? of_src : Tensor()};
}

// Each element of self and src is a term of one element of the result.
Tensor scatter_reduce_tangent(const Tensor& self_t, const Tensor& self, int64_t dim,
                              const Tensor& index, const Tensor& src_t, const Tensor& src,
                              std::string_view reduce, bool include_self, const Tensor& result) {
  const auto [of_self, of_src] = scatter_reduce_gradients(
      at::ones_like(result), self, dim, index, src, reduce, include_self, result, {true, true});
  return product(self_t, of_self.conj()).scatter_add(dim, index, product(src_t, of_src.conj()));
}

Tensor gather_reduced(const Tensor& tensor, int64_t dim, const Tensor& indices, bool keepdim) {
  if (keepdim || tensor.dim() == 0) return tensor.gather(dim, indices);
  return tensor.gather(dim, indices.unsqueeze(dim)).squeeze(dim);
}

Tensor gather_from_planes(const Tensor& planes, const Tensor& places) {
  return planes.flatten(-2).gather(-1, places.flatten(-2)).reshape(places.sizes());
}

Tensor embedding_dense_double(const Tensor& grad, const Tensor& indices, int64_t padding_idx,
                              bool scale_grad_by_freq) {
  DimVector shape(indices.sizes());
  shape.push_back(grad.size(-1));
  const Tensor flat = indices.reshape({-1});
  Tensor rows = grad.index_select(0, flat);
  if (padding_idx >= 0) rows = rows.masked_fill((flat == padding_idx).unsqueeze(-1), 0);
  if (scale_grad_by_freq) {
    const Tensor ones = at::ones(flat.sizes(), grad.options());
    const Tensor counts = at::zeros({grad.size(0)}, grad.options()).index_add(0, flat, ones);
    rows = rows / counts.index_select(0, flat).unsqueeze(-1);
  }
  return rows.reshape(shape);
}

// ---- Tangents ----------------------------------------------------------------------------------

Tensor product(const Tensor& tangent, const Tensor& factor) {
  if (!is_zero_tangent(tangent)) return tangent * factor;
  // That of an integer or a boolean argument takes part in what follows as a number would.
  return opgen::autograd::formulas::isDifferentiableType(tangent.scalar_type())
             ? tangent
             : tangent.to(factor.scalar_type());
}

// ---- Pointwise ---------------------------------------------------------------------------------

Tensor shared_at_ties(const Tensor& grad, const Tensor& self, const Tensor& other) {
  return at::where(self == other, grad / 2, grad);
}
Tensor chosen_tangent(const Tensor& self_t, const Tensor& self, const Tensor& other_t,
                      const Tensor& other, const Tensor& is_first) {
  const Tensor chosen = at::where(is_first, self_t, other_t);
  return at::where(self == other, (self_t + other_t) / 2, chosen);
}

namespace {

// For which exponents 0 to their power is taken as constant.
Tensor is_not_negative(const Tensor& exponent) {
  if (!exponent.is_complex()) return exponent >= 0;
  return (real(exponent) >= 0) & (exponent == exponent.conj());
}

complex<double> narrowed_log(complex<double> z) {
  return kernels::narrowed<complex<double>>(std::log(kernels::widen(z)));
}

}  // namespace

Tensor pow_gradient(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  if (exponent.equal(0)) return at::zeros_like(self);
  if (exponent.equal(1)) return grad;
  if (exponent.equal(2)) return grad * (self * Scalar(2)).conj();
  const Scalar less = exponent.isComplex() ? Scalar(exponent.toComplexDouble() - complex<double>(1))
                      : exponent.isFloatingPoint() ? Scalar(exponent.toDouble() - 1)
                                                   : Scalar(exponent.toLong() - 1);
  return grad * (self.pow(less) * exponent).conj();
}
Tensor pow_gradient(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  // 0 to the power 0 is taken as constant. The exponent of what is not used is harmless, too: its
  // derivative would be NaN, times 0.
  Tensor is_flat = exponent == 0;
  if (exponent.is_floating_point() || exponent.is_complex()) is_flat = is_flat & (self == 0);
  const Tensor slope = exponent * self.pow(at::where(is_flat, 1, exponent - 1));
  return slope.conj() * grad;
}
Tensor pow_gradient_of_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                                const Tensor& result) {
  const Tensor is_flat = (self == 0) & is_not_negative(exponent);
  const Tensor slope = result * self.to(result.scalar_type()).log();
  return at::where(is_flat, at::zeros_like(slope), slope).conj() * grad;
}

Tensor pow_gradient_of_exponent(const Tensor& grad, const Scalar& self, const Tensor& exponent,
                                const Tensor& result) {
  const bool is_complex = self.isComplex() || result.is_complex();
  const Scalar log =
      is_complex ? Scalar(narrowed_log(self.toComplexDouble())) : Scalar(std::log(self.toDouble()));
  const Tensor slope = result * log;
  if (!self.equal(0)) return slope.conj() * grad;
  return at::where(is_not_negative(exponent), at::zeros_like(slope), slope).conj() * grad;
}
Tensor pow_tangent(const Tensor& self_t, const Tensor& self, const Tensor& exponent_t,
                   const Tensor& exponent, const Tensor& result) {
  if (is_zero_tangent(exponent_t)) {
    return pow_gradient(self_t.conj(), self, exponent).conj();
  }
  const Tensor of_exponent =
      pow_gradient_of_exponent(exponent_t.conj(), self, exponent, result).conj();
  if (is_zero_tangent(self_t)) return of_exponent;
  return pow_gradient(self_t.conj(), self, exponent).conj() + of_exponent;
}

Tensor linear_ldexp(const Tensor& direction, const Tensor& exponent) {
  return is_zero_tangent(direction) ? direction : at::ldexp(direction, exponent);
}

Tensor sgn_derivative(const Tensor& direction, const Tensor& self, const Tensor& result) {
  if (!self.is_complex()) return at::zeros_like(direction);
  const Tensor modulus = self.abs();
  const Tensor along = real(result.conj() * direction);
  const Tensor across = (direction - result * along) / modulus;
  return across.masked_fill(modulus == 0, 0);
}

Tensor mish_derivative(const Tensor& self) {
  const Tensor t = at::softplus(self).tanh();
  return t + self * at::sigmoid(self) * (1 - t * t);
}
Tensor sinc_derivative(const Tensor& self) {
  const Tensor angle = self * pi, square = angle * self;
  return ((angle * angle.cos() - angle.sin()) / square).masked_fill(square == 0, 0);
}

Tensor i1_derivative(const Tensor& self, const Tensor& result) {
  const Tensor is_zero = self == 0;
  const Tensor slope = at::i0(self) - result / self.masked_fill(is_zero, 1);
  return slope.masked_fill(is_zero, 0.5);
}

Tensor logit_derivative(const Tensor& self, std::optional<double> eps) {
  const double least = eps.value_or(0), most = 1 - least;
  const double outside = eps.has_value() ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  const Tensor is_outside = (self < least) | (self > most);
  const Tensor inside = self.masked_fill(is_outside, 0.5);
  return (1 / (inside * (1 - inside))).masked_fill(is_outside, outside);
}

Tensor silu_second_derivative(const Tensor& self) {
  const Tensor s = at::sigmoid(self);
  return s * (1 - s) * (2 + self * (1 - 2 * s));
}

namespace {

Tensor gelu_curvature(const Tensor& x, std::string_view approximate) {
  if (approximate == "none") {
    constexpr double density_at_0 = 0.39894228040143267794;
    return (x * x * -0.5).exp() * density_at_0 * (2 - x * x);
  }
  // x (1 + tanh u) / 2, with u = a (x + b x^3).
  constexpr double a = 0.79788456080286535588, b = 0.044715;
  const Tensor square = x * x;
  const Tensor t = (x * (square * b + 1) * a).tanh();
  const Tensor u1 = (square * (3 * b) + 1) * a;
  const Tensor u2 = x * (6 * a * b);
  const Tensor slope = 1 - t * t;
  return slope * (u1 + x * (u2 / 2 - t * u1 * u1));
}

}  // namespace

Tensor gelu_second_term(const Tensor& direction, const Tensor& grad_output, const Tensor& self,
                        std::string_view approximate) {
  if (is_zero_tangent(direction)) return product(direction, grad_output);
  // 1 - tanh^2 would be 0 too early in half precision.
  const Tensor x = opgen::isReducedFloatingType(self.scalar_type()) ? self.to(kFloat) : self;
  return direction * grad_output * gelu_curvature(x, approximate);
}

Tensor clamp_gradient(const Tensor& grad, const Tensor& self, const std::optional<Tensor>& min,
                      const std::optional<Tensor>& max) {
  Tensor inside;
  if (is_given(min)) inside = self >= *min;
  if (is_given(max)) inside = inside.defined() ? inside & (self <= *max) : self <= *max;
  return inside.defined() ? at::where(inside, grad, 0) : grad;
}

std::tuple<Tensor, Tensor> clamp_gradients_of_limits(const Tensor& grad, const Tensor& self,
                                                     const std::optional<Tensor>& min,
                                                     const std::optional<Tensor>& max,
                                                     std::array<bool, 2> wanted) {
  // Where min is above max, the result is max.
  std::tuple<Tensor, Tensor> gradients;
  if (is_given(min) && wanted[0]) {
    Tensor below = self < *min;
    if (is_given(max)) below = below & (*min < *max);
    std::get<0>(gradients) = at::where(below, grad, 0);
  }
  if (is_given(max) && wanted[1]) {
    Tensor above = self > *max;
    if (is_given(min)) above = above | (*max < *min);
    std::get<1>(gradients) = at::where(above, grad, 0);
  }
  return gradients;
}

Tensor clamp_tangent(const Tensor& self, const Tensor& self_t, const Tensor& min,
                     const Tensor& min_t, const Tensor& max, const Tensor& max_t) {
  // At a limit, the tangent is that of the limit if there is one limit, as in PyTorch.
  if (!min.defined()) return max.defined() ? at::where(self < max, self_t, max_t) : self_t;
  if (!max.defined()) return at::where(self > min, self_t, min_t);
  const Tensor within = at::where(self > max, max_t, self_t);
  return at::where(max < min, max_t, at::where(self < min, min_t, within));
}

Tensor glu_gradient(const Tensor& grad, const Tensor& self, int64_t dim) {
  const std::vector<Tensor> halves = self.chunk(2, dim);
  const Tensor gate = at::sigmoid(halves[1]);
  const Tensor parts[] = {grad * gate, grad * halves[0] * gate * (1 - gate)};
  return at::cat(parts, dim);
}
Tensor glu_tangent(const Tensor& tangent, const Tensor& self, int64_t dim) {
  const std::vector<Tensor> halves = self.chunk(2, dim), along = tangent.chunk(2, dim);
  const Tensor gate = at::sigmoid(halves[1]);
  return along[0] * gate + along[1] * halves[0] * gate * (1 - gate);
}

// ---- Losses ------------------------------------------------------------------------------------

namespace {

Tensor gradient_of_loss(const Tensor& grad, int64_t reduction, const Tensor& slope) {
  const Tensor product = grad * slope;
  return reduction == kernels::kMean ? product / Scalar(slope.numel()) : product;
}
Tensor weighted(const Tensor& tensor, const std::optional<Tensor>& weight) {
  return is_given(weight) ? tensor * *weight : tensor;
}

// Where a difference is NaN, so is the slope: it does not compare.
Tensor smooth_l1_slope(const Tensor& difference, double beta) {
  const Tensor near = difference / Scalar(beta == 0 ? 1.0 : beta);
  return at::where(difference.abs() >= beta, at::sign(difference), near);
}
Tensor huber_slope(const Tensor& difference, double delta) {
  return at::where(difference.abs() >= delta, at::sign(difference) * Scalar(delta), difference);
}
Tensor binary_cross_entropy_slope(const Tensor& self, const Tensor& target) {
  return (self - target) / ((1 - self) * self).clamp_min(1e-12);
}
Tensor binary_cross_entropy_slope_of_target(const Tensor& self) {
  return (-self).log1p().clamp_min(-100) - self.log().clamp_min(-100);
}

}  // namespace

Tensor smooth_l1_gradient(const Tensor& grad, const Tensor& difference, int64_t reduction,
                          double beta) {
  return gradient_of_loss(grad, reduction, smooth_l1_slope(difference, beta));
}
Tensor smooth_l1_tangent(const Tensor& tangent, const Tensor& difference, int64_t reduction,
                         double beta) {
  return reduced(smooth_l1_slope(difference, beta) * tangent, reduction);
}
Tensor huber_gradient(const Tensor& grad, const Tensor& difference, int64_t reduction,
                      double delta) {
  return gradient_of_loss(grad, reduction, huber_slope(difference, delta));
}
Tensor huber_tangent(const Tensor& tangent, const Tensor& difference, int64_t reduction,
                     double delta) {
  return reduced(huber_slope(difference, delta) * tangent, reduction);
}
Tensor binary_cross_entropy_gradient(const Tensor& grad, const Tensor& self, const Tensor& target,
                                     const std::optional<Tensor>& weight, int64_t reduction) {
  const Tensor slope = weighted(binary_cross_entropy_slope(self, target), weight);
  return gradient_of_loss(grad, reduction, slope);
}
Tensor binary_cross_entropy_gradient_of_target(const Tensor& grad, const Tensor& self,
                                               const std::optional<Tensor>& weight,
                                               int64_t reduction) {
  const Tensor slope = weighted(binary_cross_entropy_slope_of_target(self), weight);
  return gradient_of_loss(grad, reduction, slope);
}
Tensor binary_cross_entropy_tangent(const Tensor& self_t, const Tensor& self,
                                    const Tensor& target_t, const Tensor& target,
                                    const std::optional<Tensor>& weight, int64_t reduction) {
  const Tensor each = binary_cross_entropy_slope(self, target) * self_t +
                      binary_cross_entropy_slope_of_target(self) * target_t;
  return reduced(weighted(each, weight), reduction);
}

// ---- Reductions --------------------------------------------------------------------------------

int64_t number_of_terms(IntArrayRef sizes, OptionalIntArrayRef dims) {
  const auto ndim = static_cast<int64_t>(sizes.size());
  const DimMask mask = mask_of(dims, ndim);
  int64_t count = 1;
  for (int64_t d = 0; d < ndim; ++d) {
    if (has_dim(mask, d)) count *= sizes[static_cast<size_t>(d)];
  }
  return count;
}

namespace {

// Gives a reduced tensor its dimensions of size 1 again.
Tensor restored(Tensor reduced, OptionalIntArrayRef dims, bool keepdim, int64_t ndim) {
  if (keepdim) return reduced;
  const DimMask mask = mask_of(dims, ndim);
  for (int64_t d = 0; d < ndim; ++d) {
    if (has_dim(mask, d)) reduced = reduced.unsqueeze(d);
  }
  return reduced;
}

// Whether an element is the extreme of its slice. If the extreme is NaN, all NaN are.
Tensor is_extreme(const Tensor& self, const Tensor& extremes) {
  return (self == extremes) | (at::isnan(self) & at::isnan(extremes));
}

}  // namespace

Tensor spread(const Tensor& reduced, OptionalIntArrayRef dims, bool keepdim, IntArrayRef sizes) {
  return restored(reduced, dims, keepdim, static_cast<int64_t>(sizes.size())).expand(sizes);
}

Tensor shared_by_extremes(const Tensor& grad, const Tensor& self, const Tensor& extremes,
                          OptionalIntArrayRef dims, bool keepdim) {
  const Tensor mask = is_extreme(self, restored(extremes, dims, keepdim, self.dim()));
  const Tensor counts = mask.sum(dims, true);
  return restored(grad, dims, keepdim, self.dim()) / counts * mask;
}
DimVector one_or_all(std::optional<int64_t> dim) {
  return dim.has_value() ? DimVector{*dim} : DimVector();
}
Tensor aminmax_gradient(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self,
                        const Tensor& min, const Tensor& max, std::optional<int64_t> dim,
                        bool keepdim) {
  const DimVector dims = one_or_all(dim);
  Tensor of_min, of_max;
  if (grad_min.defined()) of_min = shared_by_extremes(grad_min, self, min, dims, keepdim);
  if (grad_max.defined()) of_max = shared_by_extremes(grad_max, self, max, dims, keepdim);
  if (!of_min.defined()) return of_max;
  return of_max.defined() ? of_min + of_max : of_min;
}
Tensor mean_of_extremes(const Tensor& self_t, const Tensor& self, const Tensor& extremes,
                        OptionalIntArrayRef dims, bool keepdim) {
  const Tensor mask = is_extreme(self, restored(extremes, dims, keepdim, self.dim()));
  return at::where(mask, self_t, 0).sum(dims, keepdim) / mask.sum(dims, keepdim);
}

namespace {

// The products of all elements before each one along a dimension, by doubling: the number of
// operators grows with the logarithm of the size.
Tensor products_before(const Tensor& self, int64_t dim) {
  const int64_t size = self.size(dim);
  const auto shifted = [&](const Tensor& tensor, int64_t by) {
    DimVector shape(self.sizes());
    shape[static_cast<size_t>(dim)] = by;
    const Tensor parts[] = {at::ones(shape, self.options()), tensor.narrow(dim, 0, size - by)};
    return at::cat(parts, dim);
  };
  Tensor products = shifted(self, std::min<int64_t>(1, size));
  for (int64_t step = 1; step < size; step *= 2) products = products * shifted(products, step);
  return products;
}

// Of elements that are not zero, the result divided by each: one division in place of many
// products.
Tensor product_of_others(const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.is_meta() || at::logical_not(self).any().item().toBool()) {
    return products_before(self, dim) * products_before(self.flip(dim), dim).flip(dim);
  }
  return result / self;
}

}  // namespace

Tensor prod_gradient(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (self.dim() == 0) return grad;
  return prod_gradient(grad, self.reshape({-1}), result, 0, false).reshape(self.sizes());
}
Tensor prod_gradient(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim,
                     bool keepdim) {
  if (self.numel() == 0) return at::zeros_like(self);
  if (self.dim() == 0) return grad.reshape({});
  dim = wrap_dim(dim, self.dim());
  const Tensor whole = keepdim ? result : result.unsqueeze(dim);
  const Tensor others = product_of_others(self, whole, dim);
  return (keepdim ? grad : grad.unsqueeze(dim)) * others.conj();
}

namespace {

// The sums s[k] = terms[k] + factors[k] * s[k - 1] along a dimension, by doubling.
Tensor chained_sums(Tensor terms, Tensor factors, int64_t dim) {
  const int64_t size = terms.size(dim);
  const auto later = [&](const Tensor& tensor, int64_t by) {
    DimVector shape(tensor.sizes());
    shape[static_cast<size_t>(dim)] = by;
    const Tensor parts[] = {at::zeros(shape, tensor.options()), tensor.narrow(dim, 0, size - by)};
    return at::cat(parts, dim);
  };
  for (int64_t step = 1; step < size; step *= 2) {
    terms = terms + factors * later(terms, step);
    factors = factors * later(factors, step);
  }
  return terms;
}

}  // namespace

Tensor cumprod_gradient(const Tensor& grad, const Tensor& self, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  dim = wrap_dim(dim, self.dim());
  // Each result behind an element has it as a factor, with all elements between the two.
  const Tensor factors = self.flip(dim).conj();
  const Tensor shifted[] = {at::zeros_like(factors.narrow(dim, 0, 1)),
                            factors.narrow(dim, 0, self.size(dim) - 1)};
  const Tensor sums = chained_sums(grad.flip(dim), at::cat(shifted, dim), dim).flip(dim);
  return products_before(self, dim).conj() * sums;
}
Tensor cumprod_tangent(const Tensor& tangent, const Tensor& self, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return tangent;
  dim = wrap_dim(dim, self.dim());
  return chained_sums(tangent * products_before(self, dim), self, dim);
}

Tensor cumsum_gradient(const Tensor& grad, int64_t dim) {
  if (grad.dim() == 0 || grad.size(dim) <= 1) return grad;
  return grad.flip(dim).cumsum(dim).flip(dim);
}

namespace {

double degrees_of_freedom(const Tensor& self, OptionalIntArrayRef dims,
                          const std::optional<Scalar>& correction) {
  return static_cast<double>(number_of_terms(self.sizes(), dims)) -
         (correction.has_value() ? correction->toDouble() : 1.0);
}

}  // namespace

Tensor var_gradient(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dims,
                    const std::optional<Scalar>& correction, bool keepdim) {
  const double factor = 2 / degrees_of_freedom(self, dims, correction);
  return restored(grad, dims, keepdim, self.dim()) * factor * (self - self.mean(dims, true));
}
Tensor var_tangent(const Tensor& self_t, const Tensor& self, OptionalIntArrayRef dims,
                   const std::optional<Scalar>& correction, bool keepdim) {
  const double factor = 2 / degrees_of_freedom(self, dims, correction);
  const Tensor distance = self - self.mean(dims, true);
  return real(self_t.conj() * distance).sum(dims, keepdim) * factor;
}
Tensor std_to_var(const Tensor& derivative, const Tensor& std) {
  return (derivative / (std * Scalar(2))).masked_fill(std == 0, 0);
}
Tensor var_mean_gradient(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self,
                         OptionalIntArrayRef dims, const std::optional<Scalar>& correction,
                         bool keepdim) {
  Tensor gradient;
  if (grad_var.defined()) gradient = var_gradient(grad_var, self, dims, correction, keepdim);
  if (grad_mean.defined()) {
    const Tensor of_mean = spread(grad_mean, dims, keepdim, self.sizes()) /
                           Scalar(number_of_terms(self.sizes(), dims));
    gradient = gradient.defined() ? gradient + of_mean : of_mean;
  }
  return gradient;
}

namespace {

// The gradient of the norm, of which each slice has one, with respect to the elements.
Tensor norm_slope(const Tensor& self, double ord, const Tensor& norm, OptionalIntArrayRef dims) {
  if (ord == 0) return at::zeros_like(self);
  if (ord == 1) return self.sgn();
  if (ord == 2) return (self / norm).masked_fill(norm == 0, 0);
  const Tensor modulus = self.abs();
  if (std::isinf(ord)) {
    const Tensor mask = is_extreme(modulus, norm);
    return self.sgn() * mask / mask.sum(dims, true);
  }
  if (ord > 0 && ord < 1) {
    // The ratio is small, and second gradients contain more negative powers.
    const Tensor power = modulus.pow(ord - 1).masked_fill(modulus == 0, 0);
    return self.sgn() * power * norm.pow(1 - ord);
  }
  // Powers of the ratio do not overflow, and an exponent that fits a float makes them 0 or 1. Where
  // an element is 0, so is its sign.
  const Tensor ratio = (modulus / norm).masked_fill(modulus == 0, 1);
  return self.sgn() * ratio.pow(std::clamp(ord - 1, -1e30, 1e30));
}

}  // namespace

Tensor norm_gradient(const Tensor& grad, const Tensor& self, const Scalar& ord, const Tensor& norm,
                     OptionalIntArrayRef dims, bool keepdim) {
  const Tensor slope =
      norm_slope(self, ord.toDouble(), restored(norm, dims, keepdim, self.dim()), dims);
  return restored(grad, dims, keepdim, self.dim()) * slope;
}
Tensor norm_tangent(const Tensor& self_t, const Tensor& self, const Scalar& ord, const Tensor& norm,
                    OptionalIntArrayRef dims, bool keepdim) {
  const Tensor slope =
      norm_slope(self, ord.toDouble(), restored(norm, dims, keepdim, self.dim()), dims);
  return real(slope.conj() * self_t).sum(dims, keepdim);
}

Tensor log_softmax_gradient(const Tensor& grad, const Tensor& result, int64_t dim) {
  const ScalarType kind = result.scalar_type(), wide = opgen::toOpMathType(kind);
  if (kind == wide) return grad - result.exp() * grad.sum(dim, true);
  const Tensor g = grad.to(wide);
  return (g - result.to(wide).exp() * g.sum(dim, true)).to(kind);
}

// ---- Normalisation -----------------------------------------------------------------------------

namespace {

// The last dimensions, as many as `normalized_shape` has, and those before them.
struct Axes {
  DimVector before, last;
};
Axes axes_of(const Tensor& input, IntArrayRef normalized_shape) {
  Axes axes;
  const int64_t first = input.dim() - static_cast<int64_t>(normalized_shape.size());
  for (int64_t d = 0; d < input.dim(); ++d) (d < first ? axes.before : axes.last).push_back(d);
  return axes;
}

// The mean over the last dimensions, for rows that may have no element.
Tensor row_mean(const Tensor& tensor, const Axes& axes) {
  return tensor.mean(axes.last, true);
}
Tensor sum_of(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a + b;
}
// Sums a tensor like the input to one like a parameter.
Tensor parameter_sum(const Tensor& tensor, const Axes& axes) {
  return axes.before.empty() ? tensor : tensor.sum(axes.before);
}

}  // namespace

Tensor convolution_tangent(const Tensor& input_t, const Tensor& input, const Tensor& weight_t,
                           const Tensor& weight, const Tensor& bias_t, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef dilation, bool transposed,
                           IntArrayRef output_padding, int64_t groups) {
  const auto convolved = [&](const Tensor& a, const Tensor& b, const std::optional<Tensor>& bias) {
    return at::convolution(a, b, bias, stride, padding, dilation, transposed, output_padding,
                           groups);
  };
  const auto added = bias_t.defined() ? std::optional<Tensor>(bias_t) : std::nullopt;
  if (!weight_t.defined()) {
    return convolved(input_t.defined() ? input_t : at::zeros_like(input), weight, added);
  }
  const Tensor of_weight = convolved(input, weight_t, added);
  return input_t.defined() ? convolved(input_t, weight, std::nullopt) + of_weight : of_weight;
}

namespace {

// Of (input - mean) * rstd * weight + bias. The weight broadcasts to the input.
struct Normalisation {
  Tensor input, mean, rstd, weight;
  Axes axes;
  bool follows = true;  // whether the statistics are those of the input

  [[nodiscard]] Tensor normal() const { return (input - mean) * rstd; }

  // The tangent of the result. Tangents may be undefined.
  [[nodiscard]] Tensor tangent(const Tensor& input_t, const Tensor& weight_t,
                               const Tensor& bias_t) const;
  // The gradients of the backward operator for grad_out, input and weight.
  [[nodiscard]] std::tuple<Tensor, Tensor, Tensor> double_backward(
      const Tensor& grad_of_input, const Tensor& grad_of_weight, const Tensor& grad_of_bias,
      const Tensor& grad_out, std::array<bool, 3> wanted) const;
};

Tensor Normalisation::tangent(const Tensor& input_t, const Tensor& weight_t,
                              const Tensor& bias_t) const {
  const Tensor normalised = normal();
  Tensor result;
  if (input_t.defined()) {
    if (follows) {
      const Tensor centred = input_t - row_mean(input_t, axes);
      result = (centred - normalised * row_mean(centred * normalised, axes)) * rstd;
    } else {
      result = input_t * rstd;
    }
    if (weight.defined()) result = result * weight;
  }
  if (weight_t.defined()) result = sum_of(result, normalised * weight_t);
  if (bias_t.defined()) result = sum_of(result, bias_t.expand(input.sizes()));
  return result;
}

std::tuple<Tensor, Tensor, Tensor> Normalisation::double_backward(
    const Tensor& grad_of_input, const Tensor& grad_of_weight, const Tensor& grad_of_bias,
    const Tensor& grad_out, std::array<bool, 3> wanted) const {
  Tensor rstd = this->rstd, centred_input = input - mean;
  if (follows && opgen::GradMode::is_enabled() && opgen::autograd::requires_grad(input)) {
    // For derivatives of this, the statistics are computed again as functions of the input.
    centred_input = input - row_mean(input, axes);
    const Tensor variance = row_mean(centred_input * centred_input, axes);
    const Tensor eps = (rstd * rstd).reciprocal() - variance;
    rstd = (variance + Tensor(opgen::autograd::detach(eps))).rsqrt();
  }
  const Tensor normal = centred_input * rstd;
  // With d the weighted gradient of the result and P the projection that removes from each row its
  // mean and its part along `normal`, the results of the operator are rstd P d, the sum of
  // grad_out normal, and the sum of grad_out. P is symmetric.
  // Constant statistics are as if P did nothing, and rstd and normal did not change.
  const auto projected = [&](const Tensor& rows) {
    if (!follows) return rows;
    const Tensor centred = rows - row_mean(rows, axes);
    return centred - normal * row_mean(centred * normal, axes);
  };
  const Tensor& v = grad_of_input;
  Tensor of_grad_out, of_input, of_weight;
  if (v.defined()) {
    const Tensor pv = projected(v) * rstd;
    if (wanted[0]) of_grad_out = weight.defined() ? pv * weight : pv;
    if (wanted[2] && weight.defined()) of_weight = parameter_sum(pv * grad_out, axes);
    if (wanted[1] && follows) {
      // d(rstd P d) along the input: rstd changes with -rstd normal / n, normal with rstd P.
      const Tensor d = weight.defined() ? grad_out * weight : grad_out;
      const Tensor pd = projected(d);
      const Tensor along_d = row_mean(d * normal, axes), along_v = row_mean(v * normal, axes);
      const Tensor product = row_mean(pd * v, axes);
      of_input = (pd * along_v + projected(v) * along_d + normal * product) * (rstd * rstd) * -1;
    }
  }
  if (grad_of_weight.defined()) {
    if (wanted[0]) of_grad_out = sum_of(of_grad_out, normal * grad_of_weight);
    if (wanted[1]) {
      of_input = sum_of(of_input, projected(grad_out * grad_of_weight) * rstd);
    }
  }
  if (grad_of_bias.defined() && wanted[0]) {
    of_grad_out = sum_of(of_grad_out, grad_of_bias.expand(input.sizes()));
  }
  return {of_grad_out, of_input, of_weight};
}

}  // namespace

Tensor layer_norm_tangent(const Tensor& input_t, const Tensor& input, const Tensor& weight_t,
                          const Tensor& weight, const Tensor& bias_t, const Tensor& mean,
                          const Tensor& rstd, IntArrayRef normalized_shape) {
  return Normalisation{input, mean, rstd, weight, axes_of(input, normalized_shape)}.tangent(
      input_t, weight_t, bias_t);
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_double(
    const Tensor& grad_of_input, const Tensor& grad_of_weight, const Tensor& grad_of_bias,
    const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
    const Tensor& weight, IntArrayRef normalized_shape, std::array<bool, 3> wanted) {
  const Normalisation layer{input, mean, rstd, weight, axes_of(input, normalized_shape)};
  return layer.double_backward(grad_of_input, grad_of_weight, grad_of_bias, grad_out, wanted);
}

namespace {

// Numbers of channels, which broadcast to tensors like `input`; an undefined tensor stays so.
Tensor by_channel(const Tensor& numbers, const Tensor& input) {
  if (!numbers.defined()) return numbers;
  DimVector shape(static_cast<size_t>(input.dim()), 1);
  shape[1] = input.size(1);
  return numbers.reshape(shape);
}

Normalisation batch_normalisation(const Tensor& input, const Tensor& weight,
                                  const std::optional<Tensor>& running_mean,
                                  const std::optional<Tensor>& running_var, const Tensor& save_mean,
                                  const Tensor& save_invstd, bool training, double eps) {
  Axes axes;
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) axes.last.push_back(d);
  }
  axes.before = axes.last;
  const Tensor mean = training ? save_mean : *running_mean;
  const Tensor invstd = training ? save_invstd : (*running_var + Scalar(eps)).rsqrt();
  return {
      input,   by_channel(mean, input), by_channel(invstd, input), by_channel(weight, input), axes,
      training};
}

}  // namespace

Tensor batch_norm_tangent(const Tensor& input_t, const Tensor& input, const Tensor& weight_t,
                          const Tensor& weight, const Tensor& bias_t,
                          const std::optional<Tensor>& running_mean,
                          const std::optional<Tensor>& running_var, const Tensor& save_mean,
                          const Tensor& save_invstd, bool training, double eps) {
  return batch_normalisation(input, weight, running_mean, running_var, save_mean, save_invstd,
                             training, eps)
      .tangent(input_t, by_channel(weight_t, input), by_channel(bias_t, input));
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_double(
    const Tensor& grad_of_input, const Tensor& grad_of_weight, const Tensor& grad_of_bias,
    const Tensor& grad_out, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
    const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_invstd, bool training,
    double eps, std::array<bool, 3> wanted) {
  const auto [of_grad_out, of_input, of_weight] =
      batch_normalisation(input, tensor_or_undefined(weight), running_mean, running_var,
                          tensor_or_undefined(save_mean), tensor_or_undefined(save_invstd),
                          training, eps)
          .double_backward(grad_of_input, by_channel(grad_of_weight, input),
                           by_channel(grad_of_bias, input), grad_out,
                           {wanted[2], wanted[0], wanted[1]});
  return {of_input, of_weight, of_grad_out};
}

namespace {

// Splits the channels into groups: [N, G, C / G, …places in one dimension].
Tensor in_groups(const Tensor& tensor, int64_t group, int64_t N, int64_t C) {
  if (!tensor.defined()) return tensor;
  return tensor.reshape({N, group, C / group, tensor.numel() / std::max<int64_t>(1, N * C)});
}

struct GroupNormalisation : Normalisation {
  DimVector sizes;
  int64_t channels = 0, group = 0;

  GroupNormalisation(const Tensor& input, const Tensor& mean, const Tensor& rstd,
                     const Tensor& weight, int64_t N, int64_t C, int64_t group)
      : Normalisation{in_groups(input, group, N, C),
                      mean.reshape({N, group, 1, 1}),
                      rstd.reshape({N, group, 1, 1}),
                      Tensor(),
                      {{0, 3}, {2, 3}}},
        sizes(input.sizes()),
        channels(C),
        group(group) {
    this->weight = of_channels(weight);
  }
  [[nodiscard]] Tensor of_channels(const Tensor& numbers) const {
    return numbers.defined() ? numbers.reshape({1, group, channels / group, 1}) : numbers;
  }
  [[nodiscard]] Tensor grouped(const Tensor& tensor) const {
    return tensor.defined() ? tensor.reshape(input.sizes()) : tensor;
  }
  [[nodiscard]] Tensor restored(const Tensor& tensor) const {
    return tensor.defined() ? tensor.reshape(sizes) : tensor;
  }
};

}  // namespace

Tensor group_norm_tangent(const Tensor& input_t, const Tensor& input, const Tensor& weight_t,
                          const Tensor& weight, const Tensor& bias_t, const Tensor& mean,
                          const Tensor& rstd, int64_t group) {
  const GroupNormalisation groups(input, mean, rstd, weight, mean.size(0), input.size(1), group);
  return groups.restored(groups.tangent(groups.grouped(input_t), groups.of_channels(weight_t),
                                        groups.of_channels(bias_t)));
}
Tensor group_mean_tangent(const Tensor& input_t, const Tensor& input, const Tensor& mean,
                          const Tensor& rstd, int64_t group) {
  if (!input_t.defined()) return at::zeros_like(mean);
  const GroupNormalisation groups(input, mean, rstd, Tensor(), mean.size(0), input.size(1), group);
  return row_mean(groups.grouped(input_t), groups.axes)
      .reshape(mean.sizes())
      .to(mean.scalar_type());
}
Tensor group_rstd_tangent(const Tensor& input_t, const Tensor& input, const Tensor& mean,
                          const Tensor& rstd, int64_t group) {
  if (!input_t.defined()) return at::zeros_like(rstd);
  const GroupNormalisation groups(input, mean, rstd, Tensor(), mean.size(0), input.size(1), group);
  const Tensor along = row_mean(groups.grouped(input_t) * groups.normal(), groups.axes);
  return (along * groups.rstd * groups.rstd * -1).reshape(rstd.sizes()).to(rstd.scalar_type());
}
std::tuple<Tensor, Tensor, Tensor> group_norm_gradient(
    const Tensor& grad, const Tensor& grad_of_mean, const Tensor& grad_of_rstd, const Tensor& input,
    const Tensor& mean, const Tensor& rstd, const std::optional<Tensor>& weight, int64_t N,
    int64_t C, int64_t HxW, int64_t group, std::array<bool, 3> wanted) {
  std::tuple<Tensor, Tensor, Tensor> grads;
  if (grad.defined()) {
    // Its own gradient treats the statistics as functions of the input.
    const Tensor constant_mean(opgen::autograd::detach(mean));
    const Tensor constant_rstd(opgen::autograd::detach(rstd));
    grads = at::native_group_norm_backward(grad, input, constant_mean, constant_rstd, weight, N, C,
                                           HxW, group, wanted);
  }
  if (!wanted[0] || (!grad_of_mean.defined() && !grad_of_rstd.defined())) return grads;
  const GroupNormalisation groups(input, mean, rstd, Tensor(), N, C, group);
  Tensor of_input;
  if (grad_of_mean.defined()) of_input = grad_of_mean.reshape(groups.mean.sizes());
  if (grad_of_rstd.defined()) {
    const Tensor slope = grad_of_rstd.reshape(groups.rstd.sizes()) * groups.rstd * groups.rstd;
    of_input = sum_of(of_input, groups.normal() * slope * -1);
  }
  // Both statistics are means over the places of a group.
  const double places = static_cast<double>(C / group) * static_cast<double>(HxW);
  of_input = groups.restored((of_input / places).expand(groups.input.sizes()));
  std::get<0>(grads) = sum_of(std::get<0>(grads), of_input.to(input.scalar_type()));
  return grads;
}
std::tuple<Tensor, Tensor, Tensor> group_norm_double(
    const Tensor& grad_of_input, const Tensor& grad_of_weight, const Tensor& grad_of_bias,
    const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
    const std::optional<Tensor>& weight, int64_t N, int64_t C, int64_t /*HxW*/, int64_t group,
    std::array<bool, 3> wanted) {
  const GroupNormalisation groups(input, mean, rstd, tensor_or_undefined(weight), N, C, group);
  auto [of_grad_out, of_input, of_weight] =
      groups.double_backward(groups.grouped(grad_of_input), groups.of_channels(grad_of_weight),
                             groups.of_channels(grad_of_bias), groups.grouped(grad_out), wanted);
  if (of_weight.defined()) of_weight = of_weight.reshape({C});
  return {groups.restored(of_grad_out), groups.restored(of_input), of_weight};
}

}  // namespace at::derivatives
