// batch_norm.cpp: normalisation by channels, dimension 1, and by groups of channels, with
// gradients.
#include <opgen/kernel.h>

#include <aten/ops/batch_norm.h>
#include <aten/ops/batch_norm_native.h>
#include <aten/ops/group_norm_native.h>
#include <aten/ops/instance_norm_native.h>
#include <aten/ops/native_batch_norm.h>
#include <aten/ops/native_batch_norm_backward_native.h>
#include <aten/ops/native_batch_norm_native.h>
#include <aten/ops/native_group_norm.h>
#include <aten/ops/native_group_norm_backward_native.h>
#include <aten/ops/native_group_norm_native.h>
#include <opgen/cpu/moments.h>
#include <opgen/cpu/row_buffers.h>

#include "composite.h"
#include "devices.h"
#include "statistics.h"

using namespace kernels;

namespace {

using MaybeTensor = std::optional<Tensor>;

void check_count(const MaybeTensor& parameter, const char* what, int64_t channels) {
  OPGEN_CHECK(!is_given(parameter) || parameter->numel() == channels, what, " should contain ",
              channels, " elements not ", is_given(parameter) ? parameter->numel() : 0);
}

// Kernels step along the only dimension of a statistic.
void check_statistic(const MaybeTensor& statistic, const char* what, int64_t channels) {
  OPGEN_CHECK(!is_given(statistic) || statistic->dim() == 1, "expected ", what,
              " of 1 dimension, but got sizes ",
              is_given(statistic) ? statistic->sizes() : IntArrayRef());
  check_count(statistic, what, channels);
}

MemoryFormat adjacent_format(const Tensor& image) {
  return image.dim() == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
}
bool is_dense(const Tensor& image) {
  return image.is_contiguous() || (image.dim() >= 4 && image.is_contiguous(adjacent_format(image)));
}

// As in PyTorch, sizes of 1 count as in any order if everything is dense.
MemoryFormat format_of(const Tensor& input, bool all_dense) {
  if (!all_dense || !is_dense(input)) return input.suggest_memory_format();
  return input.is_contiguous() ? MemoryFormat::Contiguous : adjacent_format(input);
}

DimMask all_but_channels(const Tensor& input) {
  DimVector dims;
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) dims.push_back(d);
  }
  return mask_of(OptionalIntArrayRef(dims), input.dim());
}

// What is subtracted from each channel, and the reciprocal of its standard deviation.
struct Statistics {
  std::vector<double> mean, invstd;
};

// As in PyTorch, a channel of equal elements is divided by nothing if `eps` is 0.
double inverse_root(double variance, double eps) {
  return variance == 0 && eps == 0 ? 0 : 1 / std::sqrt(variance + eps);
}

std::vector<opgen::Moments> moments_of_channels(const Tensor& input) {
  std::vector<opgen::Moments> found(static_cast<size_t>(input.size(1)));
  const Tensor places = opgen::empty({input.size(1)}, input.options());
  TensorIterator iter = opgen::make_reduction(places, input, all_but_channels(input));
  OPGEN_DISPATCH_FLOATING(input.scalar_type(), "batch_norm", [&] {
    const scalar_t* first = places.const_data_ptr<scalar_t>();
    opgen::cpu_moments<scalar_t, scalar_t>(iter, [&](scalar_t* to, const opgen::Moments& moments) {
      found[static_cast<size_t>(to - first)] = moments;
    });
  });
  return found;
}

Statistics statistics_of(const MaybeTensor& mean, const MaybeTensor& variance, int64_t channels,
                         double eps) {
  Statistics found{numbers_of(mean, channels, 0), numbers_of(variance, channels, 1)};
  for (double& each : found.invstd) each = inverse_root(each, eps);
  return found;
}

// Moves running statistics by `momentum` towards those of the batch. The running variance is that
// of the population.
void follow(const MaybeTensor& running_mean, const MaybeTensor& running_var,
            const std::vector<opgen::Moments>& batch, double momentum) {
  if (!is_given(running_mean)) return;
  const auto channels = static_cast<int64_t>(batch.size());
  std::vector<double> mean = numbers_of(running_mean, channels, 0);
  std::vector<double> variance = numbers_of(running_var, channels, 1);
  for (size_t c = 0; c < batch.size(); ++c) {
    mean[c] = momentum * batch[c].mean + (1 - momentum) * mean[c];
    variance[c] = momentum * batch[c].squares / (batch[c].count - 1) + (1 - momentum) * variance[c];
  }
  store(*running_mean, mean);
  store(*running_var, variance);
}

// Writes (input - mean) * factor + shift, with numbers by channel. Both tensors have their elements
// in the same order in memory, without gaps.
void scale_channels(const Tensor& out, const Tensor& input, const std::vector<double>& mean,
                    const std::vector<double>& factor, const std::vector<double>& shift) {
  const auto channels = static_cast<int64_t>(mean.size());
  // The channels of a place are adjacent, or the places of a channel.
  const bool adjacent = input.stride(1) == 1;
  const int64_t width = adjacent ? channels : input.numel() / input.size(0) / channels;
  const int64_t count = input.numel() / width;
  const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / width);
  OPGEN_DISPATCH_FLOATING(input.scalar_type(), "batch_norm", [&] {
    using wide = wide_t<scalar_t>;
    constexpr bool direct = std::is_same_v<wide, scalar_t>;
    const scalar_t* from = input.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const std::vector<wide> centres(mean.begin(), mean.end());
    const std::vector<wide> factors(factor.begin(), factor.end());
    const std::vector<wide> shifts(shift.begin(), shift.end());
    opgen::parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
      std::vector<wide> line(direct ? 0 : static_cast<size_t>(width));
      for (int64_t r = begin; r < end; ++r) {
        const wide* x = opgen::row_as<wide>(from + r * width, width, line.data());
        wide* y = opgen::row_to_fill(to + r * width, line.data());
        if (adjacent) {
          const wide *centre = centres.data(), *by = factors.data(), *plus = shifts.data();
          for (int64_t c = 0; c < width; ++c) y[c] = (x[c] - centre[c]) * by[c] + plus[c];
        } else {
          const auto c = static_cast<size_t>(r % channels);
          opgen::scale_row(y, x, width, mean[c], factor[c], shift[c]);
        }
        if constexpr (!direct) opgen::store_row_as(to + r * width, y, width);
      }
    });
  });
}

void check_batch_norm(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                      const MaybeTensor& running_mean, const MaybeTensor& running_var,
                      bool training) {
  OPGEN_CHECK_INDEX(input.dim() >= 2,
                    "batch_norm: expected an input of at least 2 dimensions, got ", input.dim());
  OPGEN_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"batch_norm\" not implemented for '",
                              input.scalar_type(), "'");
  OPGEN_CHECK(!training || input.numel() > 0,
              "input tensor must have at least one element, but got input_sizes = ", input.sizes());
  OPGEN_CHECK(is_given(running_mean) == is_given(running_var),
              "running_mean and running_var must either both be None or neither be None");
  OPGEN_CHECK(training || is_given(running_mean),
              "running_mean must be defined in evaluation mode");
  const int64_t channels = input.size(1);
  check_count(weight, "weight", channels);
  check_count(bias, "bias", channels);
  check_statistic(running_mean, "running_mean", channels);
  check_statistic(running_var, "running_var", channels);
}

}  // namespace

OPGEN_KERNEL(batch_norm_cpu)
(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
 const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training,
 double momentum, double eps) {
  check_batch_norm(input, weight, bias, running_mean, running_var, training);
  const ScalarType kind =
      parameter_dtype("batch_norm", input, {&weight, &bias, &running_mean, &running_var});
  const int64_t channels = input.size(1);
  bool all_dense = true;
  for (const MaybeTensor* each : {&weight, &bias, &running_mean, &running_var}) {
    all_dense = all_dense && (!is_given(*each) || (*each)->is_contiguous());
  }
  const MemoryFormat format = format_of(input, all_dense);
  const Tensor out = opgen::empty(input.sizes(), input.options().memory_format(format));
  const DimVector saved{training ? channels : 0};
  const Tensor save_mean =
      opgen::empty(saved, input.options().dtype(training ? kind : input.scalar_type()));
  const Tensor save_invstd = opgen::empty(saved, save_mean.options());
  if (out.is_meta()) return {out, save_mean, save_invstd};
  if (input.numel() == 0) return {out, save_mean, save_invstd};
  const Tensor dense = opgen::contiguous(input, format);
  Statistics used;
  std::vector<opgen::Moments> batch;
  if (training) {
    batch = moments_of_channels(dense);
    for (const opgen::Moments& each : batch) {
      used.mean.push_back(each.mean);
      used.invstd.push_back(inverse_root(each.squares / each.count, eps));
    }
    store(save_mean, used.mean);
    store(save_invstd, used.invstd);
  } else {
    used = statistics_of(running_mean, running_var, channels, eps);
  }
  std::vector<double> factor = numbers_of(weight, channels, 1);
  for (size_t c = 0; c < factor.size(); ++c) factor[c] *= used.invstd[c];
  scale_channels(out, dense, used.mean, factor, numbers_of(bias, channels, 0));
  // Last, because the running statistics may share memory with what is read.
  if (training) follow(running_mean, running_var, batch, momentum);
  return {out, save_mean, save_invstd};
}
OPGEN_KERNEL(batch_norm_cpu_out)
(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
 const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training,
 double momentum, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  // The running statistics move only once the results can be written.
  const ScalarType kind =
      parameter_dtype("native_batch_norm", input, {&weight, &bias, &running_mean, &running_var});
  const ScalarType saved = training ? kind : input.scalar_type();
  const auto check = [](const Tensor& to, ScalarType result) {
    OPGEN_CHECK(to.scalar_type() == result, "native_batch_norm: Expected out tensor to have dtype ",
                result, ", but got ", to.scalar_type(), " instead");
  };
  check(out, input.scalar_type());
  check(save_mean, saved);
  check(save_invstd, saved);
  const auto [result, mean, invstd] = at::native_batch_norm(input, weight, bias, running_mean,
                                                            running_var, training, momentum, eps);
  copy_result(out, result, "native_batch_norm");
  copy_result(save_mean, mean, "native_batch_norm");
  copy_result(save_invstd, invstd, "native_batch_norm");
  return {out, save_mean, save_invstd};
}

OPGEN_KERNEL(batch_norm)
(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
 const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training,
 double momentum, double eps, bool /*cudnn_enabled*/) {
  OPGEN_CHECK_INDEX(input.dim() >= 2,
                    "batch_norm: expected an input of at least 2 dimensions, got ", input.dim());
  if (input.numel() == 0) {
    // There is nothing to learn; the result depends on the parameters, so that they get gradients.
    Tensor out = input.clone(std::nullopt);
    if (is_given(weight)) out = out.mul(weight->select(0, 0));
    if (is_given(bias)) out = out.add(bias->select(0, 0));
    return out;
  }
  return std::get<0>(at::native_batch_norm(input, weight, bias, running_mean, running_var, training,
                                           momentum, eps));
}

// Each channel of each image is a channel of its own in one image.
OPGEN_KERNEL(instance_norm)
(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
 const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
 bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
  OPGEN_CHECK(use_input_stats || (is_given(running_mean) && is_given(running_var)),
              "Expected running_mean and running_var to be defined when use_input_stats is false");
  OPGEN_CHECK_INDEX(input.dim() >= 2,
                    "instance_norm: expected an input of at least 2 dimensions, got ", input.dim());
  const int64_t images = input.size(0), channels = input.size(1);
  const auto repeated = [&](const MaybeTensor& tensor) {
    return is_given(tensor) ? MaybeTensor(tensor->repeat({images})) : std::nullopt;
  };
  DimVector sizes(input.sizes());
  sizes[1] *= sizes[0];
  sizes[0] = 1;
  const MaybeTensor mean = repeated(running_mean), variance = repeated(running_var);
  const Tensor out = at::batch_norm(in_format(input).view(sizes), repeated(weight), repeated(bias),
                                    mean, variance, use_input_stats, momentum, eps, cudnn_enabled);
  // The running statistics are the means over the images.
  const auto keep = [&](const MaybeTensor& running, const MaybeTensor& of_images) {
    if (!use_input_stats || !is_given(running)) return;
    Tensor target = running->detach();
    target.copy_(of_images->detach().view({images, channels}).mean(IntArrayRef{0}, false));
  };
  keep(running_mean, mean);
  keep(running_var, variance);
  return out.view(input.sizes());
}

// ---- Gradients of batch_norm ----

namespace {

// A channel as rows of adjacent elements.
struct ChannelRows {
  int64_t rows, step, width, channel;  // `step` from row to row, `channel` from channel to channel
};

struct GradientSums {
  double plain = 0, weighted = 0;  // of g, and of g * (x - mean)
};

// Adds up the sums of a row. Blocks are added in T, and then in doubles.
template <class T>
void add_row(GradientSums& sums, const T* g, const T* x, int64_t n, double mean) {
  constexpr int64_t lanes = 8, block = 512;
  const T centre = static_cast<T>(mean), rest = static_cast<T>(mean - static_cast<double>(centre));
  for (int64_t i = 0; i < n;) {
    const int64_t end = std::min(n, i + block);
    T plain[lanes] = {}, weighted[lanes] = {};
    for (; i + lanes <= end; i += lanes) {
      for (int64_t k = 0; k < lanes; ++k) {
        plain[k] += g[i + k];
        weighted[k] += g[i + k] * (x[i + k] - centre - rest);
      }
    }
    for (int64_t k = 0; i < end; ++i, ++k) {
      plain[k] += g[i];
      weighted[k] += g[i] * (x[i] - centre - rest);
    }
    for (int64_t k = 0; k < lanes; ++k) {
      sums.plain += static_cast<double>(plain[k]);
      sums.weighted += static_cast<double>(weighted[k]);
    }
  }
}

// Calls f(channel, first element of a row, the row of x, the row of g) for the rows of channels in
// wide types, in order.
template <class T, class F>
void for_rows(const T* x, const T* g, const ChannelRows& shape, int64_t channel, F f) {
  using wide = wide_t<T>;
  constexpr bool direct = std::is_same_v<wide, T>;
  const auto n = direct ? 0 : static_cast<size_t>(shape.width);
  std::vector<wide> of_x(n), of_g(n);
  for (int64_t r = 0; r < shape.rows; ++r) {
    const int64_t first = channel * shape.channel + r * shape.step;
    f(first, opgen::row_as<wide>(x + first, shape.width, of_x.data()),
      opgen::row_as<wide>(g + first, shape.width, of_g.data()));
  }
}

}  // namespace

// Returns undefined tensors for gradients that the mask does not request.
OPGEN_KERNEL(batch_norm_backward_cpu)
(const Tensor& grad_out, const Tensor& input, const std::optional<Tensor>& weight,
 const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
 const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_invstd, bool train,
 double eps, std::array<bool, 3> output_mask) {
  OPGEN_CHECK_INDEX(input.dim() >= 2,
                    "batch_norm_backward: expected an input of at least 2 dimensions, got ",
                    input.dim());
  OPGEN_CHECK(same_sizes(grad_out.sizes(), input.sizes()),
              "Expected grad_out to have the shape of input, ", input.sizes(), ", but got ",
              grad_out.sizes());
  check_same_device("native_batch_norm_backward", input, grad_out);
  for (const MaybeTensor* other : {&running_mean, &running_var, &save_mean, &save_invstd}) {
    if (is_given(*other)) check_same_device("native_batch_norm_backward", input, **other);
  }
  const int64_t channels = input.size(1);
  check_count(weight, "weight", channels);
  const MaybeTensor& mean = train ? save_mean : running_mean;
  const MaybeTensor& spread = train ? save_invstd : running_var;
  OPGEN_CHECK(is_given(mean) && is_given(spread), "native_batch_norm_backward: expected ",
              train ? "save_mean and save_invstd" : "running_mean and running_var");
  check_statistic(mean, train ? "save_mean" : "running_mean", channels);
  check_statistic(spread, train ? "save_invstd" : "running_var", channels);
  const ScalarType kind =
      parameter_dtype("native_batch_norm_backward", input, {&weight, &mean, &spread});
  const MemoryFormat format = format_of(input, is_dense(grad_out));
  Tensor grad_input, grad_weight, grad_bias;
  if (output_mask[0]) {
    grad_input = opgen::empty(input.sizes(), input.options().memory_format(format));
  }
  if (output_mask[1]) grad_weight = opgen::empty({channels}, input.options().dtype(kind));
  if (output_mask[2]) grad_bias = opgen::empty({channels}, input.options().dtype(kind));
  if (input.is_meta()) return {grad_input, grad_weight, grad_bias};
  Statistics used{numbers_of(mean, channels, 0), numbers_of(spread, channels, 1)};
  if (!train) used = statistics_of(mean, spread, channels, eps);
  const std::vector<double> scale = numbers_of(weight, channels, 1);
  // Rows of one element would be slow: then the channels become the rows.
  const bool in_place = input.dim() > 2 && input.is_contiguous() && channels > 0 &&
                        input.numel() / channels > input.size(0);
  const auto arranged = [&](const Tensor& tensor) {
    return in_place ? opgen::contiguous(tensor) : opgen::contiguous(tensor.transpose(0, 1));
  };
  const Tensor x = arranged(input), g = arranged(to_dtype(grad_out, input.scalar_type()));
  Tensor to;
  if (output_mask[0]) to = in_place ? grad_input : opgen::empty(x.sizes(), x.options());
  const int64_t count = channels == 0 ? 0 : input.numel() / channels;
  const int64_t width = in_place ? count / input.size(0) : count;
  const ChannelRows shape = in_place ? ChannelRows{input.size(0), channels * width, width, width}
                                     : ChannelRows{1, 0, count, count};
  std::vector<double> of_weight(static_cast<size_t>(channels)), of_bias(of_weight);
  OPGEN_DISPATCH_FLOATING(input.scalar_type(), "batch_norm_backward", [&] {
    using wide = wide_t<scalar_t>;
    constexpr bool direct = std::is_same_v<wide, scalar_t>;
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    const scalar_t* gradient = g.const_data_ptr<scalar_t>();
    scalar_t* result = to.defined() ? to.mutable_data_ptr<scalar_t>() : nullptr;
    const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / std::max<int64_t>(1, count));
    opgen::parallel_for(0, channels, grain, [&](int64_t begin, int64_t end) {
      std::vector<wide> line(direct ? 0 : static_cast<size_t>(shape.width));
      for (int64_t c = begin; c < end; ++c) {
        const auto k = static_cast<size_t>(c);
        GradientSums sums;
        for_rows(from, gradient, shape, c, [&](int64_t, const wide* of_x, const wide* of_g) {
          add_row(sums, of_g, of_x, shape.width, used.mean[k]);
        });
        of_weight[k] = sums.weighted * used.invstd[k];
        of_bias[k] = sums.plain;
        if (result == nullptr) continue;
        const double factor = used.invstd[k] * scale[k];
        const double n = static_cast<double>(count);
        RowGradient<wide> row{.centre = static_cast<wide>(used.mean[k]), .is_linear = !train};
        if (train) {
          row.slope =
              static_cast<wide>(sums.weighted / n * used.invstd[k] * used.invstd[k] * factor);
          row.shift = static_cast<wide>(sums.plain / n * factor);
        }
        for_rows(from, gradient, shape, c, [&](int64_t first, const wide* of_x, const wide* of_g) {
          wide* y = opgen::row_to_fill(result + first, line.data());
          row.apply(y, of_g, of_x, shape.width, static_cast<wide>(factor));
          if constexpr (!direct) opgen::store_row_as(result + first, y, shape.width);
        });
      }
    });
  });
  if (output_mask[0] && !in_place) opgen::copy_(grad_input, to.transpose(0, 1));
  if (output_mask[1]) store(grad_weight, of_weight);
  if (output_mask[2]) store(grad_bias, of_bias);
  return {grad_input, grad_weight, grad_bias};
}

// ---- group_norm ----

namespace {

// An input of N images of C channels with S places each, in groups of D channels.
struct ChannelGroups {
  int64_t N, C, S, G, D;
  int64_t rows, width;  // of the matrix that is normalised: N * G and D * S
  int64_t channels;     // N * C
};

ChannelGroups check_group_norm(const Tensor& input, int64_t N, int64_t C, int64_t HxW,
                               int64_t group, const MaybeTensor& weight, const MaybeTensor& bias) {
  OPGEN_CHECK(group > 0, "Expected num groups to be greater than 0, got ", group);
  OPGEN_CHECK(C % group == 0,
              "Expected number of channels in input to be divisible by num_groups, but got input "
              "of shape ",
              input.sizes(), " and num_groups=", group);
  for (const MaybeTensor* parameter : {&weight, &bias}) {
    OPGEN_CHECK(!is_given(*parameter) || ((*parameter)->dim() == 1 && (*parameter)->numel() == C),
                "Expected ", parameter == &weight ? "weight" : "bias",
                " to be a vector of size equal to the number of channels in input, but got ",
                is_given(*parameter) ? (*parameter)->sizes() : IntArrayRef(),
                " and input of shape ", input.sizes());
  }
  OPGEN_CHECK(N >= 0 && C >= 0 && HxW >= 0 && input.numel() == Size(N) * C * HxW,
              "native_group_norm: expected an input of N * C * HxW elements, got ", input.sizes(),
              " for N = ", N, ", C = ", C, " and HxW = ", HxW);
  // The products with a factor of 0 do not bound the others.
  return {N, C, HxW, group, C / group, Size(N) * group, Size(C / group) * HxW, Size(N) * C};
}

}  // namespace

OPGEN_KERNEL(native_group_norm)
(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
 int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) {
  const ChannelGroups shape = check_group_norm(input, N, C, HxW, group, weight, bias);
  const ScalarType kind = parameter_dtype("native_group_norm", input, {&weight, &bias});
  const MemoryFormat format = input.suggest_memory_format();
  const Tensor out = opgen::empty(input.sizes(), input.options().memory_format(format));
  const Tensor mean = opgen::empty({N, group}, input.options().dtype(kind));
  const Tensor rstd = opgen::empty({N, group}, mean.options());
  if (out.is_meta()) return {out, mean, rstd};
  const Tensor dense = opgen::contiguous(input);
  const Tensor to = out.is_contiguous() ? out : Tensor(opgen::empty(out.sizes(), input.options()));
  const std::vector<double> scale = numbers_of(weight, C, 1), shift = numbers_of(bias, C, 0);
  std::vector<double> means(static_cast<size_t>(shape.rows)), rstds(means);
  OPGEN_DISPATCH_FLOATING(input.scalar_type(), "group_norm", [&] {
    using wide = wide_t<scalar_t>;
    constexpr bool direct = std::is_same_v<wide, scalar_t>;
    const scalar_t* from = dense.const_data_ptr<scalar_t>();
    scalar_t* result = to.mutable_data_ptr<scalar_t>();
    const int64_t n = shape.width;
    const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / std::max<int64_t>(1, n));
    opgen::parallel_for(0, shape.rows, grain, [&](int64_t begin, int64_t end) {
      std::vector<wide> line(direct ? 0 : static_cast<size_t>(n));
      for (int64_t r = begin; r < end; ++r) {
        const wide* x = opgen::row_as<wide>(from + r * n, n, line.data());
        const opgen::Moments moments = opgen::moments_of_row(x, n);
        const double factor = n == 0
                                  ? std::numeric_limits<double>::quiet_NaN()
                                  : 1 / std::sqrt(moments.squares / static_cast<double>(n) + eps);
        means[static_cast<size_t>(r)] = moments.mean;
        rstds[static_cast<size_t>(r)] = factor;
        wide* y = opgen::row_to_fill(result + r * n, line.data());
        for (int64_t d = 0; d < shape.D; ++d) {
          const auto c = static_cast<size_t>(r % group * shape.D + d);
          opgen::scale_row(y + d * shape.S, x + d * shape.S, shape.S, moments.mean,
                           factor * scale[c], shift[c]);
        }
        if constexpr (!direct) opgen::store_row_as(result + r * n, y, n);
      }
    });
  });
  if (!to.is_same(out)) opgen::copy_(out, to);
  store(mean.view({-1}), means);
  store(rstd.view({-1}), rstds);
  return {out, mean, rstd};
}

// Returns undefined tensors for gradients that the mask does not request.
OPGEN_KERNEL(native_group_norm_backward)
(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
 const std::optional<Tensor>& weight, int64_t N, int64_t C, int64_t HxW, int64_t group,
 std::array<bool, 3> output_mask) {
  const ChannelGroups shape = check_group_norm(input, N, C, HxW, group, weight, std::nullopt);
  OPGEN_CHECK(same_sizes(grad_out.sizes(), input.sizes()),
              "Expected grad_out to have the shape of input, ", input.sizes(), ", but got ",
              grad_out.sizes());
  OPGEN_CHECK(mean.numel() == shape.rows && rstd.numel() == shape.rows,
              "native_group_norm_backward: expected mean and rstd of ", shape.rows, " elements");
  for (const Tensor& other : {grad_out, mean, rstd}) {
    check_same_device("native_group_norm_backward", input, other);
  }
  const ScalarType kind = parameter_dtype("native_group_norm_backward", input, {&weight});
  Tensor grad_input, grad_weight, grad_bias;
  if (output_mask[0]) {
    grad_input =
        opgen::empty(input.sizes(), input.options().memory_format(input.suggest_memory_format()));
  }
  if (output_mask[1]) grad_weight = opgen::empty({C}, input.options().dtype(kind));
  if (output_mask[2]) grad_bias = opgen::empty({C}, input.options().dtype(kind));
  if (input.is_meta()) return {grad_input, grad_weight, grad_bias};
  const Tensor x = opgen::contiguous(input);
  const Tensor g = opgen::contiguous(to_dtype(grad_out, input.scalar_type()));
  Tensor to = grad_input;
  if (output_mask[0] && !to.is_contiguous()) to = opgen::empty(input.sizes(), input.options());
  const std::vector<double> scale = numbers_of(weight, C, 1);
  const std::vector<double> means = numbers_of(mean, 0, 0), rstds = numbers_of(rstd, 0, 0);
  // One row for each channel of each image.
  std::vector<GradientSums> sums(static_cast<size_t>(shape.channels));
  OPGEN_DISPATCH_FLOATING(input.scalar_type(), "group_norm_backward", [&] {
    using wide = wide_t<scalar_t>;
    constexpr bool direct = std::is_same_v<wide, scalar_t>;
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    const scalar_t* gradient = g.const_data_ptr<scalar_t>();
    scalar_t* result = to.defined() ? to.mutable_data_ptr<scalar_t>() : nullptr;
    const ChannelRows rows{shape.D, shape.S, shape.S, shape.width};
    const auto n = static_cast<double>(shape.width);
    const int64_t grain =
        std::max<int64_t>(1, opgen::kGrainSize / std::max<int64_t>(1, shape.width));
    opgen::parallel_for(0, shape.rows, grain, [&](int64_t begin, int64_t end) {
      std::vector<wide> line(direct ? 0 : static_cast<size_t>(shape.S));
      for (int64_t r = begin; r < end; ++r) {
        const auto k = static_cast<size_t>(r);
        const auto first_scale = static_cast<size_t>(r % group * shape.D);
        size_t row = k * static_cast<size_t>(shape.D);
        GradientSums all;
        for_rows(from, gradient, rows, r, [&](int64_t, const wide* of_x, const wide* of_g) {
          GradientSums& each = sums[row];
          add_row(each, of_g, of_x, shape.S, means[k]);
          const double by = scale[first_scale + row % static_cast<size_t>(shape.D)];
          all.plain += each.plain * by;
          all.weighted += each.weighted * by;
          ++row;
        });
        if (result == nullptr) continue;
        const RowGradient<wide> all_channels{
            static_cast<wide>(means[k]),
            static_cast<wide>(all.weighted / n * rstds[k] * rstds[k] * rstds[k]),
            static_cast<wide>(all.plain / n * rstds[k])};
        size_t channel = first_scale;
        for_rows(from, gradient, rows, r, [&](int64_t first, const wide* of_x, const wide* of_g) {
          wide* y = opgen::row_to_fill(result + first, line.data());
          all_channels.apply(y, of_g, of_x, shape.S,
                             static_cast<wide>(rstds[k] * scale[channel++]));
          if constexpr (!direct) opgen::store_row_as(result + first, y, shape.S);
        });
      }
    });
  });
  if (output_mask[0] && !to.is_same(grad_input)) opgen::copy_(grad_input, to);
  std::vector<double> of_weight(static_cast<size_t>(C)), of_bias(of_weight);
  for (size_t row = 0; row < sums.size(); ++row) {
    const size_t channel = row % static_cast<size_t>(C);
    of_weight[channel] += sums[row].weighted * rstds[row / static_cast<size_t>(shape.D)];
    of_bias[channel] += sums[row].plain;
  }
  if (output_mask[1]) store(grad_weight, of_weight);
  if (output_mask[2]) store(grad_bias, of_bias);
  return {grad_input, grad_weight, grad_bias};
}

OPGEN_KERNEL(group_norm)
(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight,
 const std::optional<Tensor>& bias, double eps, bool /*cudnn_enabled*/) {
  OPGEN_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ",
              input.dim());
  const int64_t places = opgen::multiply_integers(input.sizes().slice(2));
  return std::get<0>(at::native_group_norm(in_format(input, input.suggest_memory_format()), weight,
                                           bias, input.size(0), input.size(1), places, num_groups,
                                           eps));
}
