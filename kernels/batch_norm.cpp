// batch_norm.cpp: normalisation by channels: batch_norm, group_norm, rms_norm. Composite: the
// gradients are those of the operators that they call.
#include <opgen/kernel.h>

#include <aten/ops/batch_norm_native.h>
#include <aten/ops/empty.h>
#include <aten/ops/group_norm_native.h>
#include <aten/ops/native_batch_norm.h>
#include <aten/ops/native_batch_norm_native.h>
#include <aten/ops/native_group_norm.h>
#include <aten/ops/native_group_norm_native.h>
#include <aten/ops/native_layer_norm.h>
#include <aten/ops/rms_norm_native.h>
#include <aten/ops/var_mean.h>

#include "common.h"

using namespace kernels;

namespace {

bool is_half(ScalarType kind) {
  return kind == opgen::kHalf || kind == opgen::kBFloat16;
}

// Half types are computed in float, and rounded once.
Tensor widened(const Tensor& self) {
  return is_half(self.scalar_type()) ? self.to(opgen::kFloat, false, false, std::nullopt) : self;
}
Tensor rounded(const Tensor& self, ScalarType kind) {
  return self.scalar_type() == kind ? self : self.to(kind, false, false, std::nullopt);
}

// Gives one number per channel the shape [1, channels, 1, …].
Tensor by_channel(const Tensor& numbers, const Tensor& like) {
  DimVector shape(static_cast<size_t>(like.dim()), 1);
  shape[1] = numbers.numel();
  return widened(numbers).reshape(shape);
}

Tensor scaled_by_channel(const Tensor& self, const std::optional<Tensor>& weight,
                         const std::optional<Tensor>& bias) {
  Tensor result = self;
  if (weight.has_value()) result = result.mul(by_channel(*weight, self));
  if (bias.has_value()) result = result.add(by_channel(*bias, self));
  return result;
}

void check_channels(const char* name, const char* what, const std::optional<Tensor>& parameter,
                    int64_t channels) {
  OPGEN_CHECK(!parameter.has_value() || (parameter->dim() == 1 && parameter->size(0) == channels),
              name, ": expected ", what, " to have ", channels, " elements, one per channel, got ",
              parameter.has_value() ? parameter->sizes() : IntArrayRef());
}

// Moves the running statistic by `momentum` towards that of the batch.
void follow(const Tensor& running, const Tensor& batch, double momentum) {
  Tensor target = running.detach();
  target.mul_(Scalar(1 - momentum)).add_(batch.detach(), Scalar(momentum));
}

}  // namespace

OPGEN_KERNEL(native_batch_norm)
(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
 const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training,
 double momentum, double eps) {
  OPGEN_CHECK(input.dim() >= 2, "batch_norm: expected an input of at least 2 dimensions, got ",
              input.dim());
  OPGEN_CHECK(input.is_floating_point(), "batch_norm is not implemented for ", input.scalar_type());
  const int64_t channels = input.size(1);
  check_channels("batch_norm", "weight", weight, channels);
  check_channels("batch_norm", "bias", bias, channels);
  check_channels("batch_norm", "running_mean", running_mean, channels);
  check_channels("batch_norm", "running_var", running_var, channels);
  OPGEN_CHECK(training || (running_mean.has_value() && running_var.has_value()),
              "batch_norm: expected running_mean and running_var unless training");
  const Tensor x = widened(input);
  Tensor mean, invstd, saved_mean, saved_invstd;
  if (training) {
    DimVector others;
    for (int64_t d = 0; d < input.dim(); ++d) {
      if (d != 1) others.push_back(d);
    }
    const auto [variance, center] =
        at::var_mean(x, others, std::optional<Scalar>(0), /*keepdim=*/false);
    mean = center;
    invstd = variance.add(Scalar(eps)).rsqrt();
    const int64_t count = channels == 0 ? 0 : input.numel() / channels;
    if (running_mean.has_value()) follow(*running_mean, mean, momentum);
    if (running_var.has_value()) {
      // The running variance is that of the population.
      const double taken = static_cast<double>(count) / static_cast<double>(count - 1);
      follow(*running_var, variance.detach().mul(Scalar(taken)), momentum);
    }
    const ScalarType kind = weight.has_value() ? weight->scalar_type() : input.scalar_type();
    saved_mean = rounded(mean, kind);
    saved_invstd = rounded(invstd, kind);
  } else {
    mean = widened(*running_mean);
    invstd = widened(*running_var).add(Scalar(eps)).rsqrt();
    saved_mean = saved_invstd = at::empty({0}, input.options());
  }
  const Tensor normal = x.sub(by_channel(mean, x)).mul(by_channel(invstd, x));
  return {rounded(scaled_by_channel(normal, weight, bias), input.scalar_type()), saved_mean,
          saved_invstd};
}
OPGEN_KERNEL(batch_norm)
(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
 const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training,
 double momentum, double eps, bool /*cudnn_enabled*/) {
  return std::get<0>(at::native_batch_norm(input, weight, bias, running_mean, running_var, training,
                                           momentum, eps));
}

// ---- group_norm: the channels of a group are normalised together ----

OPGEN_KERNEL(native_group_norm)
(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
 int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) {
  OPGEN_CHECK(group > 0, "Expected num groups to be greater than 0, got ", group);
  OPGEN_CHECK(
      C % group == 0,
      "Expected number of channels in input to be divisible by num_groups, but got input of "
      "shape ",
      input.sizes(), " and num_groups=", group);
  check_channels("group_norm", "weight", weight, C);
  check_channels("group_norm", "bias", bias, C);
  const Tensor rows = widened(input).reshape({N * group, C / group * HxW});
  const auto [normal, mean, rstd] =
      at::native_layer_norm(rows, {rows.size(1)}, std::nullopt, std::nullopt, eps);
  const Tensor result = scaled_by_channel(normal.view({N, C, HxW}), weight, bias);
  const ScalarType kind = weight.has_value() ? weight->scalar_type() : input.scalar_type();
  return {rounded(result.view(input.sizes()), input.scalar_type()),
          rounded(mean.view({N, group}), kind), rounded(rstd.view({N, group}), kind)};
}
OPGEN_KERNEL(group_norm)
(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight,
 const std::optional<Tensor>& bias, double eps, bool /*cudnn_enabled*/) {
  OPGEN_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ",
              input.dim());
  const int64_t batch = input.size(0), channels = input.size(1);
  const IntArrayRef rest = input.sizes().slice(2);
  const int64_t inner = opgen::multiply_integers(DimVector(rest));
  return std::get<0>(
      at::native_group_norm(input, weight, bias, batch, channels, inner, num_groups, eps));
}

OPGEN_KERNEL(rms_norm)
(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
 std::optional<double> eps) {
  const auto normalized = static_cast<int64_t>(normalized_shape.size());
  OPGEN_CHECK(normalized >= 1,
              "Expected normalized_shape to be at least 1-dimensional, i.e., "
              "containing at least one element, but got normalized_shape = ",
              normalized_shape);
  OPGEN_CHECK(
      !weight.has_value() || same_sizes(weight->sizes(), normalized_shape),
      "Expected weight to be of same shape as normalized_shape, but got normalized_shape = ",
      normalized_shape);
  DimVector dims;
  bool fits = input.dim() >= normalized;
  for (int64_t d = input.dim() - normalized; fits && d < input.dim(); ++d) {
    fits = input.size(d) == normalized_shape[static_cast<size_t>(d - input.dim() + normalized)];
    dims.push_back(d);
  }
  OPGEN_CHECK(fits, "Given normalized_shape=", normalized_shape,
              ", expected input with these last dimensions, but got input of size ", input.sizes());
  const Tensor x = widened(input);
  const double smallest = x.scalar_type() == opgen::kDouble
                              ? std::numeric_limits<double>::epsilon()
                              : static_cast<double>(std::numeric_limits<float>::epsilon());
  const Tensor squares = x.mul(x.conj()).mean(dims, /*keepdim=*/true, std::nullopt);
  Tensor result = x.mul(squares.add(Scalar(eps.value_or(smallest))).rsqrt());
  if (weight.has_value()) result = result.mul(widened(*weight));
  return rounded(result, input.scalar_type());
}
