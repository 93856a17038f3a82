// losses.cpp: losses by distances and by classes, and scaled_dot_product_attention. `reduction` is
// 0 for none, 1 for the mean, 2 for the sum.
#include <opgen/kernel.h>

#include <cmath>

#include <aten/ops/cross_entropy_loss_native.h>
#include <aten/ops/dropout.h>
#include <aten/ops/gather.h>
#include <aten/ops/index_select.h>
#include <aten/ops/l1_loss_native.h>
#include <aten/ops/log_softmax.h>
#include <aten/ops/matmul.h>
#include <aten/ops/mse_loss.h>
#include <aten/ops/mse_loss_native.h>
#include <aten/ops/nll_loss.h>
#include <aten/ops/nll_loss_native.h>
#include <aten/ops/nll_loss_nd.h>
#include <aten/ops/nll_loss_nd_native.h>
#include <aten/ops/ones.h>
#include <aten/ops/ones_like.h>
#include <aten/ops/scaled_dot_product_attention_native.h>
#include <aten/ops/softmax.h>

#include "composite.h"

using namespace kernels;

namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

// The loss of each place, and the weight that it has in a mean.
struct Weighted {
  Tensor loss, weight;
};

Tensor reduced(const Tensor& each, int64_t reduction) {
  if (reduction == kMean) return each.mean();
  return reduction == kSum ? each.sum() : each;
}
Tensor reduced(const Weighted& each, int64_t reduction) {
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

// Picks the number of each place's class, with the weight of the class, and zeros where the class
// is ignored. `chosen` is the number of a place for its class, or the sum over classes.
Weighted of_classes(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                    int64_t ignored) {
  const int64_t dim = class_dim(self);
  const Tensor skipped = target.eq(Scalar(ignored));
  const Tensor classes = in_dtype(target, opgen::kLong).masked_fill(skipped, Scalar(0));
  const Tensor picked = at::gather(self, dim, classes.unsqueeze(dim), false).squeeze(dim).neg();
  Tensor weights;
  if (weight.has_value()) {
    weights = at::index_select(*weight, 0, classes.reshape({-1})).view(classes.sizes());
  } else {
    weights = at::ones(classes.sizes(), self.options());
  }
  weights = weights.masked_fill(skipped, Scalar(0));
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
  OPGEN_CHECK(!weight.has_value() || (weight->dim() == 1 && weight->size(0) == classes),
              "weight tensor should be defined either for all ", classes,
              " classes or no classes but got weight tensor of shape: ",
              weight.has_value() ? weight->sizes() : IntArrayRef());
  OPGEN_CHECK(!weight.has_value() || weight->scalar_type() == self.scalar_type(),
              "expected scalar type ", self.scalar_type(), " for weight but found ",
              weight.has_value() ? weight->scalar_type() : self.scalar_type());
}

}  // namespace

OPGEN_KERNEL(nll_loss_nd)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index) {
  OPGEN_CHECK_VALUE(self.dim() > 0, "Expected 1 or more dimensions (got ", self.dim(), ")");
  check_classes(self, target, weight);
  const ScalarType kind = wide_dtype(self);
  const std::optional<Tensor> weights =
      weight.has_value() ? std::optional(in_dtype(*weight, kind)) : std::nullopt;
  const Weighted each = of_classes(in_dtype(self, kind), target, weights, ignore_index);
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
  if (weight.has_value()) {
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
    if (reduction == kNone) return each.sum(dim);
    const double places = static_cast<double>(each.numel()) / static_cast<double>(classes);
    return reduction == kMean ? each.sum().div(Scalar(places)) : each.sum();
  }
  const Tensor plain = at::nll_loss_nd(logarithms, target, weight, reduction, ignore_index);
  if (label_smoothing == 0) return plain;
  const Tensor skipped = target.eq(Scalar(ignore_index));
  const Tensor all = by_class.defined() ? logarithms.mul(by_class) : logarithms;
  const Tensor spread = all.sum(dim).neg().masked_fill(skipped, Scalar(0));
  const Tensor weights = of_classes(logarithms, target, weight, ignore_index).weight;
  const double share = label_smoothing / static_cast<double>(classes);
  return plain.mul(Scalar(1 - label_smoothing))
      .add(reduced({spread, weights}, reduction).mul(Scalar(share)));
}

OPGEN_KERNEL(l1_loss)(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced(self.sub(target).abs(), reduction);
}

OPGEN_KERNEL(mse_loss)(const Tensor& self, const Tensor& target, int64_t reduction) {
  const ScalarType kind = opgen::result_type_of(self, target);
  OPGEN_CHECK(opgen::isFloatingType(kind), "mse_loss is not implemented for ", kind);
  const Tensor difference = in_dtype(self, kind).sub(in_dtype(target, kind));
  return reduced(difference.mul(difference), reduction);
}
OPGEN_KERNEL(mse_loss_out)
(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  const Tensor result = at::mse_loss(self, target, reduction);
  check_can_cast(result.scalar_type(), out.scalar_type());
  return copy_result(out, in_dtype(result, out.scalar_type()), "mse_loss");
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
  OPGEN_CHECK(!is_causal || !attn_mask.has_value(),
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
  if (mask.has_value() && mask->scalar_type() == opgen::kBool) {
    hidden = mask->logical_not();
    scores = scores.masked_fill(hidden, Scalar(-std::numeric_limits<double>::infinity()));
  } else if (mask.has_value()) {
    scores = scores.add(in_dtype(*mask, kind));
  }
  Tensor shares = at::softmax(scores, -1, std::nullopt);
  if (mask.has_value()) {
    // A row of which everything is hidden attends to nothing.
    const Tensor empty =
        scores.detach().eq(Scalar(-std::numeric_limits<double>::infinity())).all(-1, true);
    shares = shares.masked_fill(empty, Scalar(0));
  }
  if (dropout_p > 0) shares = at::dropout(shares, dropout_p, true);
  return in_dtype(at::matmul(shares, values), query.scalar_type());
}
