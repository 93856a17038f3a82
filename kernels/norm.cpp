// norm.cpp: normalisation of the last dimensions: layer_norm, its gradient, and rms_norm.
#include <opgen/kernel.h>

#include <aten/ops/layer_norm_native.h>
#include <aten/ops/native_layer_norm.h>
#include <aten/ops/native_layer_norm_backward_native.h>
#include <aten/ops/native_layer_norm_native.h>
#include <aten/ops/rms_norm_native.h>

#include <opgen/cpu/moments.h>
#include <opgen/cpu/row_buffers.h>

#include "composite.h"
#include "devices.h"
#include "statistics.h"
#include "sum.h"

using namespace kernels;

namespace {

// The input as a matrix: each row is normalised.
struct Rows {
  int64_t count = 1, width = 1;
  DimVector statistics;  // the shape of mean and rstd
};

Rows rows_of(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
             const Tensor& bias) {
  const auto normalized = static_cast<int64_t>(normalized_shape.size());
  OPGEN_CHECK(normalized >= 1,
              "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
              "one element, "
              "but got normalized_shape = ",
              normalized_shape);
  for (const Tensor* parameter : {&weight, &bias}) {
    OPGEN_CHECK(!parameter->defined() || same_sizes(parameter->sizes(), normalized_shape),
                "Expected ", parameter == &weight ? "weight" : "bias",
                " to be of same shape as normalized_shape, but got ", parameter->sizes(),
                " and normalized_shape = ", normalized_shape);
  }
  const int64_t axis = input.dim() - normalized;
  bool fits = axis >= 0;
  for (int64_t d = 0; fits && d < normalized; ++d)
    fits = input.size(axis + d) == normalized_shape[d];
  OPGEN_CHECK(fits, "Given normalized_shape=", normalized_shape,
              ", expected input with these last dimensions, but got input of size ", input.sizes());
  Rows rows;
  for (int64_t d = 0; d < input.dim(); ++d) {
    (d < axis ? rows.count : rows.width) *= input.size(d);
    rows.statistics.push_back(d < axis ? input.size(d) : 1);
  }
  return rows;
}

template <class T>
const T* pointer_to(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

// Writes statistics of rows of T, which are float or T.
template <class T>
class Statistic {
 public:
  explicit Statistic(const Tensor& to)
      : data_(to.mutable_data_ptr()), is_float_(to.scalar_type() == kFloat) {}
  void set(int64_t i, double value) const {
    if (is_float_) {
      static_cast<float*>(data_)[i] = static_cast<float>(value);
    } else {
      static_cast<T*>(data_)[i] = static_cast<T>(static_cast<wide_t<T>>(value));
    }
  }

 private:
  void* data_;
  bool is_float_;
};

void store_at(const Tensor& to, int64_t i, double value) {
  OPGEN_DISPATCH_FLOATING(to.scalar_type(), "native_layer_norm", [&] {
    to.mutable_data_ptr<scalar_t>()[i] =
        static_cast<scalar_t>(static_cast<wide_t<scalar_t>>(value));
  });
}

}  // namespace

OPGEN_KERNEL(native_layer_norm)
(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
 const std::optional<Tensor>& bias, double eps) {
  const Tensor gamma = tensor_or_undefined(weight), beta = tensor_or_undefined(bias);
  const Rows rows = rows_of(input, normalized_shape, gamma, beta);
  const TensorOptions options =
      input.options().dtype(parameter_dtype("native_layer_norm", input, {&weight, &bias}));
  Tensor out = opgen::empty(input.sizes(), input.options());
  Tensor mean = opgen::empty(rows.statistics, options);
  Tensor rstd = opgen::empty(rows.statistics, options);
  if (out.is_meta()) return {out, mean, rstd};
  const Tensor dense = opgen::contiguous(input);
  OPGEN_DISPATCH_FLOATING(input.scalar_type(), "native_layer_norm", [&] {
    using wide = wide_t<scalar_t>;
    const std::vector<wide> scale = values_of<wide>(gamma), shift = values_of<wide>(beta);
    const scalar_t* from = dense.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const int64_t n = rows.width;
    const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / std::max<int64_t>(1, n));
    const Statistic<scalar_t> means(mean), rstds(rstd);
    opgen::parallel_for(0, rows.count, grain, [&](int64_t begin, int64_t end) {
      constexpr bool direct = std::is_same_v<wide, scalar_t>;
      // Short rows of half types are converted together.
      const int64_t most =
          direct ? end - begin
                 : std::clamp<int64_t>(1024 / std::max<int64_t>(1, n), 1, end - begin);
      std::vector<wide> lines(direct ? 0 : static_cast<size_t>(most * n));
      for (int64_t first = begin; first < end; first += most) {
        const int64_t count = std::min(most, end - first);
        const wide* x = opgen::row_as<wide>(from + first * n, count * n, lines.data());
        wide* y = opgen::row_to_fill(to + first * n, lines.data());
        for (int64_t r = 0; r < count; ++r) {
          const opgen::Moments moments = opgen::moments_of_row(x + r * n, n);
          const double factor = 1 / std::sqrt(moments.squares / static_cast<double>(n) + eps);
          opgen::normalise_row(y + r * n, x + r * n, n, moments.mean, factor, pointer_to(scale),
                               pointer_to(shift));
          means.set(first + r, moments.mean);
          rstds.set(first + r, factor);
        }
        if constexpr (!direct) opgen::store_row_as(to + first * n, y, count * n);
      }
    });
  });
  return {out, mean, rstd};
}

// Returns undefined tensors for gradients that the mask does not request.
OPGEN_KERNEL(native_layer_norm_backward)
(const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean,
 const Tensor& rstd, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
 std::array<bool, 3> output_mask) {
  const Tensor gamma = tensor_or_undefined(weight), beta = tensor_or_undefined(bias);
  const Rows rows = rows_of(input, normalized_shape, gamma, beta);
  OPGEN_CHECK(same_sizes(grad_out.sizes(), input.sizes()),
              "Expected grad_out to have the shape of input, ", input.sizes(), ", but got ",
              grad_out.sizes());
  OPGEN_CHECK(mean.numel() == rows.count && rstd.numel() == rows.count,
              "native_layer_norm_backward: expected mean and rstd of ", rows.count,
              " elements, got ", mean.sizes(), " and ", rstd.sizes());
  const Tensor others[] = {grad_out, mean, rstd, gamma, beta};
  for (const Tensor& other : others) check_same_device("native_layer_norm_backward", input, other);
  const Tensor& parameter = gamma.defined() ? gamma : beta;
  const TensorOptions parameters = parameter.defined() ? parameter.options() : input.options();
  Tensor grad_input, grad_weight, grad_bias;
  if (output_mask[0]) grad_input = opgen::empty(input.sizes(), input.options());
  if (output_mask[1]) grad_weight = opgen::empty(normalized_shape, parameters);
  if (output_mask[2]) grad_bias = opgen::empty(normalized_shape, parameters);
  if (input.is_meta()) return {grad_input, grad_weight, grad_bias};
  const Tensor dense = opgen::contiguous(input);
  const Tensor gradient = opgen::contiguous(to_dtype(grad_out, input.scalar_type()));
  const std::vector<double> means = values_of<double>(mean), rstds = values_of<double>(rstd);
  const std::vector<double> scale = values_of<double>(gamma);
  OPGEN_DISPATCH_FLOATING(input.scalar_type(), "native_layer_norm_backward", [&] {
    const scalar_t* x = dense.const_data_ptr<scalar_t>();
    const scalar_t* g = gradient.const_data_ptr<scalar_t>();
    if (output_mask[0]) {
      scalar_t* to = grad_input.mutable_data_ptr<scalar_t>();
      const auto n = static_cast<double>(rows.width);
      for (int64_t r = 0; r < rows.count; ++r) {
        // With h the normalised row and d = g * weight: rstd * (d - mean(d) - h * mean(d * h)).
        PairwiseSum<double> plain, weighted;
        for (int64_t i = 0; i < rows.width; ++i) {
          const double h = (static_cast<double>(x[r * rows.width + i]) - means[r]) * rstds[r];
          const double d =
              static_cast<double>(g[r * rows.width + i]) * (scale.empty() ? 1.0 : scale[i]);
          plain.add(d);
          weighted.add(d * h);
        }
        const double mean_d = plain.result() / n, mean_dh = weighted.result() / n;
        for (int64_t i = 0; i < rows.width; ++i) {
          const double h = (static_cast<double>(x[r * rows.width + i]) - means[r]) * rstds[r];
          const double d =
              static_cast<double>(g[r * rows.width + i]) * (scale.empty() ? 1.0 : scale[i]);
          const double value = rstds[r] * (d - mean_d - h * mean_dh);
          to[r * rows.width + i] = static_cast<scalar_t>(static_cast<wide_t<scalar_t>>(value));
        }
      }
    }
    for (int64_t i = 0; (output_mask[1] || output_mask[2]) && i < rows.width; ++i) {
      PairwiseSum<double> plain, weighted;
      for (int64_t r = 0; r < rows.count; ++r) {
        const double d = static_cast<double>(g[r * rows.width + i]);
        plain.add(d);
        weighted.add(d * (static_cast<double>(x[r * rows.width + i]) - means[r]) * rstds[r]);
      }
      if (output_mask[1]) store_at(grad_weight, i, weighted.result());
      if (output_mask[2]) store_at(grad_bias, i, plain.result());
    }
  });
  return {grad_input, grad_weight, grad_bias};
}

OPGEN_KERNEL(layer_norm_symint)
(const Tensor& input, SymIntArrayRef normalized_shape, const std::optional<Tensor>& weight,
 const std::optional<Tensor>& bias, double eps, bool /*cudnn_enable*/) {
  return std::get<0>(at::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

OPGEN_KERNEL(rms_norm)
(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
 std::optional<double> eps) {
  rows_of(input, normalized_shape, tensor_or_undefined(weight), Tensor());
  OPGEN_CHECK_NOT_IMPLEMENTED(input.is_floating_point() || input.is_complex(),
                              "\"rms_norm\" not implemented for '", input.scalar_type(), "'");
  DimVector dims;
  for (int64_t d = -static_cast<int64_t>(normalized_shape.size()); d < 0; ++d) dims.push_back(d);
  // Half types are computed in float, and rounded once.
  const ScalarType kind = opgen::toOpMathType(input.scalar_type());
  const Tensor x = in_dtype(in_format(input, input.suggest_memory_format()), kind);
  const double smallest = toRealValueType(kind) == opgen::kDouble
                              ? std::numeric_limits<double>::epsilon()
                              : static_cast<double>(std::numeric_limits<float>::epsilon());
  const Tensor squares = x.mul(x).mean(dims, /*keepdim=*/true, std::nullopt);
  Tensor result = x.mul(squares.add(Scalar(eps.value_or(smallest))).rsqrt());
  if (is_given(weight)) result = result.mul(*weight);
  return in_dtype(result, input.scalar_type());
}
