// Vision, graphs, audio; an operator with several outputs, a view, and lists.
#include <c10/core/SymIntArrayRef.h>
#include <graded/ops/_foreach_squash_native.h>
#include <graded/ops/biquad_backward_native.h>
#include <graded/ops/biquad_native.h>
#include <graded/ops/leaky_sum_native.h>
#include <graded/ops/main_diagonal_native.h>
#include <graded/ops/minmax_native.h>
#include <graded/ops/roi_align_backward_native.h>
#include <graded/ops/roi_align_native.h>
#include <graded/ops/scatter_sum_native.h>
#include <graded/ops/weighted_total_native.h>
#include <opgen/kernel.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

using namespace opgen::types;

namespace {

// Calls `f(place, share)` for each pixel around a point: the value at the point is the sum of the
// pixels' values, each times its share.
template <class T, class F>
void around(std::int64_t height, std::int64_t width, T y, T x, const F& f) {
  if (y < -1 || y > static_cast<T>(height) || x < -1 || x > static_cast<T>(width)) return;
  y = std::clamp(y, T(0), static_cast<T>(height - 1));
  x = std::clamp(x, T(0), static_cast<T>(width - 1));
  const std::int64_t top = static_cast<std::int64_t>(y), left = static_cast<std::int64_t>(x);
  const std::int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const T dy = y - static_cast<T>(top), dx = x - static_cast<T>(left);
  f(top * width + left, (1 - dy) * (1 - dx));
  f(top * width + right, (1 - dy) * dx);
  f(bottom * width + left, dy * (1 - dx));
  f(bottom * width + right, dy * dx);
}

struct Pooling {
  double spatial_scale;
  std::int64_t height, width, sampling_ratio;
  bool aligned;
};

void check_regions(const Tensor& rois, ScalarType dtype, const c10::SymInt& height,
                   const c10::SymInt& width, std::int64_t sampling_ratio) {
  OPGEN_CHECK(rois.dim() == 2, "roi_align: rois of 5 numbers are expected");
  OPGEN_SYM_CHECK(opgen::sym_eq(rois.sym_size(1), 5), "roi_align: rois of 5 numbers are expected");
  OPGEN_CHECK(rois.scalar_type() == dtype, "roi_align: rois of another dtype");
  OPGEN_SYM_CHECK(opgen::sym_gt(height, 0), "roi_align: sizes are positive");
  OPGEN_SYM_CHECK(opgen::sym_gt(width, 0), "roi_align: sizes are positive");
  OPGEN_CHECK(sampling_ratio > 0, "roi_align: the sampling ratio is positive");
}

void check_input(const Tensor& input) {
  OPGEN_CHECK(input.dim() == 4, "roi_align: images with pixels are expected");
  for (const std::int64_t dim : {2, 3}) {
    OPGEN_SYM_CHECK(opgen::sym_gt(input.sym_size(dim), 0),
                    "roi_align: images with pixels are expected");
  }
}

void check_gradient(const Tensor& grad_output, std::initializer_list<c10::SymInt> expected,
                    std::initializer_list<c10::SymInt> image) {
  for (const c10::SymInt& size : image) {
    OPGEN_SYM_CHECK(opgen::sym_ge(size, 0), "roi_align_backward: a negative size");
  }
  OPGEN_CHECK(grad_output.sym_sizes() == c10::SymIntArrayRef(expected),
              "roi_align_backward: grad_output is of other sizes");
}

void check_images(const Tensor& rois, std::int64_t batch) {
  const Tensor images = opgen::to_dtype(rois, kDouble);
  for (std::int64_t i = 0; i < rois.size(0); ++i) {
    const double image = images.accessor<const double, 2>()[i][0];
    OPGEN_CHECK_INDEX(image >= 0 && image < static_cast<double>(batch), "roi_align: no image ",
                      image);
  }
}

// Calls `f(plane, output, share, place)` for each pixel that an element of the output is made of.
template <class T, class F>
void each_sample(const Tensor& rois, const Pooling& p, std::int64_t channels, std::int64_t height,
                 std::int64_t width, const F& f) {
  const auto regions = rois.accessor<const T, 2>();
  const T shift = p.aligned ? T(0.5) : T(0), scale = static_cast<T>(p.spatial_scale);
  const T count = static_cast<T>(p.sampling_ratio * p.sampling_ratio);
  std::int64_t output = 0;
  for (std::int64_t n = 0; n < rois.size(0); ++n) {
    const T x0 = regions[n][1] * scale - shift, y0 = regions[n][2] * scale - shift;
    T w = regions[n][3] * scale - shift - x0, h = regions[n][4] * scale - shift - y0;
    if (!p.aligned) {
      w = std::max(w, T(1));
      h = std::max(h, T(1));
    }
    const T bin_h = h / static_cast<T>(p.height), bin_w = w / static_cast<T>(p.width);
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t plane =
          (static_cast<std::int64_t>(regions[n][0]) * channels + c) * height * width;
      for (std::int64_t ph = 0; ph < p.height; ++ph) {
        for (std::int64_t pw = 0; pw < p.width; ++pw, ++output) {
          for (std::int64_t i = 0; i < p.sampling_ratio * p.sampling_ratio; ++i) {
            const auto part = [&](std::int64_t k) {
              return (static_cast<T>(k) + T(0.5)) / static_cast<T>(p.sampling_ratio);
            };
            const T y = y0 + (static_cast<T>(ph) + part(i / p.sampling_ratio)) * bin_h;
            const T x = x0 + (static_cast<T>(pw) + part(i % p.sampling_ratio)) * bin_w;
            around(height, width, y, x,
                   [&](std::int64_t place, T share) { f(plane + place, output, share / count); });
          }
        }
      }
    }
  }
}

}  // namespace

OPGEN_KERNEL(roi_align_cpu)
(const Tensor& input, const Tensor& rois, double spatial_scale, int64_t pooled_height,
 int64_t pooled_width, int64_t sampling_ratio, bool aligned) {
  const Pooling pooling{spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned};
  check_input(input);
  check_regions(rois, input.scalar_type(), pooled_height, pooled_width, sampling_ratio);
  check_images(rois, input.size(0));
  const Tensor image = opgen::contiguous(input);
  const Tensor result =
      opgen::zeros({rois.size(0), input.size(1), pooled_height, pooled_width}, input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "roi_align", [&]<class scalar_t> {
    const scalar_t* from = image.const_data_ptr<scalar_t>();
    scalar_t* to = result.mutable_data_ptr<scalar_t>();
    each_sample<scalar_t>(rois, pooling, input.size(1), input.size(2), input.size(3),
                          [&](std::int64_t place, std::int64_t output, scalar_t share) {
                            to[output] += share * from[place];
                          });
  });
  return result;
}
OPGEN_KERNEL(roi_align_meta_symint)
(const Tensor& input, const Tensor& rois, double, c10::SymInt pooled_height,
 c10::SymInt pooled_width, int64_t sampling_ratio, bool) {
  check_input(input);
  check_regions(rois, input.scalar_type(), pooled_height, pooled_width, sampling_ratio);
  return opgen::empty_symint({rois.sym_size(0), input.sym_size(1), pooled_height, pooled_width},
                             input.options());
}

OPGEN_KERNEL(roi_align_backward_cpu)
(const Tensor& grad_output, const Tensor& rois, double spatial_scale, int64_t pooled_height,
 int64_t pooled_width, int64_t batch, int64_t channels, int64_t height, int64_t width,
 int64_t sampling_ratio, bool aligned) {
  const Pooling pooling{spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned};
  check_regions(rois, grad_output.scalar_type(), pooled_height, pooled_width, sampling_ratio);
  check_gradient(grad_output, {rois.size(0), channels, pooled_height, pooled_width},
                 {batch, channels, height - 1, width - 1});
  check_images(rois, batch);
  const Tensor grad = opgen::contiguous(grad_output);
  const Tensor result = opgen::zeros({batch, channels, height, width}, grad_output.options());
  opgen::dispatch<float, double>(grad.scalar_type(), "roi_align_backward", [&]<class scalar_t> {
    const scalar_t* from = grad.const_data_ptr<scalar_t>();
    scalar_t* to = result.mutable_data_ptr<scalar_t>();
    each_sample<scalar_t>(rois, pooling, channels, height, width,
                          [&](std::int64_t place, std::int64_t output, scalar_t share) {
                            to[place] += share * from[output];
                          });
  });
  return result;
}
OPGEN_KERNEL(roi_align_backward_meta_symint)
(const Tensor& grad_output, const Tensor& rois, double, c10::SymInt pooled_height,
 c10::SymInt pooled_width, c10::SymInt batch, c10::SymInt channels, c10::SymInt height,
 c10::SymInt width, int64_t sampling_ratio, bool) {
  check_regions(rois, grad_output.scalar_type(), pooled_height, pooled_width, sampling_ratio);
  check_gradient(grad_output, {rois.sym_size(0), channels, pooled_height, pooled_width},
                 {batch, channels, height - 1, width - 1});
  return opgen::empty_symint({batch, channels, height, width}, grad_output.options());
}

namespace {

std::vector<c10::SymInt> scattered_sizes(const Tensor& src, const Tensor& index, int64_t dim,
                                         const c10::SymInt& size) {
  OPGEN_CHECK(index.scalar_type() == kLong, "scatter_sum: index has integers");
  OPGEN_CHECK(index.sym_sizes() == src.sym_sizes(),
              "scatter_sum: an index for each element is expected");
  OPGEN_SYM_CHECK(opgen::sym_ge(size, 0), "scatter_sum: a negative size");
  std::vector<c10::SymInt> sizes(src.sym_sizes().begin(), src.sym_sizes().end());
  OPGEN_CHECK_INDEX(dim >= -src.dim() && dim < src.dim(), "scatter_sum: no dimension ", dim);
  sizes[static_cast<std::size_t>(dim < 0 ? dim + src.dim() : dim)] = size;
  return sizes;
}

}  // namespace

// Each element of src is added to the place that index says, along one dimension.
OPGEN_KERNEL(scatter_sum_cpu)
(const Tensor& src, const Tensor& index, int64_t dim, int64_t dim_size) {
  const Tensor from = opgen::contiguous(src), places = opgen::contiguous(index);
  const Tensor result =
      opgen::zeros_symint(scattered_sizes(src, index, dim, dim_size), src.options());
  std::int64_t inner = 1;
  for (std::int64_t i = (dim < 0 ? dim + src.dim() : dim) + 1; i < src.dim(); ++i) {
    inner *= src.size(i);
  }
  opgen::dispatch<float, double>(src.scalar_type(), "scatter_sum", [&]<class scalar_t> {
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    const std::int64_t* place = places.const_data_ptr<std::int64_t>();
    scalar_t* y = result.mutable_data_ptr<scalar_t>();
    const std::int64_t length = src.size(dim);
    for (std::int64_t i = 0; i < src.numel(); ++i) {
      OPGEN_CHECK_INDEX(place[i] >= 0 && place[i] < dim_size, "scatter_sum: no place ", place[i]);
      y[(i / (inner * length) * dim_size + place[i]) * inner + i % inner] += x[i];
    }
  });
  return result;
}
OPGEN_KERNEL(scatter_sum_meta_symint)
(const Tensor& src, const Tensor& index, int64_t dim, c10::SymInt dim_size) {
  return opgen::empty_symint(scattered_sizes(src, index, dim, dim_size), src.options());
}

namespace {

void check_filter(const Tensor& input, const Tensor& b, const Tensor& a) {
  OPGEN_CHECK(input.dim() >= 1, "biquad: input has no dimension");
  OPGEN_CHECK(b.dim() == 1 && a.dim() == 1, "biquad: coefficients of one dimension are expected");
  OPGEN_SYM_CHECK(opgen::sym_eq(b.sym_size(0), 3), "biquad: b has 3 elements in dimension 0");
  OPGEN_SYM_CHECK(opgen::sym_eq(a.sym_size(0), 2), "biquad: a has 2 elements in dimension 0");
  OPGEN_CHECK(b.scalar_type() == input.scalar_type() && a.scalar_type() == input.scalar_type(),
              "biquad: coefficients of another dtype");
}

void check_filtered(const Tensor& input, const Tensor& grad_output, const Tensor& output) {
  for (const Tensor* tensor : {&grad_output, &output}) {
    OPGEN_CHECK(
        tensor->sym_sizes() == input.sym_sizes() && tensor->scalar_type() == input.scalar_type(),
        "biquad_backward: grad_output, input and output are alike");
  }
}

}  // namespace

// y[t] = b0 x[t] + b1 x[t-1] + b2 x[t-2] - a1 y[t-1] - a2 y[t-2]
OPGEN_KERNEL(biquad_cpu)(const Tensor& input, const Tensor& b, const Tensor& a) {
  check_filter(input, b, a);
  const Tensor from = opgen::contiguous(input);
  const Tensor result = opgen::empty(input.sizes(), input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "biquad", [&]<class scalar_t> {
    const auto p = b.accessor<const scalar_t, 1>(), q = a.accessor<const scalar_t, 1>();
    const std::int64_t length = input.size(-1);
    for (std::int64_t start = 0; start < input.numel(); start += length) {
      const scalar_t* x = from.const_data_ptr<scalar_t>() + start;
      scalar_t* y = result.mutable_data_ptr<scalar_t>() + start;
      for (std::int64_t t = 0; t < length; ++t) {
        y[t] = p[0] * x[t];
        if (t >= 1) y[t] += p[1] * x[t - 1] - q[0] * y[t - 1];
        if (t >= 2) y[t] += p[2] * x[t - 2] - q[1] * y[t - 2];
      }
    }
  });
  return result;
}
OPGEN_KERNEL(biquad_meta)(const Tensor& input, const Tensor& b, const Tensor& a) {
  check_filter(input, b, a);
  return opgen::empty_symint(input.sym_sizes(), input.options());
}

// With u[t] = g[t] - a1 u[t+1] - a2 u[t+2]: dx[t] = b0 u[t] + b1 u[t+1] + b2 u[t+2],
// db[k] = the sum of u[t] x[t-k], da[k] = minus the sum of u[t] y[t-k].
OPGEN_KERNEL(biquad_backward_cpu)
(const Tensor& grad_output, const Tensor& input, const Tensor& output, const Tensor& b,
 const Tensor& a) {
  check_filter(input, b, a);
  check_filtered(input, grad_output, output);
  const Tensor from = opgen::contiguous(input), filtered = opgen::contiguous(output);
  const Tensor grad = opgen::contiguous(grad_output);
  const Tensor grad_input = opgen::empty(input.sizes(), input.options());
  const Tensor grad_b = opgen::zeros({3}, input.options());
  const Tensor grad_a = opgen::zeros({2}, input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "biquad_backward", [&]<class scalar_t> {
    const auto p = b.accessor<const scalar_t, 1>(), q = a.accessor<const scalar_t, 1>();
    auto dp = grad_b.accessor<scalar_t, 1>(), dq = grad_a.accessor<scalar_t, 1>();
    const std::int64_t length = input.size(-1);
    std::vector<scalar_t> u(static_cast<std::size_t>(length) + 2);
    for (std::int64_t start = 0; start < input.numel(); start += length) {
      const scalar_t* x = from.const_data_ptr<scalar_t>() + start;
      const scalar_t* y = filtered.const_data_ptr<scalar_t>() + start;
      const scalar_t* g = grad.const_data_ptr<scalar_t>() + start;
      scalar_t* dx = grad_input.mutable_data_ptr<scalar_t>() + start;
      for (std::int64_t t = length - 1; t >= 0; --t) {
        scalar_t* now = u.data() + t;
        now[0] = g[t] - q[0] * now[1] - q[1] * now[2];
        dx[t] = p[0] * now[0] + p[1] * now[1] + p[2] * now[2];
        for (std::int64_t k = 0; k <= std::min<std::int64_t>(t, 2); ++k) {
          dp[k] += now[0] * x[t - k];
          if (k > 0) dq[k - 1] -= now[0] * y[t - k];
        }
      }
    }
  });
  return {grad_input, grad_b, grad_a};
}
OPGEN_KERNEL(biquad_backward_meta)
(const Tensor& grad_output, const Tensor& input, const Tensor& output, const Tensor& b,
 const Tensor& a) {
  check_filter(input, b, a);
  check_filtered(input, grad_output, output);
  return {opgen::empty_symint(input.sym_sizes(), input.options()),
          opgen::empty_symint(b.sym_sizes(), b.options()),
          opgen::empty_symint(a.sym_sizes(), a.options())};
}

namespace {

void check_decay(const Tensor& input, const Tensor& decay) {
  OPGEN_CHECK(input.dim() >= 1, "leaky_sum: input has no dimension");
  OPGEN_SYM_CHECK(opgen::sym_ge(input.sym_size(-1), 1), "leaky_sum: at least one step");
  OPGEN_CHECK(decay.dim() == 0 && decay.scalar_type() == input.scalar_type(),
              "leaky_sum: decay is one number of input's dtype");
}

}  // namespace

// y[t] = x[t] + decay y[t-1]
OPGEN_KERNEL(leaky_sum_cpu)(const Tensor& input, const Tensor& decay) {
  check_decay(input, decay);
  const Tensor from = opgen::contiguous(input);
  const Tensor result = opgen::empty(input.sizes(), input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "leaky_sum", [&]<class scalar_t> {
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    scalar_t* y = result.mutable_data_ptr<scalar_t>();
    const scalar_t d = *decay.const_data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < input.numel(); ++i) {
      y[i] = i % input.size(-1) == 0 ? x[i] : x[i] + d * y[i - 1];
    }
  });
  return result;
}
OPGEN_KERNEL(leaky_sum_meta)(const Tensor& input, const Tensor& decay) {
  check_decay(input, decay);
  return opgen::empty_symint(input.sym_sizes(), input.options());
}

namespace {

std::int64_t wrapped(const Tensor& self, std::int64_t dim) {
  OPGEN_CHECK_INDEX(dim >= -self.dim() && dim < self.dim(), "minmax: no dimension ", dim);
  return dim < 0 ? dim + self.dim() : dim;
}

std::vector<c10::SymInt> without(const Tensor& self, std::int64_t dim) {
  std::vector<c10::SymInt> sizes(self.sym_sizes().begin(), self.sym_sizes().end());
  sizes.erase(sizes.begin() + wrapped(self, dim));
  return sizes;
}

}  // namespace

OPGEN_KERNEL(minmax_cpu)(const Tensor& self, int64_t dim) {
  const auto sizes = without(self, dim);
  OPGEN_CHECK(self.size(dim) > 0, "minmax: the dimension has no elements");
  const Tensor least = opgen::empty_symint(sizes, self.options());
  const Tensor most = opgen::empty_symint(sizes, self.options());
  const Tensor arg_least = opgen::empty_symint(sizes, self.options().dtype(kLong));
  const Tensor arg_most = opgen::empty_symint(sizes, self.options().dtype(kLong));
  const Tensor from = opgen::contiguous(self);
  opgen::dispatch<float, double>(self.scalar_type(), "minmax", [&]<class scalar_t> {
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    const std::int64_t length = self.size(dim);
    std::int64_t inner = 1;
    for (std::int64_t i = wrapped(self, dim) + 1; i < self.dim(); ++i) inner *= self.size(i);
    for (std::int64_t i = 0; i < least.numel(); ++i) {
      const scalar_t* row = x + i / inner * length * inner + i % inner;
      std::int64_t low = 0, high = 0;
      for (std::int64_t k = 1; k < length; ++k) {
        if (row[k * inner] < row[low * inner]) low = k;
        if (row[k * inner] > row[high * inner]) high = k;
      }
      least.mutable_data_ptr<scalar_t>()[i] = row[low * inner];
      most.mutable_data_ptr<scalar_t>()[i] = row[high * inner];
      arg_least.mutable_data_ptr<std::int64_t>()[i] = low;
      arg_most.mutable_data_ptr<std::int64_t>()[i] = high;
    }
  });
  return {least, most, arg_least, arg_most};
}
OPGEN_KERNEL(minmax_meta)(const Tensor& self, int64_t dim) {
  const auto sizes = without(self, dim);
  return {opgen::empty_symint(sizes, self.options()), opgen::empty_symint(sizes, self.options()),
          opgen::empty_symint(sizes, self.options().dtype(kLong)),
          opgen::empty_symint(sizes, self.options().dtype(kLong))};
}

OPGEN_KERNEL(main_diagonal)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 2, "main_diagonal: a matrix is expected");
  const c10::SymInt length = self.sym_size(0).min(self.sym_size(1));
  return opgen::as_strided_symint(self, {length}, {self.sym_stride(0) + self.sym_stride(1)},
                                  self.sym_storage_offset());
}

OPGEN_KERNEL(foreach_squash_cpu)(TensorList self) {
  std::vector<Tensor> results;
  for (const Tensor& tensor : self) results.push_back(tensor.sigmoid());
  return results;
}
OPGEN_KERNEL(foreach_squash_meta)(TensorList self) {
  std::vector<Tensor> results;
  for (const Tensor& tensor : self) results.push_back(tensor.sigmoid());
  return results;
}

namespace {

void check_parts(TensorList parts, ArrayRef<double> weights) {
  OPGEN_CHECK(!parts.empty() && parts.size() == weights.size(),
              "weighted_total: a weight for each part is expected");
  OPGEN_CHECK(isFloatingType(parts[0].scalar_type()), "weighted_total: floats are expected");
}

}  // namespace

// The sum of all elements of all parts, each part with its weight.
OPGEN_KERNEL(weighted_total_cpu)(TensorList parts, ArrayRef<double> weights) {
  check_parts(parts, weights);
  Tensor total = opgen::zeros({}, parts[0].options());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    total.add_(parts[i].sum(), weights[i]);
  }
  return total;
}
OPGEN_KERNEL(weighted_total_meta)(TensorList parts, ArrayRef<double> weights) {
  check_parts(parts, weights);
  return opgen::empty({}, parts[0].options());
}
