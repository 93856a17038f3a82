// Kernels of operators that return new tensors.
#include <everyday/NativeFunctions.h>
#include <everyday/NativeMetaFunctions.h>
#include <opgen/kernel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

OPGEN_KERNEL(permute_cols_cpu)(const Tensor& A, const Tensor& perm) {
  return A.index_select(1, perm.to(kLong));
}
OPGEN_KERNEL(permute_cols_meta)(const Tensor& A, const Tensor&) {
  return opgen::empty_symint(A.sym_sizes(), A.options());
}

OPGEN_KERNEL(weak_ref_tensor)(const Tensor& tensor) {
  return tensor.alias();
}

OPGEN_KERNEL(int8_vectorwise_quant_cpu)(const Tensor& A, double threshold) {
  const auto x = A.accessor<const float, 2>();
  const Tensor codes = opgen::empty(A.sizes(), A.options().dtype(kChar));
  const Tensor stats = opgen::empty({A.size(0)}, A.options());
  std::vector<std::int64_t> outliers;
  for (std::int64_t column = 0; threshold > 0 && column < A.size(1); ++column) {
    for (std::int64_t row = 0; row < A.size(0); ++row) {
      if (std::abs(x[row][column]) >= threshold) {
        outliers.push_back(column);
        break;
      }
    }
  }
  const auto is_outlier = [&](std::int64_t row, std::int64_t column) {
    return threshold > 0 && std::abs(x[row][column]) >= threshold;
  };
  for (std::int64_t row = 0; row < A.size(0); ++row) {
    float most = 0;
    for (std::int64_t i = 0; i < A.size(1); ++i) {
      if (!is_outlier(row, i)) most = std::max(most, std::abs(x[row][i]));
    }
    stats.mutable_data_ptr<float>()[row] = most;
    for (std::int64_t i = 0; i < A.size(1); ++i) {
      codes.mutable_data_ptr<std::int8_t>()[row * A.size(1) + i] = static_cast<std::int8_t>(
          is_outlier(row, i) ? 0 : std::nearbyint(x[row][i] * (127.0F / most)));
    }
  }
  if (threshold == 0) return {codes, stats, std::nullopt};
  const Tensor columns =
      opgen::empty({static_cast<std::int64_t>(outliers.size())}, A.options().dtype(kLong));
  std::copy(outliers.begin(), outliers.end(), columns.mutable_data_ptr<std::int64_t>());
  return {codes, stats, columns};
}

OPGEN_KERNEL(dequantize_blockwise_cpu)
(const Tensor& A, const Tensor& absmax, const Tensor& code, int64_t blocksize, ScalarType dtype) {
  const Tensor codes = opgen::contiguous(A);
  const Tensor result = opgen::empty(A.sizes(), A.options().dtype(kFloat));
  for (std::int64_t i = 0; i < codes.numel(); ++i) {
    result.mutable_data_ptr<float>()[i] =
        code.accessor<const float, 1>()[codes.const_data_ptr<std::uint8_t>()[i]] *
        absmax.accessor<const float, 1>()[i / blocksize];
  }
  return opgen::to_dtype(result, dtype);
}
OPGEN_KERNEL(dequantize_blockwise_meta)
(const Tensor& A, const Tensor&, const Tensor&, int64_t, ScalarType dtype) {
  return opgen::empty_symint(A.sym_sizes(), A.options().dtype(dtype));
}

OPGEN_KERNEL(nms_cpu)(const Tensor& dets, const Tensor& scores, double iou_threshold) {
  OPGEN_CHECK(dets.dim() == 2 && dets.size(1) == 4, "nms: boxes of (x1, y1, x2, y2) are expected");
  OPGEN_CHECK(scores.dim() == 1 && scores.size(0) == dets.size(0),
              "nms: one score for each box is expected");
  const Tensor boxes = opgen::to_dtype(dets, kDouble), ranks = opgen::to_dtype(scores, kDouble);
  const auto box = boxes.accessor<const double, 2>();
  const auto rank = ranks.accessor<const double, 1>();
  const auto area = [&](std::int64_t i) {
    return (box[i][2] - box[i][0]) * (box[i][3] - box[i][1]);
  };
  std::vector<std::int64_t> order(dets.size(0)), kept;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return rank[a] > rank[b]; });
  for (const std::int64_t i : order) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](std::int64_t j) {
      const double w = std::min(box[i][2], box[j][2]) - std::max(box[i][0], box[j][0]);
      const double h = std::min(box[i][3], box[j][3]) - std::max(box[i][1], box[j][1]);
      const double inter = std::max(w, 0.0) * std::max(h, 0.0);
      return inter / (area(i) + area(j) - inter) > iou_threshold;
    });
    if (!covered) kept.push_back(i);
  }
  const Tensor result =
      opgen::empty({static_cast<std::int64_t>(kept.size())}, dets.options().dtype(kLong));
  std::copy(kept.begin(), kept.end(), result.mutable_data_ptr<std::int64_t>());
  return result;
}

namespace {

// The value of a plane between its pixels; positions more than one pixel outside give 0.
template <class T>
T bilinear(const T* plane, std::int64_t height, std::int64_t width, T y, T x) {
  if (y < -1 || y > static_cast<T>(height) || x < -1 || x > static_cast<T>(width)) return 0;
  y = std::max(y, T(0));
  x = std::max(x, T(0));
  std::int64_t top = static_cast<std::int64_t>(y), left = static_cast<std::int64_t>(x);
  if (top >= height - 1) y = static_cast<T>(top = height - 1);
  if (left >= width - 1) x = static_cast<T>(left = width - 1);
  const std::int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const T dy = y - static_cast<T>(top), dx = x - static_cast<T>(left);
  return (1 - dy) * ((1 - dx) * plane[top * width + left] + dx * plane[top * width + right]) +
         dy * ((1 - dx) * plane[bottom * width + left] + dx * plane[bottom * width + right]);
}

}  // namespace

OPGEN_KERNEL(roi_align_cpu)
(const Tensor& input, const Tensor& rois, double spatial_scale, int64_t pooled_height,
 int64_t pooled_width, int64_t sampling_ratio, bool aligned) {
  OPGEN_CHECK(rois.dim() == 2 && rois.size(1) == 5, "roi_align: rois of 5 numbers are expected");
  const Tensor image = opgen::contiguous(input), regions = opgen::contiguous(rois);
  const std::int64_t channels = image.size(1), height = image.size(2), width = image.size(3);
  const Tensor result =
      opgen::new_empty(image, {rois.size(0), channels, pooled_height, pooled_width});
  OPGEN_DISPATCH_FLOATING_TYPES(image.scalar_type(), "roi_align", [&] {
    const scalar_t shift = aligned ? scalar_t(0.5) : scalar_t(0);
    const scalar_t scale = static_cast<scalar_t>(spatial_scale);
    scalar_t* to = result.mutable_data_ptr<scalar_t>();
    for (std::int64_t n = 0; n < rois.size(0); ++n) {
      const scalar_t* roi = regions.const_data_ptr<scalar_t>() + 5 * n;
      const scalar_t x0 = roi[1] * scale - shift, y0 = roi[2] * scale - shift;
      scalar_t w = roi[3] * scale - shift - x0, h = roi[4] * scale - shift - y0;
      if (!aligned) {
        w = std::max(w, scalar_t(1));
        h = std::max(h, scalar_t(1));
      }
      const scalar_t bin_h = h / static_cast<scalar_t>(pooled_height);
      const scalar_t bin_w = w / static_cast<scalar_t>(pooled_width);
      const auto grid = [&](scalar_t bin) {
        return sampling_ratio > 0 ? sampling_ratio : static_cast<std::int64_t>(std::ceil(bin));
      };
      const std::int64_t grid_h = grid(bin_h), grid_w = grid(bin_w);
      const scalar_t count = static_cast<scalar_t>(std::max<std::int64_t>(grid_h * grid_w, 1));
      for (std::int64_t c = 0; c < channels; ++c) {
        const scalar_t* plane = image.const_data_ptr<scalar_t>() +
                                (static_cast<std::int64_t>(roi[0]) * channels + c) * height * width;
        for (std::int64_t ph = 0; ph < pooled_height; ++ph) {
          for (std::int64_t pw = 0; pw < pooled_width; ++pw) {
            scalar_t sum = 0;
            for (std::int64_t i = 0; i < grid_h * grid_w; ++i) {
              const scalar_t part_y = (static_cast<scalar_t>(i / grid_w) + scalar_t(0.5)) /
                                      static_cast<scalar_t>(grid_h);
              const scalar_t part_x = (static_cast<scalar_t>(i % grid_w) + scalar_t(0.5)) /
                                      static_cast<scalar_t>(grid_w);
              sum +=
                  bilinear(plane, height, width, y0 + (static_cast<scalar_t>(ph) + part_y) * bin_h,
                           x0 + (static_cast<scalar_t>(pw) + part_x) * bin_w);
            }
            *to++ = sum / count;
          }
        }
      }
    }
  });
  return result;
}
OPGEN_KERNEL(roi_align_meta_symint)
(const Tensor& input, const Tensor& rois, double, c10::SymInt pooled_height,
 c10::SymInt pooled_width, int64_t, bool) {
  return opgen::empty_symint({rois.sym_size(0), input.sym_size(1), pooled_height, pooled_width},
                             input.options());
}

OPGEN_KERNEL(lfilter_cpu)
(const Tensor& waveform, const Tensor& a_coeffs, const Tensor& b_coeffs) {
  // (batch, channels, time), and a filter of `order` coefficients for each channel.
  const Tensor result = opgen::empty(waveform.sizes(), waveform.options());
  OPGEN_DISPATCH_FLOATING_TYPES(waveform.scalar_type(), "_lfilter", [&] {
    const auto x = waveform.accessor<const scalar_t, 3>();
    const auto a = a_coeffs.accessor<const scalar_t, 2>();
    const auto b = b_coeffs.accessor<const scalar_t, 2>();
    auto y = result.accessor<scalar_t, 3>();
    for (std::int64_t n = 0; n < waveform.size(0); ++n) {
      for (std::int64_t c = 0; c < waveform.size(1); ++c) {
        for (std::int64_t t = 0; t < waveform.size(2); ++t) {
          scalar_t sum = 0;
          for (std::int64_t i = 0; i < b_coeffs.size(1) && i <= t; ++i) {
            sum += b[c][i] * x[n][c][t - i];
          }
          for (std::int64_t i = 1; i < a_coeffs.size(1) && i <= t; ++i) {
            sum -= a[c][i] * y[n][c][t - i];
          }
          y[n][c][t] = sum / a[c][0];
        }
      }
    }
  });
  return result;
}
OPGEN_KERNEL(lfilter_meta)(const Tensor& waveform, const Tensor&, const Tensor&) {
  return opgen::empty_symint(waveform.sym_sizes(), waveform.options());
}

OPGEN_KERNEL(segment_matmul_cpu)(const Tensor& input, const Tensor& ptr, const Tensor& other) {
  const Tensor result = opgen::new_empty(input, {input.size(0), other.size(2)});
  const Tensor ends = opgen::contiguous(ptr);
  const std::int64_t* end = ends.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i + 1 < ptr.numel(); ++i) {
    opgen::copy_(result.slice(0, end[i], end[i + 1]),
                 input.slice(0, end[i], end[i + 1]).mm(other.select(0, i)));
  }
  return result;
}
OPGEN_KERNEL(segment_matmul_meta)(const Tensor& input, const Tensor&, const Tensor& other) {
  return opgen::empty_symint({input.sym_size(0), other.sym_size(2)}, input.options());
}

OPGEN_KERNEL(scatter_sum_cpu)
(const Tensor& src, const Tensor& index, int64_t dim, const std::optional<Tensor>& optional_out,
 std::optional<int64_t> dim_size) {
  const std::int64_t at = opgen::maybe_wrap_dim(dim, src.dim());
  DimVector sizes(src.sizes());
  sizes[at] = dim_size.has_value() ? *dim_size
              : index.numel() > 0  ? index.max().item<std::int64_t>() + 1
                                   : 0;
  DimVector shape(src.dim(), 1);
  if (index.dim() == 1) shape[at] = index.size(0);
  const Tensor all = opgen::expand(index.dim() == 1 ? index.view(shape) : index, src.sizes());
  const Tensor start =
      optional_out.has_value() ? opgen::clone(*optional_out) : opgen::new_zeros(src, sizes);
  return start.scatter_add(at, all, src);
}

OPGEN_KERNEL(jagged_to_padded_dense_cpu)
(const Tensor& values, TensorList offsets, IntArrayRef max_lengths, double padding_value) {
  OPGEN_CHECK(offsets.size() == 1 && max_lengths.size() == 1, "one jagged dimension is expected");
  const Tensor ends = opgen::contiguous(offsets[0]);
  const std::int64_t* end = ends.const_data_ptr<std::int64_t>();
  const std::int64_t batch = ends.numel() - 1;
  const Tensor result =
      opgen::new_full(values, {batch, max_lengths[0], values.size(1)}, padding_value);
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t length = std::min(end[i + 1] - end[i], max_lengths[0]);
    opgen::copy_(result.select(0, i).slice(0, 0, length), values.slice(0, end[i], end[i] + length));
  }
  return result;
}
OPGEN_KERNEL(jagged_to_padded_dense_meta_symint)
(const Tensor& values, TensorList offsets, c10::SymIntArrayRef max_lengths, double) {
  return opgen::empty_symint({offsets[0].sym_size(0) - 1, max_lengths[0], values.sym_size(1)},
                             values.options());
}

OPGEN_META_FUNC(gelu)(const Tensor& self, std::string_view approximate) {
  OPGEN_CHECK(approximate == "none" || approximate == "tanh", "gelu: approximate is ", approximate);
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(gelu_out_cpu)(const Tensor&, c10::string_view approximate, const Tensor&) {
  OPGEN_DISPATCH_FLOATING_TYPES(common_dtype(), "gelu", [&] {
    if (approximate == "tanh") {
      opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t {
        const scalar_t inner = scalar_t(0.7978845608028654) * (x + scalar_t(0.044715) * x * x * x);
        return scalar_t(0.5) * x * (1 + std::tanh(inner));
      });
    } else {
      opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t {
        return scalar_t(0.5) * x * (1 + std::erf(x * scalar_t(0.7071067811865476)));
      });
    }
  });
}

OPGEN_META_FUNC(layer_norm)
(const Tensor& input, IntArrayRef normalized_shape, OptionalTensorRef, OptionalTensorRef, double) {
  const auto kept = input.dim() - static_cast<int64_t>(normalized_shape.size());
  OPGEN_CHECK(kept >= 0, "layer_norm: normalized_shape is longer than the input's");
  DimVector statistics(input.sizes().begin(), input.sizes().end());
  for (int64_t i = kept; i < input.dim(); ++i) {
    OPGEN_SYM_CHECK(opgen::sym_eq(input.size(i), normalized_shape[i - kept]),
                    "layer_norm: normalized_shape does not fit the input");
    statistics[i] = 1;
  }
  set_output_contiguous(0, input.sizes(), input.options());
  set_output_contiguous(1, statistics, input.options());
  set_output_contiguous(2, statistics, input.options());
}
OPGEN_IMPL_FUNC(layer_norm_out_cpu)
(const Tensor& input, IntArrayRef normalized_shape, OptionalTensorRef weight,
 OptionalTensorRef bias, double eps, const Tensor& out0, const Tensor& out1, const Tensor& out2) {
  const Tensor x = opgen::contiguous(input);
  const std::int64_t columns = opgen::multiply_integers(normalized_shape), rows = out1.numel();
  const Tensor w = weight.has_value() ? opgen::contiguous(*weight) : Tensor();
  const Tensor b = bias.has_value() ? opgen::contiguous(*bias) : Tensor();
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "layer_norm", [&] {
    const auto n = static_cast<scalar_t>(columns);
    for (std::int64_t row = 0; row < rows; ++row) {
      const scalar_t* from = x.const_data_ptr<scalar_t>() + row * columns;
      scalar_t* to = out0.mutable_data_ptr<scalar_t>() + row * columns;
      scalar_t mean = 0, variance = 0;
      for (std::int64_t i = 0; i < columns; ++i) mean += from[i] / n;
      for (std::int64_t i = 0; i < columns; ++i)
        variance += (from[i] - mean) * (from[i] - mean) / n;
      const scalar_t scale = 1 / std::sqrt(variance + static_cast<scalar_t>(eps));
      for (std::int64_t i = 0; i < columns; ++i) {
        to[i] = (from[i] - mean) * scale;
        if (w.defined()) to[i] *= w.const_data_ptr<scalar_t>()[i];
        if (b.defined()) to[i] += b.const_data_ptr<scalar_t>()[i];
      }
      out1.mutable_data_ptr<scalar_t>()[row] = mean;
      out2.mutable_data_ptr<scalar_t>()[row] = scale;
    }
  });
}

OPGEN_META_FUNC(cross_entropy)(const Tensor& logits, const Tensor& labels, double) {
  OPGEN_CHECK(logits.dim() == 2 && labels.dim() == 1, "cross_entropy: (n, classes) and (n)");
  OPGEN_SYM_CHECK(opgen::sym_eq(logits.size(0), labels.size(0)),
                  "cross_entropy: one label for each row is expected");
  set_output_contiguous(0, {logits.size(0)}, logits.options());
  set_output_contiguous(1, {logits.size(0)}, logits.options());
}
OPGEN_IMPL_FUNC(cross_entropy_out_cpu)
(const Tensor& logits, const Tensor& labels, double smoothing, const Tensor& losses,
 const Tensor& lse) {
  const Tensor wanted = opgen::to_dtype(labels, kLong);
  OPGEN_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "cross_entropy", [&] {
    const auto x = logits.accessor<const scalar_t, 2>();
    const auto label = wanted.accessor<const std::int64_t, 1>();
    const std::int64_t classes = logits.size(1);
    const auto share = static_cast<scalar_t>(smoothing);
    for (std::int64_t row = 0; row < logits.size(0); ++row) {
      OPGEN_CHECK_INDEX(label[row] >= 0 && label[row] < classes, "no class ", label[row]);
      scalar_t most = -std::numeric_limits<scalar_t>::infinity(), sum = 0, mean = 0;
      for (std::int64_t i = 0; i < classes; ++i) most = std::max(most, x[row][i]);
      for (std::int64_t i = 0; i < classes; ++i) {
        sum += std::exp(x[row][i] - most);
        mean += x[row][i] / static_cast<scalar_t>(classes);
      }
      const scalar_t total = most + std::log(sum);
      lse.accessor<scalar_t, 1>()[row] = total;
      losses.accessor<scalar_t, 1>()[row] = total - (1 - share) * x[row][label[row]] - share * mean;
    }
  });
}

OPGEN_KERNEL(foreach_norm_cpu)(TensorList self, const Scalar& ord) {
  std::vector<Tensor> norms;
  for (const Tensor& x : self) norms.push_back(x.norm(ord));
  return norms;
}
OPGEN_KERNEL(foreach_norm_meta)(TensorList self, const Scalar&) {
  std::vector<Tensor> norms;
  for (const Tensor& x : self) norms.push_back(opgen::empty_symint({}, x.options()));
  return norms;
}
