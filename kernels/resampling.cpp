// resampling.cpp: images of other sizes: the nearest of their elements or sums of the nearest four,
// and elements moved between channels and places; and the gradients.
#include <opgen/kernel.h>

#include <aten/ops/channel_shuffle_native.h>
#include <aten/ops/pixel_shuffle_native.h>
#include <aten/ops/pixel_unshuffle_native.h>
#include <aten/ops/upsample_bilinear2d.h>
#include <aten/ops/upsample_bilinear2d_backward_meta.h>
#include <aten/ops/upsample_bilinear2d_backward_native.h>
#include <aten/ops/upsample_bilinear2d_native.h>
#include <aten/ops/upsample_nearest1d.h>
#include <aten/ops/upsample_nearest1d_backward_meta.h>
#include <aten/ops/upsample_nearest1d_backward_native.h>
#include <aten/ops/upsample_nearest1d_native.h>
#include <aten/ops/upsample_nearest2d.h>
#include <aten/ops/upsample_nearest2d_backward_meta.h>
#include <aten/ops/upsample_nearest2d_backward_native.h>
#include <aten/ops/upsample_nearest2d_native.h>
#include <opgen/cpu/row_buffers.h>

#include "composite.h"
#include "planes.h"

using namespace kernels;

// ---- upsample_nearest1d ----

namespace {

// Returns, for each position of the result, the nearest one of `width` positions.
std::vector<int64_t> nearest_places(int64_t width, int64_t result, std::optional<double> scales) {
  const float scale = scales.has_value() && *scales > 0
                          ? static_cast<float>(1.0 / *scales)
                          : static_cast<float>(width) / static_cast<float>(result);
  std::vector<int64_t> source(static_cast<size_t>(result));
  for (int64_t i = 0; i < result; ++i) {
    // A scale may be infinite; then the first position is NaN.
    const float place = std::floor(static_cast<float>(i) * scale);
    const auto last = static_cast<float>(width - 1);
    source[i] = place >= last ? width - 1 : place > 0 ? static_cast<int64_t>(place) : 0;
  }
  return source;
}
// The same along one of two dimensions. As in PyTorch, a scale does not matter where the size stays
// or doubles.
std::vector<int64_t> nearest_places_2d(int64_t size, int64_t result, std::optional<double> scales) {
  const bool divides = result == size || result == 2 * size;
  return nearest_places(size, result, divides ? std::nullopt : scales);
}

// The number of positions along a dimension to compute: none if no element needs them.
int64_t needed(const Tensor& result, int64_t count) {
  return result.numel() == 0 ? 0 : count;
}

}  // namespace

OPGEN_META_FUNC(upsample_nearest1d)
(const Tensor& self, IntArrayRef output_size, std::optional<double> /*scales*/) {
  OPGEN_CHECK(output_size.size() == 1, "It is expected output_size equals to 1, but got size ",
              output_size.size());
  OPGEN_CHECK(self.dim() == 3, "It is expected input_size equals to 3, but got size ", self.dim());
  OPGEN_CHECK(self.size(2) > 0 && output_size[0] > 0,
              "Input and output sizes should be greater than 0, but got input (W: ", self.size(2),
              ") and output (W: ", output_size[0], ")");
  OPGEN_CHECK(self.size(1) != 0, "Non-empty 3D data tensor expected but got a tensor with sizes ",
              self.sizes());
  set_output_raw_strided(0, {self.size(0), self.size(1), output_size[0]}, {}, self.options());
}
OPGEN_IMPL_FUNC(upsample_nearest1d_out_cpu)
(const Tensor& self, IntArrayRef output_size, std::optional<double> scales, const Tensor& out) {
  const int64_t result = output_size[0];
  std::vector<int64_t> source = nearest_places(self.size(2), needed(out, result), scales);
  OPGEN_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || self.scalar_type() == kByte,
                              "\"upsample_nearest1d\" not implemented for '", self.scalar_type(),
                              "'");
  for (int64_t& place : source) place *= self.stride(2);
  const int64_t out_stride = out.stride(2);
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    for_each_line<2>(2, {&self, &out}, [&](const std::array<int64_t, 2>& at) {
      // Copies, because a store of an integer might change what is captured.
      const int64_t n = result, out_step = out_stride;
      const int64_t* places = source.data();
      const T* x = from + at[0];
      T* y = to + at[1];
      if (out_step == 1) {
        for (int64_t i = 0; i < n; ++i) y[i] = x[places[i]];
      } else {
        for (int64_t i = 0; i < n; ++i) y[i * out_step] = x[places[i]];
      }
    });
  });
}
OPGEN_KERNEL(upsample_nearest1d)
(const Tensor& input, OptionalIntArrayRef output_size,
 std::optional<ArrayRef<double>> scale_factors) {
  OPGEN_CHECK(output_size.has_value() != scale_factors.has_value(),
              "Must specify exactly one of output_size and scale_factors");
  if (output_size.has_value())
    return at::upsample_nearest1d(input, *output_size, std::optional<double>());
  OPGEN_CHECK(scale_factors->size() == 1 && input.dim() == 3,
              "upsample_nearest1d expects a 3D input and one scale factor");
  const double scale = (*scale_factors)[0];
  const auto width = static_cast<int64_t>(static_cast<double>(input.size(2)) * scale);
  return at::upsample_nearest1d(input, IntArrayRef(width), std::optional<double>(scale));
}

OPGEN_META_FUNC(upsample_nearest1d_backward)
(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
 std::optional<double> /*scales*/) {
  OPGEN_CHECK(output_size.size() == 1, "It is expected output_size equals to 1, but got size ",
              output_size.size());
  OPGEN_CHECK(input_size.size() == 3, "It is expected input_size equals to 3, but got size ",
              input_size.size());
  OPGEN_CHECK(input_size[2] > 0 && output_size[0] > 0,
              "Input and output sizes should be greater than 0, but got input (W: ", input_size[2],
              ") and output (W: ", output_size[0], ")");
  const DimVector expected{input_size[0], input_size[1], output_size[0]};
  OPGEN_CHECK(same_sizes(grad_output.sizes(), expected),
              "upsample_nearest1d_backward: expected grad_output of sizes ", expected, ", got ",
              grad_output.sizes());
  set_output_raw_strided(0, input_size, {}, grad_output.options());
}
OPGEN_IMPL_FUNC(upsample_nearest1d_backward_out_cpu)
(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
 std::optional<double> scales, const Tensor& grad_input) {
  const int64_t width = input_size[2], result = output_size[0];
  const std::vector<int64_t> source = nearest_places(width, needed(grad_input, result), scales);
  const int64_t in_stride = grad_output.stride(2), out_stride = grad_input.stride(2);
  OPGEN_DISPATCH(
      grad_output.scalar_type(), "upsample_nearest1d_backward", OPGEN_WRAP([&] {
        const scalar_t* from = grad_output.const_data_ptr<scalar_t>();
        scalar_t* to = grad_input.mutable_data_ptr<scalar_t>();
        for_each_line<2>(2, {&grad_input, &grad_output}, [&](const std::array<int64_t, 2>& at) {
          PlaneSum<scalar_t> sum(1, width);
          for (int64_t i = 0; i < result; ++i) {
            sum.add(source[i], static_cast<sum_t<scalar_t>>(from[at[1] + i * in_stride]));
          }
          sum.store(to + at[0], 0, out_stride);
        });
      }),
      Byte, OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES);
}

// ---- upsample_nearest2d, upsample_bilinear2d ----

namespace {

void check_sizes(IntArrayRef input, IntArrayRef output) {
  OPGEN_CHECK(output.size() == 2, "It is expected output_size equals to 2, but got size ",
              output.size());
  OPGEN_CHECK(input.size() == 4, "It is expected input_size equals to 4, but got size ",
              input.size());
  // A table has an entry for each row and each column.
  OPGEN_CHECK(std::max(output[0], output[1]) <= std::numeric_limits<int32_t>::max(),
              "output_size must fit into 32 bits, got ", output);
  OPGEN_CHECK(input[2] > 0 && input[3] > 0 && output[0] > 0 && output[1] > 0,
              "Input and output sizes should be greater than 0, but got input (H: ", input[2],
              ", W: ", input[3], ") output (H: ", output[0], ", W: ", output[1], ")");
}

DimVector resized(IntArrayRef input, IntArrayRef output) {
  return {input[0], input[1], output[0], output[1]};
}

void check_resampled(const Tensor& self, IntArrayRef output_size) {
  check_sizes(self.sizes(), output_size);
  OPGEN_CHECK(self.size(1) != 0, "Non-empty 4D data tensor expected but got a tensor with sizes ",
              self.sizes());
}

void check_gradient(const char* name, const Tensor& grad_output, IntArrayRef output_size,
                    IntArrayRef input_size) {
  check_sizes(input_size, output_size);
  const DimVector expected = resized(input_size, output_size);
  OPGEN_CHECK(same_sizes(grad_output.sizes(), expected), name, ": expected grad_output of sizes ",
              expected, ", got ", grad_output.sizes());
}

TensorOptions options_like(const Tensor& self) {
  return self.options().memory_format(self.suggest_memory_format());
}

// The arguments of an operator for which the caller gave either sizes or factors.
struct Asked {
  DimVector sizes;
  std::optional<double> vertical, horizontal;
};

Asked asked_for(const Tensor& input, OptionalIntArrayRef output_size,
                std::optional<ArrayRef<double>> scale_factors) {
  OPGEN_CHECK(output_size.has_value() != scale_factors.has_value(),
              "Must specify exactly one of output_size and scale_factors");
  if (output_size.has_value()) return {DimVector(*output_size), std::nullopt, std::nullopt};
  OPGEN_CHECK(scale_factors->size() == 2 && input.dim() == 4,
              "expected a 4D input and two scale factors");
  const double vertical = (*scale_factors)[0], horizontal = (*scale_factors)[1];
  return {{static_cast<int64_t>(static_cast<double>(input.size(2)) * vertical),
           static_cast<int64_t>(static_cast<double>(input.size(3)) * horizontal)},
          vertical,
          horizontal};
}

}  // namespace

OPGEN_META_FUNC(upsample_nearest2d)
(const Tensor& self, IntArrayRef output_size, std::optional<double> /*scales_h*/,
 std::optional<double> /*scales_w*/) {
  check_resampled(self, output_size);
  set_output_raw_strided(0, resized(self.sizes(), output_size), {}, options_like(self));
}
OPGEN_IMPL_FUNC(upsample_nearest2d_out_cpu)
(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h,
 std::optional<double> scales_w, const Tensor& out) {
  OPGEN_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || self.scalar_type() == kByte,
                              "\"upsample_nearest2d\" not implemented for '", self.scalar_type(),
                              "'");
  const int64_t rows = output_size[0], columns = output_size[1];
  const std::vector<int64_t> from_row =
      nearest_places_2d(self.size(2), needed(out, rows), scales_h);
  const std::vector<int64_t> from_column =
      nearest_places_2d(self.size(3), needed(out, columns), scales_w);
  const IntArrayRef in = self.strides(), to = out.strides();
  const int64_t channels = self.size(1);
  // Where the channels are adjacent, they are moved together.
  const bool pixels = channels > 1 && in[1] == 1 && to[1] == 1;
  const int64_t planes = pixels ? 1 : channels;
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    const T* data = static_cast<const T*>(self.const_data_ptr());
    T* result = static_cast<T*>(out.mutable_data_ptr());
    const int64_t grain =
        std::max<int64_t>(1, opgen::kGrainSize / (columns * (pixels ? channels : 1)));
    opgen::parallel_for(0, self.size(0) * planes * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t i = r % rows, plane = r / rows % planes, image = r / rows / planes;
        const T* x = data + image * in[0] + plane * in[1] + from_row[i] * in[2];
        T* y = result + image * to[0] + plane * to[1] + i * to[2];
        // A repeated row is a copy of the one above.
        const bool repeats = r > begin && i > 0 && from_row[i] == from_row[i - 1];
        if (repeats && !pixels && to[3] == 1) {
          std::copy_n(y - to[2], columns, y);
        } else if (pixels) {
          for (int64_t j = 0; j < columns; ++j)
            std::copy_n(x + from_column[j] * in[3], channels, y + j * to[3]);
        } else {
          for (int64_t j = 0; j < columns; ++j) y[j * to[3]] = x[from_column[j] * in[3]];
        }
      }
    });
  });
}
OPGEN_KERNEL(upsample_nearest2d)
(const Tensor& input, OptionalIntArrayRef output_size,
 std::optional<ArrayRef<double>> scale_factors) {
  const Asked asked = asked_for(input, output_size, scale_factors);
  return at::upsample_nearest2d(input, asked.sizes, asked.vertical, asked.horizontal);
}

OPGEN_META_FUNC(upsample_nearest2d_backward)
(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
 std::optional<double> /*scales_h*/, std::optional<double> /*scales_w*/) {
  check_gradient("upsample_nearest2d_backward", grad_output, output_size, input_size);
  set_output_raw_strided(0, input_size, {}, options_like(grad_output));
}
OPGEN_IMPL_FUNC(upsample_nearest2d_backward_out_cpu)
(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
 std::optional<double> scales_h, std::optional<double> scales_w, const Tensor& grad_input) {
  const int64_t rows = output_size[0], columns = output_size[1];
  const std::vector<int64_t> to_row =
      nearest_places_2d(input_size[2], needed(grad_input, rows), scales_h);
  const std::vector<int64_t> to_column =
      nearest_places_2d(input_size[3], needed(grad_input, columns), scales_w);
  const int64_t row = grad_output.stride(2), column = grad_output.stride(3);
  OPGEN_DISPATCH(grad_output.scalar_type(), "upsample_nearest2d_backward", OPGEN_WRAP([&] {
                   const scalar_t* from = grad_output.const_data_ptr<scalar_t>();
                   scalar_t* to = grad_input.mutable_data_ptr<scalar_t>();
                   for_each_plane(
                       grad_output, grad_input, grad_input, rows * columns,
                       [&](int64_t in, int64_t result, int64_t) {
                         PlaneSum<scalar_t> sum(input_size[2], input_size[3]);
                         for (int64_t i = 0; i < rows; ++i) {
                           for (int64_t j = 0; j < columns; ++j) {
                             sum.add(to_row[i] * input_size[3] + to_column[j],
                                     static_cast<sum_t<scalar_t>>(from[in + i * row + j * column]));
                           }
                         }
                         sum.store(to + result, grad_input.stride(2), grad_input.stride(3));
                       });
                 }),
                 Byte, OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES);
}

namespace {

// For each position of the result along a dimension: two adjacent positions of the input, and the
// weight of the second.
template <class W>
struct Between {
  std::vector<int64_t> first, second;
  std::vector<W> weight;
};

template <class W>
Between<W> between(int64_t size, int64_t result, bool align_corners, std::optional<double> scales) {
  W scale;
  if (align_corners) {
    scale = result > 1 ? static_cast<W>(size - 1) / static_cast<W>(result - 1) : W(0);
  } else {
    scale = scales.has_value() && *scales > 0 ? static_cast<W>(1.0 / *scales)
                                              : static_cast<W>(size) / static_cast<W>(result);
  }
  Between<W> places;
  for (int64_t i = 0; i < result; ++i) {
    const W centre =
        align_corners ? scale * static_cast<W>(i) : scale * (static_cast<W>(i) + W(0.5)) - W(0.5);
    const auto last = static_cast<W>(size - 1);
    // A scale may be infinite; then the first position is NaN.
    const W place = size == result ? static_cast<W>(i) : centre > 0 ? centre : W(0);
    const int64_t first = place >= last ? size - 1 : static_cast<int64_t>(place);
    places.first.push_back(first);
    // As in PyTorch, the place itself where the size stays: infinities would spread.
    places.second.push_back(first + (size != result && first < size - 1 ? 1 : 0));
    places.weight.push_back(std::min(place - static_cast<W>(first), W(1)));
  }
  return places;
}

// Computes bytes in float, and rounds halves up.
template <class T>
using between_t = std::conditional_t<std::is_same_v<T, uint8_t>, float, wide_t<T>>;

template <class T>
void store_line(T* to, const between_t<T>* from, int64_t n) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    for (int64_t j = 0; j < n; ++j) to[j] = static_cast<uint8_t>(from[j] + 0.5F);
  } else {
    opgen::store_row_as(to, from, n);
  }
}
template <class T>
const between_t<T>* line_of(const T* from, int64_t n, between_t<T>* buffer) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    std::copy_n(from, n, buffer);
    return buffer;
  } else {
    return opgen::row_as<between_t<T>>(from, n, buffer);
  }
}

}  // namespace

OPGEN_META_FUNC(upsample_bilinear2d)
(const Tensor& self, IntArrayRef output_size, bool /*align_corners*/,
 std::optional<double> /*scales_h*/, std::optional<double> /*scales_w*/) {
  check_resampled(self, output_size);
  set_output_raw_strided(0, resized(self.sizes(), output_size), {}, options_like(self));
}
OPGEN_IMPL_FUNC(upsample_bilinear2d_out_cpu)
(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h,
 std::optional<double> scales_w, const Tensor& out) {
  const int64_t rows = output_size[0], columns = output_size[1];
  const int64_t height = self.size(2), width = self.size(3);
  const Tensor dense = opgen::contiguous(self);
  const Tensor result =
      out.is_contiguous() ? out : Tensor(opgen::empty(out.sizes(), self.options()));
  OPGEN_DISPATCH(
      self.scalar_type(), "upsample_bilinear2d", OPGEN_WRAP([&] {
        using wide = between_t<scalar_t>;
        const auto vertical = between<wide>(height, needed(out, rows), align_corners, scales_h);
        const auto horizontal = between<wide>(width, needed(out, columns), align_corners, scales_w);
        const scalar_t* from = dense.const_data_ptr<scalar_t>();
        scalar_t* to = result.mutable_data_ptr<scalar_t>();
        const int64_t count = self.size(0) * self.size(1) * rows;
        const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / (width + columns));
        opgen::parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
          constexpr bool direct = std::is_same_v<wide, scalar_t>;
          const auto n = static_cast<size_t>(width);
          std::vector<wide> one(direct ? 0 : n), other(direct ? 0 : n), mixed(n);
          std::vector<wide> line(direct ? 0 : static_cast<size_t>(columns));
          for (int64_t r = begin; r < end; ++r) {
            const int64_t i = r % rows;
            const scalar_t* plane = from + r / rows * height * width;
            const wide* x = line_of(plane + vertical.first[i] * width, width, one.data());
            const wide* y = line_of(plane + vertical.second[i] * width, width, other.data());
            const wide of_y = vertical.weight[i], of_x = wide(1) - of_y;
            for (int64_t j = 0; j < width; ++j) mixed[j] = x[j] * of_x + y[j] * of_y;
            wide* sums = opgen::row_to_fill(to + r * columns, line.data());
            for (int64_t j = 0; j < columns; ++j) {
              const wide of_second = horizontal.weight[j];
              sums[j] = mixed[horizontal.first[j]] * (wide(1) - of_second) +
                        mixed[horizontal.second[j]] * of_second;
            }
            if constexpr (!direct) store_line(to + r * columns, sums, columns);
          }
        });
      }),
      Byte, OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES);
  if (!result.is_same(out)) opgen::copy_(out, result);
}
OPGEN_KERNEL(upsample_bilinear2d)
(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
 std::optional<ArrayRef<double>> scale_factors) {
  const Asked asked = asked_for(input, output_size, scale_factors);
  return at::upsample_bilinear2d(input, asked.sizes, align_corners, asked.vertical,
                                 asked.horizontal);
}

OPGEN_META_FUNC(upsample_bilinear2d_backward)
(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool /*align_corners*/,
 std::optional<double> /*scales_h*/, std::optional<double> /*scales_w*/) {
  check_gradient("upsample_bilinear2d_backward", grad_output, output_size, input_size);
  set_output_raw_strided(0, input_size, {}, options_like(grad_output));
}
OPGEN_IMPL_FUNC(upsample_bilinear2d_backward_out_cpu)
(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners,
 std::optional<double> scales_h, std::optional<double> scales_w, const Tensor& grad_input) {
  const int64_t rows = output_size[0], columns = output_size[1], width = input_size[3];
  const int64_t row = grad_output.stride(2), column = grad_output.stride(3);
  OPGEN_DISPATCH_FLOATING(grad_output.scalar_type(), "upsample_bilinear2d_backward", [&] {
    using wide = wide_t<scalar_t>;
    const auto vertical =
        between<wide>(input_size[2], needed(grad_input, rows), align_corners, scales_h);
    const auto horizontal =
        between<wide>(width, needed(grad_input, columns), align_corners, scales_w);
    const scalar_t* from = grad_output.const_data_ptr<scalar_t>();
    scalar_t* to = grad_input.mutable_data_ptr<scalar_t>();
    for_each_plane(grad_output, grad_input, grad_input, rows * columns,
                   [&](int64_t in, int64_t result, int64_t) {
                     PlaneSum<scalar_t> sum(input_size[2], width);
                     for (int64_t i = 0; i < rows; ++i) {
                       const int64_t top = vertical.first[i] * width,
                                     bottom = vertical.second[i] * width;
                       const wide of_bottom = vertical.weight[i], of_top = wide(1) - of_bottom;
                       for (int64_t j = 0; j < columns; ++j) {
                         const int64_t left = horizontal.first[j], right = horizontal.second[j];
                         const wide of_right = horizontal.weight[j], of_left = wide(1) - of_right;
                         const wide g = static_cast<wide>(from[in + i * row + j * column]);
                         sum.add(top + left, of_top * of_left * g);
                         sum.add(top + right, of_top * of_right * g);
                         sum.add(bottom + left, of_bottom * of_left * g);
                         sum.add(bottom + right, of_bottom * of_right * g);
                       }
                     }
                     sum.store(to + result, grad_input.stride(2), grad_input.stride(3));
                   });
  });
}

// ---- pixel_shuffle, channel_shuffle ----

OPGEN_KERNEL(pixel_shuffle)(const Tensor& self, int64_t upscale_factor) {
  OPGEN_CHECK(self.dim() >= 3,
              "pixel_shuffle expects input to have at least 3 dimensions, but got input with ",
              self.dim(), " dimension(s)");
  OPGEN_CHECK(upscale_factor > 0, "pixel_shuffle expects a positive upscale_factor, but got ",
              upscale_factor);
  OPGEN_CHECK(upscale_factor <= std::numeric_limits<int32_t>::max(),
              "upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor=",
              upscale_factor);
  const int64_t square = upscale_factor * upscale_factor;
  OPGEN_CHECK(self.size(-3) % square == 0,
              "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
              "of upscale_factor, but input.size(-3)=",
              self.size(-3), " is not divisible by ", square);
  const int64_t channels = self.size(-3) / square, height = self.size(-2), width = self.size(-1);
  const auto outer = static_cast<size_t>(self.dim() - 3);
  DimVector parts(self.sizes().slice(0, outer)), result(parts), order;
  for (int64_t size : {channels, upscale_factor, upscale_factor, height, width})
    parts.push_back(size);
  for (int64_t size : {Size(channels), Size(height) * upscale_factor, Size(width) * upscale_factor})
    result.push_back(size);
  for (size_t d = 0; d < outer; ++d) order.push_back(static_cast<int64_t>(d));
  for (int64_t d : {0, 3, 1, 4, 2}) order.push_back(static_cast<int64_t>(outer) + d);
  const Tensor moved = self.reshape(parts).permute(order).clone(MemoryFormat::Contiguous);
  return in_format(moved.view(result), self.suggest_memory_format());
}

OPGEN_KERNEL(pixel_unshuffle)(const Tensor& self, int64_t downscale_factor) {
  OPGEN_CHECK(self.dim() >= 3,
              "pixel_unshuffle expects input to have at least 3 dimensions, but got input with ",
              self.dim(), " dimension(s)");
  OPGEN_CHECK(downscale_factor > 0, "pixel_unshuffle expects a positive downscale_factor, but got ",
              downscale_factor);
  OPGEN_CHECK(self.size(-2) % downscale_factor == 0,
              "pixel_unshuffle expects height to be divisible by downscale_factor, but "
              "input.size(-2)=",
              self.size(-2), " is not divisible by ", downscale_factor);
  OPGEN_CHECK(self.size(-1) % downscale_factor == 0,
              "pixel_unshuffle expects width to be divisible by downscale_factor, but "
              "input.size(-1)=",
              self.size(-1), " is not divisible by ", downscale_factor);
  const int64_t channels = self.size(-3), height = self.size(-2) / downscale_factor,
                width = self.size(-1) / downscale_factor;
  const auto outer = static_cast<size_t>(self.dim() - 3);
  DimVector parts(self.sizes().slice(0, outer)), result(parts), order;
  for (int64_t size : {channels, height, downscale_factor, width, downscale_factor})
    parts.push_back(size);
  for (int64_t size :
       {Size(channels) * downscale_factor * downscale_factor, Size(height), Size(width)})
    result.push_back(size);
  for (size_t d = 0; d < outer; ++d) order.push_back(static_cast<int64_t>(d));
  for (int64_t d : {0, 2, 4, 1, 3}) order.push_back(static_cast<int64_t>(outer) + d);
  const Tensor moved = self.reshape(parts).permute(order).clone(MemoryFormat::Contiguous);
  return in_format(moved.view(result), self.suggest_memory_format());
}

OPGEN_KERNEL(channel_shuffle)(const Tensor& self, int64_t groups) {
  OPGEN_CHECK(self.dim() > 2,
              "channel_shuffle expects input with > 2 dims, but got input with sizes ",
              self.sizes());
  OPGEN_CHECK(groups > 0,
              "Number of groups to divide channels in must be positive. Value of groups:", groups);
  const int64_t channels = self.size(1);
  OPGEN_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ",
              channels, " channels and ", groups, " groups.");
  DimVector parts(self.sizes());
  parts[1] = groups;
  parts.insert(parts.begin() + 2, channels / groups);
  const Tensor moved = self.reshape(parts).transpose(1, 2).clone(MemoryFormat::Contiguous);
  return in_format(moved.view(self.sizes()), self.suggest_memory_format());
}
