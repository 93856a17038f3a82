// losses.cpp: losses by distances, classes, probabilities and similarities, and
// scaled_dot_product_attention. `reduction` is 0 for none, 1 for the mean, 2 for the sum.
#include <opgen/kernel.h>

#include <atomic>
#include <cmath>

#include <aten/ops/addcmul.h>
#include <aten/ops/binary_cross_entropy.h>
#include <aten/ops/binary_cross_entropy_native.h>
#include <aten/ops/binary_cross_entropy_with_logits_native.h>
#include <aten/ops/clamp_min.h>
#include <aten/ops/cosine_embedding_loss_native.h>
#include <aten/ops/cosine_similarity_native.h>
#include <aten/ops/cross_entropy_loss_native.h>
#include <aten/ops/dropout.h>
#include <aten/ops/exp.h>
#include <aten/ops/full_like.h>
#include <aten/ops/gather.h>
#include <aten/ops/hinge_embedding_loss_native.h>
#include <aten/ops/huber_loss.h>
#include <aten/ops/huber_loss_native.h>
#include <aten/ops/index_select.h>
#include <aten/ops/kl_div_native.h>
#include <aten/ops/l1_loss_native.h>
#include <aten/ops/linalg_vector_norm.h>
#include <aten/ops/log.h>
#include <aten/ops/log_sigmoid.h>
#include <aten/ops/log_softmax.h>
#include <aten/ops/margin_ranking_loss_native.h>
#include <aten/ops/matmul.h>
#include <aten/ops/minimum.h>
#include <aten/ops/mse_loss.h>
#include <aten/ops/mse_loss_native.h>
#include <aten/ops/nll_loss.h>
#include <aten/ops/nll_loss_native.h>
#include <aten/ops/nll_loss_nd.h>
#include <aten/ops/nll_loss_nd_native.h>
#include <aten/ops/ones.h>
#include <aten/ops/ones_like.h>
#include <aten/ops/pairwise_distance.h>
#include <aten/ops/pairwise_distance_native.h>
#include <aten/ops/poisson_nll_loss_native.h>
#include <aten/ops/scaled_dot_product_attention_native.h>
#include <aten/ops/smooth_l1_loss.h>
#include <aten/ops/smooth_l1_loss_native.h>
#include <aten/ops/soft_margin_loss.h>
#include <aten/ops/soft_margin_loss_native.h>
#include <aten/ops/softmax.h>
#include <aten/ops/triplet_margin_loss_native.h>
#include <aten/ops/where.h>
#include <aten/ops/xlogy.h>
#include <opgen/cpu/reduce_of.h>

#include "composite.h"
#include "loss_reduction.h"
#include "optional.h"
#include "plain.h"

using namespace kernels;

namespace {

// The loss of each place, and the weight that it has in a mean.
struct Weighted {
  Tensor loss, weight;
};

using kernels::reduced;
bool is_one_number(int64_t reduction) {
  check_reduction(reduction);
  return reduction == kMean || reduction == kSum;
}
Tensor reduced(const Weighted& each, int64_t reduction) {
  check_reduction(reduction);
  if (reduction == kNone) return each.loss;
  const Tensor sum = each.loss.sum();
  return reduction == kMean ? sum.div(each.weight.sum()) : sum;
}

int64_t class_dim(const Tensor& self) {
  return self.dim() == 1 ? 0 : 1;
}

// Half types are computed in float, and rounded once.
ScalarType wide_dtype(const Tensor& self) {
  return opgen::toOpMathType(self.scalar_type());
}

// of_classes for rows of numbers, in one loop; nothing if it does not apply, or a class is outside.
std::optional<Weighted> of_rows(const Tensor& self, const Tensor& target,
                                const std::optional<Tensor>& weight, int64_t ignored,
                                ScalarType kind) {
  const bool fits = self.dim() == 2 && target.scalar_type() == opgen::kLong &&
                    (kind == opgen::kFloat || kind == opgen::kDouble) && is_plain(self) &&
                    is_plain(target) && (!is_given(weight) || is_plain(*weight));
  if (!fits) return std::nullopt;
  const Tensor loss = opgen::empty(target.sizes(), self.options().dtype(kind));
  const Tensor weights = opgen::empty(target.sizes(), self.options().dtype(kind));
  const Tensor given = is_given(weight) ? weight->contiguous() : Tensor();
  const int64_t count = self.size(0), classes = self.size(1);
  const int64_t row = self.stride(0), column = self.stride(1), step = target.stride(0);
  std::atomic<bool> outside = false;
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), "nll_loss", [&] {
    using wide = opgen::opmath_type<scalar_t>;
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    const int64_t* place = target.const_data_ptr<int64_t>();
    const wide* class_weight = given.defined() ? given.const_data_ptr<wide>() : nullptr;
    wide* to = loss.mutable_data_ptr<wide>();
    wide* weight_to = weights.mutable_data_ptr<wide>();
    opgen::parallel_for(0, count, opgen::kGrainSize, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = place[i * step];
        to[i] = weight_to[i] = 0;
        if (at == ignored) continue;
        if (at < 0 || at >= classes) {
          outside = true;
          return;
        }
        const wide factor = class_weight != nullptr ? class_weight[at] : wide(1);
        to[i] = -static_cast<wide>(from[i * row + at * column]) * factor;
        weight_to[i] = factor;
      }
    });
  });
  if (outside) return std::nullopt;
  return Weighted{loss, weights};
}

// Picks the number of each place's class, with the weight of the class, and zeros where the class
// is ignored, both of dtype `kind`, which is that of `weight`.
Weighted of_classes(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                    int64_t ignored, ScalarType kind) {
  if (const auto rows = of_rows(self, target, weight, ignored, kind); rows.has_value()) {
    return *rows;
  }
  const int64_t dim = class_dim(self);
  const Tensor skipped = target.eq(Scalar(ignored));
  const Tensor classes = in_dtype(target, opgen::kLong).masked_fill(skipped, Scalar(0));
  const Tensor found = at::gather(self, dim, classes.unsqueeze(dim), false).squeeze(dim);
  const Tensor picked = in_dtype(found, kind).neg();
  if (!is_given(weight)) {
    const Tensor weights = at::ones(classes.sizes(), picked.options());
    return {picked.masked_fill(skipped, Scalar(0)), weights.masked_fill(skipped, Scalar(0))};
  }
  const Tensor weights = at::index_select(*weight, 0, classes.reshape({-1}))
                             .view(classes.sizes())
                             .masked_fill(skipped, Scalar(0));
  return {picked.mul(weights).masked_fill(skipped, Scalar(0)), weights};
}

void check_classes(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight) {
  OPGEN_CHECK(self.is_floating_point(), "nll_loss is not implemented for ", self.scalar_type());
  OPGEN_CHECK(target.scalar_type() == opgen::kLong || target.scalar_type() == opgen::kByte,
              "expected scalar type Long or Byte but found ", target.scalar_type());
  const int64_t dim = class_dim(self);
  DimVector places(self.sizes());
  const int64_t classes = places[static_cast<size_t>(dim)];
  places.erase(places.begin() + dim);
  OPGEN_CHECK(same_sizes(target.sizes(), places), "size mismatch (got input: ", self.sizes(),
              ", target: ", target.sizes(), ")");
  OPGEN_CHECK(!is_given(weight) || (weight->dim() == 1 && weight->size(0) == classes),
              "weight tensor should be defined either for all ", classes,
              " classes or no classes but got weight tensor of shape: ",
              is_given(weight) ? weight->sizes() : IntArrayRef());
  OPGEN_CHECK(!is_given(weight) || weight->scalar_type() == self.scalar_type(),
              "expected scalar type ", self.scalar_type(), " for weight but found ",
              is_given(weight) ? weight->scalar_type() : self.scalar_type());
}

}  // namespace

OPGEN_KERNEL(nll_loss_nd)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index) {
  OPGEN_CHECK_VALUE(self.dim() > 0, "Expected 1 or more dimensions (got ", self.dim(), ")");
  check_classes(self, target, weight);
  const ScalarType kind = wide_dtype(self);
  const std::optional<Tensor> weights =
      is_given(weight) ? std::optional(in_dtype(*weight, kind)) : std::nullopt;
  const Weighted each = of_classes(self, target, weights, ignore_index, kind);
  return in_dtype(reduced(each, reduction), self.scalar_type());
}
OPGEN_KERNEL(nll_loss)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index) {
  OPGEN_CHECK(self.dim() > 0 && self.dim() <= 2, "input tensor should be 1D or 2D");
  return at::nll_loss_nd(self, target, weight, reduction, ignore_index);
}
OPGEN_KERNEL(nll_loss_out)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index, Tensor& out) {
  return copy_result(out, at::nll_loss(self, target, weight, reduction, ignore_index), "nll_loss");
}

OPGEN_KERNEL(cross_entropy_loss)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index, double label_smoothing) {
  OPGEN_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
              "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  OPGEN_CHECK(self.dim() > 0, "cross_entropy_loss: expected an input with a dimension of classes");
  const int64_t dim = class_dim(self), classes = self.size(dim);
  const Tensor logarithms = at::log_softmax(self, dim, self.scalar_type());
  Tensor by_class;
  if (is_given(weight)) {
    DimVector shape(static_cast<size_t>(self.dim()), 1);
    shape[static_cast<size_t>(dim)] = classes;
    OPGEN_CHECK(weight->dim() == 1 && weight->size(0) == classes,
                "cross_entropy: weight tensor should be defined either for all ", classes,
                " classes or no classes but got weight tensor of shape: ", weight->sizes());
    by_class = weight->view(shape);
  }
  if (same_sizes(self.sizes(), target.sizes())) {
    // The target has the probabilities of the classes.
    OPGEN_CHECK(target.is_floating_point(),
                "Expected floating point type for target with class probabilities, got ",
                target.scalar_type());
    OPGEN_CHECK(ignore_index < 0, "ignore_index is not supported for floating point target");
    Tensor likely = target;
    if (label_smoothing > 0) {
      likely = target.mul(Scalar(1 - label_smoothing))
                   .add(Scalar(label_smoothing / static_cast<double>(classes)));
    }
    Tensor each = logarithms.mul(likely);
    if (by_class.defined()) each = each.mul(by_class);
    each = each.neg();
    check_reduction(reduction);
    if (reduction == kNone) return each.sum(dim);
    const double places = static_cast<double>(each.numel()) / static_cast<double>(classes);
    return reduction == kMean ? each.sum().div(Scalar(places)) : each.sum();
  }
  const Tensor plain = at::nll_loss_nd(logarithms, target, weight, reduction, ignore_index);
  if (label_smoothing == 0) return plain;
  const Tensor skipped = target.eq(Scalar(ignore_index));
  const Tensor all = by_class.defined() ? logarithms.mul(by_class) : logarithms;
  const Tensor spread = all.sum(dim).neg().masked_fill(skipped, Scalar(0));
  const Tensor weights =
      of_classes(logarithms, target, weight, ignore_index, logarithms.scalar_type()).weight;
  const double share = label_smoothing / static_cast<double>(classes);
  return plain.mul(Scalar(1 - label_smoothing))
      .add(reduced({spread, weights}, reduction).mul(Scalar(share)));
}

OPGEN_KERNEL(l1_loss)(const Tensor& self, const Tensor& target, int64_t reduction) {
  // The mean and the sum need no tensor of distances.
  if (is_one_number(reduction) && self.is_floating_point() && target.is_floating_point()) {
    return at::smooth_l1_loss(self, target, reduction, 0);
  }
  return reduced(self.sub(target).abs(), reduction);
}

OPGEN_KERNEL(mse_loss)(const Tensor& self, const Tensor& target, int64_t reduction) {
  const ScalarType kind = opgen::result_type_of(self, target);
  OPGEN_CHECK(opgen::isFloatingType(kind), "mse_loss is not implemented for ", kind);
  if (is_one_number(reduction)) {
    // Half of the square, up to an infinite distance; twice that is exact.
    constexpr double everywhere = std::numeric_limits<double>::infinity();
    return at::huber_loss(self, target, reduction, everywhere).mul(Scalar(2));
  }
  const Tensor difference = in_dtype(self, kind).sub(in_dtype(target, kind));
  return difference.mul(difference);
}
OPGEN_KERNEL(mse_loss_out)
(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  const Tensor result = at::mse_loss(self, target, reduction);
  check_can_cast(result.scalar_type(), out.scalar_type());
  return copy_result(out, in_dtype(result, out.scalar_type()), "mse_loss");
}

// ---- Losses by the distance of two numbers ----

namespace {

// Returns f(self, target) for pairs of elements, computed in float or double.
template <class F>
Tensor of_pairs(const char* name, const Tensor& self, const Tensor& target, F f) {
  TensorIterator iter = TensorIterator::binary_op(Tensor(), self, target);
  Tensor each(iter.output());
  if (each.is_meta()) return each;
  OPGEN_DISPATCH_FLOATING(iter.common_dtype(), name, [&] {
    using wide = wide_t<scalar_t>;
    opgen::cpu_kernel(iter, [f](scalar_t x, scalar_t y) -> scalar_t {
      return static_cast<scalar_t>(f(static_cast<wide>(x), static_cast<wide>(y)));
    });
  });
  return each;
}
// The same, or the mean or the sum of it.
template <class F>
Tensor of_pairs(const char* name, const Tensor& self, const Tensor& target, int64_t reduction,
                F f) {
  if (!is_one_number(reduction)) return of_pairs(name, self, target, f);
  const ScalarType kind = opgen::result_type_of(self, target);
  const Tensor a = in_dtype(self, kind), b = in_dtype(target, kind);
  const DimVector shape(opgen::infer_size(a.sizes(), b.sizes()));
  const Tensor result = opgen::empty({}, a.options());
  const auto ndim = static_cast<int64_t>(shape.size());
  TensorIterator iter = opgen::make_reduction_of(result, a, b, mask_of(std::nullopt, ndim));
  if (result.is_meta()) return result;
  OPGEN_DISPATCH_FLOATING(kind, name, [&] {
    using wide = wide_t<scalar_t>;
    const wide count =
        reduction == kMean ? static_cast<wide>(opgen::multiply_integers(shape)) : wide(1);
    opgen::cpu_sum_of<scalar_t, scalar_t>(iter, f, [count](wide sum) { return sum / count; });
  });
  return result;
}

Tensor& copy_loss(Tensor& out, const Tensor& result, const char* name) {
  check_can_cast(result.scalar_type(), out.scalar_type());
  return copy_result(out, in_dtype(result, out.scalar_type()), name);
}

}  // namespace

OPGEN_KERNEL(smooth_l1_loss)
(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  OPGEN_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  return of_pairs("smooth_l1_loss", self, target, reduction, [beta]<class T>(T x, T y) {
    const T limit = static_cast<T>(beta), distance = std::abs(x - y);
    // Both are computed, so that compilers vectorise the loop. Without a limit, all are far.
    const T near = distance * distance * (T(0.5) / limit), far = distance - T(0.5) * limit;
    return distance < limit ? near : far;
  });
}
OPGEN_KERNEL(smooth_l1_loss_out)
(const Tensor& self, const Tensor& target, int64_t reduction, double beta, Tensor& out) {
  return copy_loss(out, at::smooth_l1_loss(self, target, reduction, beta), "smooth_l1_loss");
}

OPGEN_KERNEL(huber_loss)
(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  OPGEN_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  // A limit beyond all floats is none: half of any square is at most infinite.
  if (std::isinf(static_cast<float>(delta))) {
    return of_pairs("huber_loss", self, target, reduction, []<class T>(T x, T y) {
      const T distance = x - y;
      return T(0.5) * distance * distance;
    });
  }
  return of_pairs("huber_loss", self, target, reduction, [delta]<class T>(T x, T y) {
    const T limit = static_cast<T>(delta), distance = std::abs(x - y);
    // Half of the square up to the limit, and a line with its slope beyond. NaN is not below it.
    const T near = distance < limit ? distance : limit;
    return near * (distance - T(0.5) * near);
  });
}
OPGEN_KERNEL(huber_loss_out)
(const Tensor& self, const Tensor& target, int64_t reduction, double delta, Tensor& out) {
  return copy_loss(out, at::huber_loss(self, target, reduction, delta), "huber_loss");
}

OPGEN_KERNEL(soft_margin_loss)(const Tensor& self, const Tensor& target, int64_t reduction) {
  OPGEN_CHECK(!isIntegralType(self.scalar_type(), /*include_bool=*/true),
              "soft_margin_loss is not implemented for ", self.scalar_type());
  return reduced(self.neg().mul(target).exp().log1p(), reduction);
}
OPGEN_KERNEL(soft_margin_loss_out)
(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  return copy_loss(out, at::soft_margin_loss(self, target, reduction), "soft_margin_loss");
}

// ---- Losses of probabilities ----

OPGEN_KERNEL(binary_cross_entropy)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction) {
  OPGEN_CHECK(self.scalar_type() == target.scalar_type(), "Found dtype ", target.scalar_type(),
              " but expected ", self.scalar_type());
  OPGEN_CHECK(same_sizes(self.sizes(), target.sizes()),
              "binary_cross_entropy: expected a target of sizes ", self.sizes(), ", got ",
              target.sizes());
  const auto each = of_pairs("binary_cross_entropy", self, target, []<class T>(T x, T y) {
    OPGEN_CHECK(x >= 0 && x <= 1, "all elements of input should be between 0 and 1");
    OPGEN_CHECK(y >= 0 && y <= 1, "all elements of target should be between 0 and 1");
    // The loss of a probability of 0 is large, but finite.
    const T least(-100);
    return (y - T(1)) * std::max(std::log1p(-x), least) - y * std::max(std::log(x), least);
  });
  return reduced(is_given(weight) ? each.mul(*weight) : each, reduction);
}
OPGEN_KERNEL(binary_cross_entropy_out)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 Tensor& out) {
  return copy_loss(out, at::binary_cross_entropy(self, target, weight, reduction),
                   "binary_cross_entropy");
}

OPGEN_KERNEL(binary_cross_entropy_with_logits)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
 const std::optional<Tensor>& pos_weight, int64_t reduction) {
  Tensor likelihood = at::log_sigmoid(self);
  if (is_given(pos_weight)) {
    likelihood = likelihood.mul(pos_weight->sub(Scalar(1)).mul(target).add(Scalar(1)));
  }
  Tensor each = target.neg().add(Scalar(1)).mul(self).sub(likelihood);
  if (is_given(weight)) each = each.mul(*weight);
  return reduced(each, reduction);
}

OPGEN_KERNEL(kl_div)
(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  OPGEN_CHECK(!self.is_complex() && !target.is_complex(),
              "kl_div: Complex inputs are not supported.");
  OPGEN_CHECK(self.is_floating_point() && target.is_floating_point(),
              "kl_div: Integral inputs not supported.");
  if (log_target) return reduced(target.exp().mul(target.sub(self)), reduction);
  return reduced(at::addcmul(at::xlogy(target, target), target, self, -1), reduction);
}

OPGEN_KERNEL(poisson_nll_loss)
(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
 int64_t reduction) {
  Tensor each = log_input ? input.exp().sub(target.mul(input))
                          : input.sub(target.mul(input.add(Scalar(eps)).log()));
  if (full) {
    // Stirling's approximation of the logarithm of target!.
    constexpr double two_pi = 6.28318530717958647693;
    const Tensor factorial =
        target.mul(target.log()).sub(target).add(target.mul(Scalar(two_pi)).log().mul(Scalar(0.5)));
    each = each.add(factorial.masked_fill(target.le(Scalar(1)), Scalar(0)));
  }
  return reduced(each, reduction);
}

// ---- Losses of targets 1 and -1 ----

OPGEN_KERNEL(margin_ranking_loss)
(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
 int64_t reduction) {
  OPGEN_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
              "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
              "input1: ",
              input1.sizes(), ", input2: ", input2.sizes(), ", target: ", target.sizes(), " ");
  const Tensor order = target.neg().mul(input1.sub(input2));
  return reduced(order.add(Scalar(margin)).clamp_min(0), reduction);
}

OPGEN_KERNEL(hinge_embedding_loss)
(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
  // For integers, the margin is rounded.
  const Tensor apart = at::full_like(self, Scalar(margin)).sub(self).clamp_min(0);
  const Tensor each =
      at::where(target.ne(Scalar(1)), apart, 0).add(at::where(target.ne(Scalar(-1)), self, 0));
  return reduced(each, reduction);
}

OPGEN_KERNEL(cosine_embedding_loss)
(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
 int64_t reduction) {
  const int64_t dim = target.dim();
  OPGEN_CHECK(dim == 0 || dim == 1, "0D or 1D target tensor expected, multi-target not supported");
  OPGEN_CHECK(input1.dim() == dim + 1 && input2.dim() == dim + 1, dim, "D target tensor expects ",
              dim + 1, "D input tensors, but found inputs with sizes ", input1.sizes(), " and ",
              input2.sizes(), ".");
  constexpr double epsilon = 1e-12;
  const Tensor square1 = input1.mul(input1).sum(dim).add(Scalar(epsilon));
  const Tensor square2 = input2.mul(input2).sum(dim).add(Scalar(epsilon));
  const Tensor cosine = input1.mul(input2).sum(dim).div(square1.mul(square2).sqrt());
  const Tensor apart = cosine.sub(Scalar(margin)).clamp_min(0);
  const Tensor each = at::where(target.eq(Scalar(1)), cosine.neg().add(Scalar(1)), 0)
                          .add(at::where(target.eq(Scalar(-1)), apart, 0));
  return reduced(each, reduction);
}

// ---- Distances and similarities of vectors ----

OPGEN_KERNEL(pairwise_distance)
(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return at::linalg_vector_norm(x1.sub(x2).add(Scalar(eps)), Scalar(p), IntArrayRef{-1}, keepdim,
                                std::nullopt);
}

namespace {

// Divides vectors along `dim` by their lengths, which are at least `eps`.
Tensor of_length_one(const Tensor& self, int64_t dim, double eps) {
  const Tensor length =
      at::linalg_vector_norm(self, 2, IntArrayRef{dim}, /*keepdim=*/true, std::nullopt);
  return self.div(length.clamp_min(Scalar(eps)));
}

}  // namespace

OPGEN_KERNEL(cosine_similarity)(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const ScalarType kind = opgen::result_type_of(x1, x2);
  OPGEN_CHECK(opgen::isFloatingType(kind),
              "expected common dtype to be floating point, yet common dtype is ", kind);
  OPGEN_CHECK(eps >= 0, "eps must be non-negative, got: ", eps);
  const DimVector shape(opgen::infer_size(x1.sizes(), x2.sizes()));
  const auto prepared = [&](const Tensor& x) {
    return of_length_one((x.is_floating_point() ? x : in_dtype(x, kind)).expand(shape), dim, eps);
  };
  return prepared(x1).mul(prepared(x2)).sum(dim);
}

OPGEN_KERNEL(triplet_margin_loss)
(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p,
 double eps, bool swap, int64_t reduction) {
  OPGEN_CHECK(anchor.dim() == positive.dim() && positive.dim() == negative.dim(),
              "The anchor, positive, and negative tensors are expected to have the same number of "
              "dimensions, but got: anchor ",
              anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(),
              "D inputs");
  OPGEN_CHECK(margin > 0, "triplet_margin_loss: expected margin to be greater than 0, got ",
              margin);
  const Tensor near = at::pairwise_distance(anchor, positive, p, eps, false);
  Tensor far = at::pairwise_distance(anchor, negative, p, eps, false);
  if (swap) far = at::minimum(far, at::pairwise_distance(positive, negative, p, eps, false));
  return reduced(near.sub(far).add(Scalar(margin)).clamp_min(0), reduction);
}

// ---- scaled_dot_product_attention ----

namespace {

// Repeats each head of `self` until there are `heads`.
Tensor repeated_heads(const Tensor& self, int64_t heads) {
  const int64_t own = self.size(-3);
  if (own == heads) return self;
  OPGEN_CHECK(own > 0 && heads % own == 0,
              "scaled_dot_product_attention: the number of heads of "
              "key and value must divide that of query");
  DimVector shape(self.sizes());
  shape.insert(shape.end() - 2, heads / own);
  DimVector flat(self.sizes());
  flat[flat.size() - 3] = heads;
  return self.unsqueeze(-3).expand(shape).reshape(flat);
}

}  // namespace

OPGEN_KERNEL(scaled_dot_product_attention)
(const Tensor& query, const Tensor& key, const Tensor& value,
 const std::optional<Tensor>& attn_mask, double dropout_p, bool is_causal,
 std::optional<double> scale, bool enable_gqa) {
  OPGEN_CHECK(
      query.scalar_type() == key.scalar_type() && query.scalar_type() == value.scalar_type(),
      "Expected query, key, and value to have the same dtype, but got query.dtype: ",
      query.scalar_type(), " key.dtype: ", key.scalar_type(),
      " and value.dtype: ", value.scalar_type(), " instead.");
  OPGEN_CHECK(query.is_floating_point(), "scaled_dot_product_attention is not implemented for ",
              query.scalar_type());
  OPGEN_CHECK(
      query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
      "Expected query, key, and value to all be at least 2 dimensional, but got query.dim: ",
      query.dim(), ", key.dim: ", key.dim(), " and value.dim: ", value.dim(), " instead.");
  OPGEN_CHECK(!is_causal || !is_given(attn_mask),
              "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
              "is_causal=True");
  const double factor =
      scale.value_or(1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, query.size(-1)))));
  const ScalarType kind = wide_dtype(query);
  const bool groups = enable_gqa && query.dim() >= 3;
  const Tensor keys = in_dtype(groups ? repeated_heads(key, query.size(-3)) : key, kind);
  const Tensor values = in_dtype(groups ? repeated_heads(value, query.size(-3)) : value, kind);
  Tensor scores = at::matmul(in_dtype(query, kind).mul(Scalar(factor)), keys.transpose(-2, -1));
  std::optional<Tensor> mask = attn_mask;
  if (is_causal) {
    mask = at::ones({query.size(-2), key.size(-2)}, query.options().dtype(opgen::kBool)).tril();
  }
  Tensor hidden;
  if (is_given(mask) && mask->scalar_type() == opgen::kBool) {
    hidden = mask->logical_not();
    scores = scores.masked_fill(hidden, Scalar(-std::numeric_limits<double>::infinity()));
  } else if (is_given(mask)) {
    scores = scores.add(in_dtype(*mask, kind));
  }
  Tensor shares = at::softmax(scores, -1, std::nullopt);
  if (scores.size(-1) > 0) {
    // A row of which everything is hidden, by a mask or by its own scores, attends to nothing.
    const Tensor empty =
        scores.detach().amax({-1}, true).eq(Scalar(-std::numeric_limits<double>::infinity()));
    shares = shares.masked_fill(empty, Scalar(0));
  }
  if (dropout_p > 0) shares = at::dropout(shares, dropout_p, true);
  return in_dtype(at::matmul(shares, values), query.scalar_type());
}
