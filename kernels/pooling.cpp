// pooling.cpp: pooling over the last dimension or the last two, and its gradients.
#include <opgen/kernel.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include <aten/ops/_adaptive_avg_pool2d.h>
#include <aten/ops/_adaptive_avg_pool2d_backward_native.h>
#include <aten/ops/_adaptive_avg_pool2d_native.h>
#include <aten/ops/adaptive_avg_pool1d_native.h>
#include <aten/ops/adaptive_avg_pool2d.h>
#include <aten/ops/adaptive_avg_pool2d_native.h>
#include <aten/ops/avg_pool1d_native.h>
#include <aten/ops/avg_pool2d.h>
#include <aten/ops/avg_pool2d_backward_meta.h>
#include <aten/ops/avg_pool2d_backward_native.h>
#include <aten/ops/avg_pool2d_native.h>
#include <aten/ops/max_pool1d_native.h>
#include <aten/ops/max_pool2d_native.h>
#include <aten/ops/max_pool2d_with_indices.h>
#include <aten/ops/max_pool2d_with_indices_backward_meta.h>
#include <aten/ops/max_pool2d_with_indices_backward_native.h>
#include <aten/ops/max_pool2d_with_indices_native.h>

#include "composite.h"
#include "devices.h"
#include "plain.h"
#include "planes.h"

using namespace kernels;

namespace {

// One dimension of a window.
struct Window {
  int64_t size, stride, padding, dilation;
};

// A list of one or two numbers: height and width.
struct Pair {
  int64_t height, width;
};

Pair pair_of(const char* op, const char* what, IntArrayRef list) {
  OPGEN_CHECK(list.size() == 1 || list.size() == 2, op, ": ", what,
              " must either be a single int, or a tuple of two ints");
  // With this limit, sums of products of two such numbers fit into 64 bits.
  for (int64_t number : list) {
    OPGEN_CHECK(number >= std::numeric_limits<int32_t>::min() &&
                    number <= std::numeric_limits<int32_t>::max(),
                op, ": ", what, " must fit into 32 bits, got ", list);
  }
  return {list[0], list[list.size() - 1]};
}

// Returns the number of positions of the window. With ceil_mode, the last window may extend beyond
// the padded input if it starts inside the input or the left padding.
int64_t places(int64_t input, const Window& window, bool ceil_mode) {
  const int64_t span = input + 2 * window.padding - window.dilation * (window.size - 1) - 1 +
                       (ceil_mode ? window.stride - 1 : 0);
  const int64_t quotient =
      span >= 0 ? span / window.stride : -((-span + window.stride - 1) / window.stride);
  int64_t count = quotient + 1;
  if (ceil_mode && (count - 1) * window.stride >= input + window.padding) --count;
  return count;
}

struct PoolShape {
  DimVector sizes;
  MemoryFormat format;
};

PoolShape pool_shape(const char* op, const TensorBase& self, const Window& vertical,
                     const Window& horizontal, bool ceil_mode) {
  OPGEN_CHECK(vertical.size > 0 && horizontal.size > 0,
              "kernel size should be greater than zero, but got kH: ", vertical.size,
              " kW: ", horizontal.size);
  OPGEN_CHECK(vertical.stride > 0 && horizontal.stride > 0,
              "stride should be greater than zero, but got dH: ", vertical.stride,
              " dW: ", horizontal.stride);
  OPGEN_CHECK(vertical.dilation > 0 && horizontal.dilation > 0,
              "dilation should be greater than zero, but got dilationH: ", vertical.dilation,
              " dilationW: ", horizontal.dilation);
  const int64_t n = self.dim();
  bool valid = n == 3 || n == 4;
  for (int64_t d = n == 4 ? 1 : 0; valid && d < n; ++d) valid = self.size(d) != 0;
  OPGEN_CHECK(
      valid, op,
      ": Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got: ",
      self.sizes());
  for (const Window& window : {vertical, horizontal}) {
    OPGEN_CHECK(
        window.padding >= 0 && window.padding <= ((window.size - 1) * window.dilation + 1) / 2,
        "pad should be at most half of effective kernel size, but got pad=", window.padding,
        ", kernel_size=", window.size, " and dilation=", window.dilation);
  }
  PoolShape shape{DimVector(self.sizes()),
                  n == 4 ? self.suggest_memory_format() : MemoryFormat::Contiguous};
  shape.sizes[n - 2] = places(self.size(-2), vertical, ceil_mode);
  shape.sizes[n - 1] = places(self.size(-1), horizontal, ceil_mode);
  OPGEN_CHECK(shape.sizes[n - 2] >= 1 && shape.sizes[n - 1] >= 1,
              "Given input size: ", self.sizes(), ". Calculated output size: ", shape.sizes,
              ". Output size is too small");
  return shape;
}

}  // namespace

// ---- avg_pool2d ----

OPGEN_PRECOMPUTE_META_FUNC(avg_pool2d)
(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
 bool ceil_mode, bool /*count_include_pad*/, std::optional<int64_t> divisor_override) {
  const Pair kernel = pair_of("avg_pool2d", "kernel_size", kernel_size);
  const Pair step = stride.empty() ? kernel : pair_of("avg_pool2d", "stride", stride);
  const Pair pad = pair_of("avg_pool2d", "padding", padding);
  OPGEN_CHECK(!divisor_override.has_value() || *divisor_override != 0, "divisor must be not zero");
  const PoolShape shape =
      pool_shape("avg_pool2d", self, {kernel.height, step.height, pad.height, 1},
                 {kernel.width, step.width, pad.width, 1}, ceil_mode);
  set_output_raw_strided(0, shape.sizes, {}, self.options().memory_format(shape.format));
  return precompute_out<>()
      .set_kH(kernel.height)
      .set_kW(kernel.width)
      .set_dH(step.height)
      .set_dW(step.width)
      .set_padH(pad.height)
      .set_padW(pad.width);
}

namespace {

// The part of a window inside the input, and what its sum is divided by.
struct Averaged {
  int64_t top, bottom, left, right, divisor;
  bool empty() const { return top >= bottom || left >= right; }
};

// Averages each of the adjacent channels over one window.
template <class T>
OPGEN_ALWAYS_INLINE void average_channels_here(const T* from, int64_t row, int64_t column,
                                               const Averaged& window, int64_t channels,
                                               sum_t<T>* sums, T* to) {
  using wide = sum_t<T>;
  if (window.empty()) {
    std::fill_n(to, channels, T(0));
    return;
  }
  std::fill_n(sums, channels, wide(0));
  for (int64_t y = window.top; y < window.bottom; ++y) {
    for (int64_t x = window.left; x < window.right; ++x) {
      const T* place = from + y * row + x * column;
      for (int64_t c = 0; c < channels; ++c) {
        sums[c] = plus(sums[c], static_cast<wide>(place[c]));
      }
    }
  }
  const wide divisor = static_cast<wide>(window.divisor);
  for (int64_t c = 0; c < channels; ++c) to[c] = static_cast<T>(sums[c] / divisor);
}
#if OPGEN_LOOPS_AVX2
template <class T>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void average_channels_avx2(const T* from, int64_t row,
                                                            int64_t column, const Averaged& window,
                                                            int64_t channels, sum_t<T>* sums,
                                                            T* to) {
  average_channels_here(from, row, column, window, channels, sums, to);
}
#endif
template <class T>
OPGEN_NOINLINE void average_channels(const T* from, int64_t row, int64_t column,
                                     const Averaged& window, int64_t channels, sum_t<T>* sums,
                                     T* to) {
#if OPGEN_LOOPS_AVX2
  if (opgen::get_cpu_capability() >= opgen::CPUCapability::AVX2) {
    return average_channels_avx2(from, row, column, window, channels, sums, to);
  }
#endif
  average_channels_here(from, row, column, window, channels, sums, to);
}

}  // namespace

OPGEN_IMPL_FUNC(avg_pool2d_out_cpu)
(const Tensor& self, int64_t kH, int64_t kW, int64_t dH, int64_t dW, int64_t padH, int64_t padW,
 bool /*ceil_mode*/, bool count_include_pad, std::optional<int64_t> divisor_override,
 const Tensor& out) {
  const int64_t height = self.size(-2), width = self.size(-1);
  const int64_t in_row = self.stride(-2), in_column = self.stride(-1);
  const int64_t out_row = out.stride(-2), out_column = out.stride(-1);
  // Images whose channels are adjacent: one window for all channels of a place.
  const bool channels_last = self.dim() == 4 && self.stride(1) == 1 && out.stride(1) == 1;
  const int64_t channels = channels_last ? self.size(1) : 1;
  const auto window_at = [&](int64_t i, int64_t j) {
    int64_t top = i * dH - padH, left = j * dW - padW;
    int64_t bottom = std::min(top + kH, height + padH), right = std::min(left + kW, width + padW);
    // Padding counts as zeros; the part of a window beyond the padding does not count.
    const int64_t padded = (bottom - top) * (right - left);
    top = std::max<int64_t>(top, 0);
    left = std::max<int64_t>(left, 0);
    bottom = std::min(bottom, height);
    right = std::min(right, width);
    const int64_t divisor = divisor_override.has_value() ? *divisor_override
                            : count_include_pad          ? padded
                                                         : (bottom - top) * (right - left);
    return Averaged{top, bottom, left, right, divisor};
  };
  OPGEN_DISPATCH(
      self.scalar_type(), "avg_pool2d", OPGEN_WRAP([&] {
        using wide = sum_t<scalar_t>;
        const scalar_t* from = self.const_data_ptr<scalar_t>();
        scalar_t* to = out.mutable_data_ptr<scalar_t>();
        // One row of the output for each of these indices; operand 2 counts the rows of an image.
        const auto images = static_cast<size_t>(channels_last ? 1 : self.dim() - 2);
        DimVector rows, in_steps, out_steps, counts(images, 0);
        for (size_t d = 0; d < images; ++d) {
          rows.push_back(self.sizes()[d]);
          in_steps.push_back(self.strides()[d]);
          out_steps.push_back(out.strides()[d]);
        }
        rows.push_back(out.size(-2));
        in_steps.push_back(0);
        out_steps.push_back(out_row);
        counts.push_back(1);
        const int64_t work = channels * out.size(-1) * std::min(kH, height) * std::min(kW, width);
        for_each_index<3>(
            rows, {in_steps, out_steps, counts},
            [&](const std::array<int64_t, 3>& at) {
              const scalar_t* image = from + at[0];
              scalar_t* row = to + at[1];
              if (channels_last) {
                std::vector<wide> sums(static_cast<size_t>(channels));
                for (int64_t j = 0; j < out.size(-1); ++j) {
                  average_channels(image, in_row, in_column, window_at(at[2], j), channels,
                                   sums.data(), row + j * out_column);
                }
                return;
              }
              for (int64_t j = 0; j < out.size(-1); ++j) {
                const Averaged window = window_at(at[2], j);
                wide sum = 0;
                for (int64_t y = window.top; y < window.bottom; ++y) {
                  for (int64_t x = window.left; x < window.right; ++x) {
                    sum = plus(sum, static_cast<wide>(image[y * in_row + x * in_column]));
                  }
                }
                row[j * out_column] =
                    window.empty() ? scalar_t(0)
                                   : static_cast<scalar_t>(sum / static_cast<wide>(window.divisor));
              }
            },
            work);
      }),
      Long, OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES);
}

// ---- max_pool2d ----

namespace {

struct MaxPool {
  Window vertical, horizontal;
};

MaxPool max_pool_of(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation) {
  const Pair kernel = pair_of("max_pool2d", "kernel_size", kernel_size);
  const Pair step = stride.empty() ? kernel : pair_of("max_pool2d", "stride", stride);
  const Pair pad = pair_of("max_pool2d", "padding", padding);
  const Pair spread = pair_of("max_pool2d", "dilation", dilation);
  return {{kernel.height, step.height, pad.height, spread.height},
          {kernel.width, step.width, pad.width, spread.width}};
}

// Returns the lowest value of the type: -infinity for floating types.
template <class T>
T lowest() {
  if constexpr (is_float_v<T>) {
    return static_cast<T>(-std::numeric_limits<wide_t<T>>::infinity());
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

// Returns the number of steps of the dilation from `start` to the first position at or after
// `place`.
int64_t steps_to(int64_t place, int64_t start, const Window& window) {
  return start >= place ? 0 : (place - start + window.dilation - 1) / window.dilation;
}

// Returns the first position of a window, from `start` on, that is inside the input.
int64_t first_inside(int64_t start, const Window& window) {
  return start + steps_to(0, start, window) * window.dilation;
}

// Calls f(position in the input, first window, number of windows) for each column of `count`
// windows: the windows in which it is inside the input, whose positions are `stride` apart.
// A loop over them compares neighbouring windows together.
template <class F>
void for_each_column(const Window& window, int64_t width, int64_t count, const F& f) {
  const int64_t last = (count - 1) * window.stride - window.padding;
  const int64_t end = std::min(window.size, steps_to(width, -window.padding, window));
  for (int64_t b = steps_to(0, last, window); b < end; ++b) {
    const int64_t first = b * window.dilation - window.padding;
    const int64_t begin = first >= 0 ? 0 : (-first + window.stride - 1) / window.stride;
    const int64_t stop = std::min(count, (width - first + window.stride - 1) / window.stride);
    if (begin < stop) f(first + begin * window.stride, begin, stop - begin);
  }
}

// The maxima of the windows of one row of the output, and their indices in the input. An index is
// that of the last NaN in the window, or else that of the first maximum.
template <class T, class Place>
class MaxRow {
 public:
  MaxRow(const Window& window, int64_t width, int64_t count)
      : window_(window),
        width_(width),
        count_(count),
        best_(static_cast<size_t>(count)),
        place_(static_cast<size_t>(count)) {}

  // Starts a row. The result for a window that contains only padding: the lowest value, and an
  // index outside of the input.
  void start(int64_t row_index) {
    std::fill(best_.begin(), best_.end(), static_cast<wide>(lowest<T>()));
    for (int64_t j = 0; j < count_; ++j) {
      const int64_t left = j * window_.stride - window_.padding;
      place_[static_cast<size_t>(j)] = static_cast<Place>(row_index + first_inside(left, window_));
    }
  }

  // Visits a row of the input, whose first element has the index `row_index`.
  void add(const T* row, int64_t step, int64_t row_index) {
    for_each_column(window_, width_, count_, [&](int64_t x, int64_t begin, int64_t n) {
      const T* from = row + x * step;
      const int64_t index = row_index + x, from_step = window_.stride * step;
      wide* best = best_.data() + begin;
      Place* place = place_.data() + begin;
      // Constants, so that these loops become vectors.
      if (from_step == 1 && window_.stride == 1) {
        compare(from, std::integral_constant<int64_t, 1>(), index, 1, n, best, place);
      } else if (from_step == 2 && window_.stride == 2) {
        compare(from, std::integral_constant<int64_t, 2>(), index, 2, n, best, place);
      } else {
        compare(from, from_step, index, window_.stride, n, best, place);
      }
    });
  }

  void store(T* to, int64_t to_step, int64_t* index, int64_t index_step) const {
    for (int64_t j = 0; j < count_; ++j) {
      to[j * to_step] = static_cast<T>(best_[static_cast<size_t>(j)]);
    }
    for (int64_t j = 0; j < count_; ++j) {
      index[j * index_step] = static_cast<int64_t>(place_[static_cast<size_t>(j)]);
    }
  }

 private:
  using wide = wide_t<T>;

  template <class Step>
  static void compare(const T* from, Step step, int64_t index, int64_t stride, int64_t n,
                      wide* best, Place* place) {
    const Place first = static_cast<Place>(index), apart = static_cast<Place>(stride);
    for (int64_t j = 0; j < n; ++j) {
      const wide x = static_cast<wide>(from[j * step]);
      const bool better = (x > best[j]) | (x != x);
      best[j] = better ? x : best[j];
      place[j] = better ? static_cast<Place>(first + static_cast<Place>(j) * apart) : place[j];
    }
  }

  Window window_;
  int64_t width_, count_;
  std::vector<wide> best_;
  std::vector<Place> place_;
};

}  // namespace

OPGEN_META_FUNC(max_pool2d_with_indices)
(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
 IntArrayRef dilation, bool ceil_mode) {
  const MaxPool pool = max_pool_of(kernel_size, stride, padding, dilation);
  const PoolShape shape = pool_shape("max_pool2d", self, pool.vertical, pool.horizontal, ceil_mode);
  set_output_raw_strided(0, shape.sizes, {}, self.options().memory_format(shape.format));
  set_output_raw_strided(1, shape.sizes, {},
                         self.options().memory_format(shape.format).dtype(kLong));
}
OPGEN_IMPL_FUNC(max_pool2d_with_indices_out_cpu)
(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
 IntArrayRef dilation, bool /*ceil_mode*/, const Tensor& out, const Tensor& indices) {
  const MaxPool pool = max_pool_of(kernel_size, stride, padding, dilation);
  const int64_t height = self.size(-2), width = self.size(-1);
  const int64_t in_row = self.stride(-2), in_column = self.stride(-1);
  const int64_t columns = out.size(-1);
  int64_t* place = indices.mutable_data_ptr<int64_t>();
  OPGEN_DISPATCH_REAL(self.scalar_type(), "max_pool2d", [&] {
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const int64_t work = out.size(-2) * columns * std::min(pool.vertical.size, height) *
                         std::min(pool.horizontal.size, width);
    for_each_plane(self, out, indices, work, [&](int64_t in, int64_t result, int64_t index) {
      const auto pool_rows = [&]<class Place>() {
        MaxRow<scalar_t, Place> maxima(pool.horizontal, width, columns);
        for (int64_t i = 0; i < out.size(-2); ++i) {
          const int64_t top = i * pool.vertical.stride - pool.vertical.padding;
          // Visit only positions inside the input, because a window may be far larger.
          const int64_t rows = std::min(pool.vertical.size, steps_to(height, top, pool.vertical));
          maxima.start(first_inside(top, pool.vertical) * width);
          for (int64_t a = steps_to(0, top, pool.vertical); a < rows; ++a) {
            const int64_t y = top + a * pool.vertical.dilation;
            maxima.add(from + in + y * in_row, in_column, y * width);
          }
          maxima.store(to + result + i * out.stride(-2), out.stride(-1),
                       place + index + i * indices.stride(-2), indices.stride(-1));
        }
      };
      // Narrow indices fit as many elements into a vector as float. A window of padding alone has
      // an index beyond the input.
      constexpr int64_t most = std::numeric_limits<int32_t>::max();
      const int64_t below = height + pool.vertical.dilation,
                    across = width + pool.horizontal.dilation;
      if (below < (int64_t(1) << 31) && across < most / (below + 1)) {
        pool_rows.template operator()<int32_t>();
      } else {
        pool_rows.template operator()<int64_t>();
      }
    });
  });
}
OPGEN_KERNEL(max_pool2d)
(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
 IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(
      at::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

// ---- adaptive_avg_pool2d: windows that divide the input evenly ----

namespace {

// The positions of the input that position `i` of `count` stands for.
struct Share {
  int64_t begin, end;
  Share(int64_t i, int64_t count, int64_t size)
      : begin(i * size / count), end(((i + 1) * size + count - 1) / count) {}
};

void check_adaptive(const char* name, const Tensor& self) {
  OPGEN_CHECK(self.dim() == 3 || self.dim() == 4, name, "(): Expected 3D or 4D tensor, but got ",
              self.sizes());
  for (int64_t d : {-2, -1}) {
    OPGEN_CHECK(self.size(d) > 0, name,
                "(): Expected input to have non-zero size for non-batch dimensions, but input has "
                "sizes ",
                self.sizes(), " with dimension ", d + self.dim(), " being empty");
  }
}

}  // namespace

OPGEN_KERNEL(_adaptive_avg_pool2d)(const Tensor& self, IntArrayRef output_size) {
  OPGEN_CHECK(output_size.size() == 2, "adaptive_avg_pool2d: output_size must be 2");
  check_adaptive("adaptive_avg_pool2d", self);
  OPGEN_CHECK(output_size[0] >= 0 && output_size[1] >= 0,
              "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but "
              "received ",
              output_size);
  const int64_t n = self.dim(), rows = output_size[0], columns = output_size[1];
  DimVector sizes(self.sizes());
  sizes[static_cast<size_t>(n - 2)] = rows;
  sizes[static_cast<size_t>(n - 1)] = columns;
  const MemoryFormat format = n == 4 ? self.suggest_memory_format() : MemoryFormat::Contiguous;
  const Tensor out = opgen::empty(sizes, self.options().memory_format(format));
  if (out.is_meta() || out.numel() == 0) return out;
  const int64_t height = self.size(-2), width = self.size(-1);
  const int64_t row = self.stride(-2), column = self.stride(-1);
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), "adaptive_avg_pool2d", [&] {
    using wide = sum_t<scalar_t>;
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    for_each_plane(self, out, out, std::max(height * width, rows * columns),
                   [&](int64_t in, int64_t result, int64_t) {
                     for (int64_t i = 0; i < rows; ++i) {
                       const Share vertical(i, rows, height);
                       for (int64_t j = 0; j < columns; ++j) {
                         const Share horizontal(j, columns, width);
                         wide sum = 0;
                         for (int64_t y = vertical.begin; y < vertical.end; ++y) {
                           for (int64_t x = horizontal.begin; x < horizontal.end; ++x) {
                             sum += static_cast<wide>(from[in + y * row + x * column]);
                           }
                         }
                         const int64_t count =
                             (vertical.end - vertical.begin) * (horizontal.end - horizontal.begin);
                         to[result + i * out.stride(-2) + j * out.stride(-1)] =
                             static_cast<scalar_t>(sum / static_cast<wide>(count));
                       }
                     }
                   });
  });
  return out;
}
OPGEN_KERNEL(adaptive_avg_pool2d)(const Tensor& self, IntArrayRef output_size) {
  OPGEN_CHECK(output_size.size() == 2, "adaptive_avg_pool2d: output_size must be 2");
  if (output_size[0] != 1 || output_size[1] != 1) {
    return at::_adaptive_avg_pool2d(self, output_size);
  }
  const Tensor mean = self.mean({-2, -1}, /*keepdim=*/true, std::nullopt);
  return in_format(mean, self.suggest_memory_format());
}
OPGEN_KERNEL(adaptive_avg_pool2d_out)(const Tensor& self, IntArrayRef output_size, Tensor& out) {
  return copy_result(out, at::_adaptive_avg_pool2d(self, output_size), "adaptive_avg_pool2d");
}

// ---- Pooling over one dimension: windows of height 1 ----

namespace {

void check_line(const char* name, const Tensor& self) {
  OPGEN_CHECK(self.dim() == 2 || self.dim() == 3, name,
              "() Expected 2D or 3D input tensor, but got ", self.sizes());
}
int64_t only(const char* name, const char* what, IntArrayRef list) {
  OPGEN_CHECK(list.size() == 1, name, "() argument '", what, "' should contain one int (got ",
              list.size(), ")");
  return list[0];
}

// The step of windows of two neighbours that do not overlap, which are visited together.
struct Pairs {};

// Visits every `step`-th element for the maxima `best`, which the first visit sets if `fresh`. NaN
// is the largest of all.
template <class T, class Step>
OPGEN_ALWAYS_INLINE void take_larger_here(T* best, const T* from, Step step, int64_t n,
                                          bool fresh) {
  if constexpr (std::is_same_v<Step, Pairs>) {
    for (int64_t j = 0; j < n; ++j) {
      const T x = from[2 * j], y = from[2 * j + 1];
      best[j] = (y > x) | (y != y) ? y : x;  // NOLINT(misc-redundant-expression)
    }
  } else if (fresh) {
    for (int64_t j = 0; j < n; ++j) best[j] = from[j * step];
  } else {
    for (int64_t j = 0; j < n; ++j) {
      const T x = from[j * step];
      best[j] = (x > best[j]) | (x != x) ? x : best[j];  // NOLINT(misc-redundant-expression)
    }
  }
}
#if OPGEN_LOOPS_AVX2
template <class T, class Step>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void take_larger_avx2(T* best, const T* from, Step step, int64_t n,
                                                       bool fresh) {
  take_larger_here(best, from, step, n, fresh);
}
#endif
template <class T, class Step>
OPGEN_NOINLINE void take_larger(T* best, const T* from, Step step, int64_t n, bool fresh) {
#if OPGEN_LOOPS_AVX2
  if (opgen::get_cpu_capability() >= opgen::CPUCapability::AVX2)
    return take_larger_avx2(best, from, step, n, fresh);
#endif
  take_larger_here(best, from, step, n, fresh);
}

// One column of windows, as for_each_column visits it.
struct Column {
  int64_t x, begin, count;
};

// The maxima of the windows of a line whose elements are adjacent.
template <class T>
void line_maxima(const T* row, const std::vector<Column>& columns, int64_t stride, T* to,
                 int64_t count) {
  bool fresh = !columns.empty() && columns[0].count == count;
  if (stride == 2 && columns.size() == 2 && fresh && columns[1].count == count &&
      columns[1].x == columns[0].x + 1) {
    return take_larger(to, row + columns[0].x, Pairs(), count, fresh);
  }
  if (!fresh) std::fill_n(to, count, lowest<T>());
  for (const Column& column : columns) {
    const T* from = row + column.x;
    T* best = to + column.begin;
    // Constants, so that these loops become vectors.
    if (stride == 1) {
      take_larger(best, from, std::integral_constant<int64_t, 1>(), column.count, fresh);
    } else if (stride == 2) {
      take_larger(best, from, std::integral_constant<int64_t, 2>(), column.count, fresh);
    } else {
      take_larger(best, from, stride, column.count, fresh);
    }
    fresh = false;
  }
}

// The maxima alone. Without gradients, nobody asks for their places.
Tensor maxima_of_lines(const Tensor& self, const MaxPool& pool, bool ceil_mode) {
  const PoolShape shape = pool_shape("max_pool2d", self, pool.vertical, pool.horizontal, ceil_mode);
  const Tensor out = opgen::empty(shape.sizes, self.options());
  const int64_t width = self.size(-1), count = out.size(-1);
  std::vector<Column> columns;
  for_each_column(pool.horizontal, width, count, [&](int64_t x, int64_t begin, int64_t n) {
    columns.push_back({x, begin, n});
  });
  OPGEN_DISPATCH_FLOATING_TYPES(self.scalar_type(), "max_pool1d", [&] {
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    for_each_plane(self, out, out, count * std::min(pool.horizontal.size, width),
                   [&](int64_t in, int64_t result, int64_t) {
                     line_maxima(from + in, columns, pool.horizontal.stride, to + result, count);
                   });
  });
  return out;
}

}  // namespace

OPGEN_KERNEL(adaptive_avg_pool1d)(const Tensor& self, IntArrayRef output_size) {
  check_line("adaptive_avg_pool1d", self);
  const int64_t size = only("adaptive_avg_pool1d", "output_size", output_size);
  return at::adaptive_avg_pool2d(self.unsqueeze(-2), {1, size}).squeeze(-2);
}
OPGEN_KERNEL(avg_pool1d)
(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
 bool ceil_mode, bool count_include_pad) {
  check_line("avg_pool1d", self);
  const int64_t kernel = only("avg_pool1d", "kernel_size", kernel_size);
  const int64_t step = stride.empty() ? kernel : only("avg_pool1d", "stride", stride);
  const int64_t pad = only("avg_pool1d", "padding", padding);
  return at::avg_pool2d(self.unsqueeze(-2), {1, kernel}, {1, step}, {0, pad}, ceil_mode,
                        count_include_pad, std::nullopt)
      .squeeze(-2);
}
OPGEN_KERNEL(max_pool1d)
(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
 IntArrayRef dilation, bool ceil_mode) {
  check_line("max_pool1d", self);
  const int64_t kernel = only("max_pool1d", "kernel_size", kernel_size);
  const int64_t step = stride.empty() ? kernel : only("max_pool1d", "stride", stride);
  const int64_t pad = only("max_pool1d", "padding", padding);
  const int64_t spread = only("max_pool1d", "dilation", dilation);
  const Tensor line = in_format(self).unsqueeze(-2);
  if (self.is_floating_point() && is_plain(self)) {
    const MaxPool pool = max_pool_of({1, kernel}, {1, step}, {0, pad}, {1, spread});
    // Half types as floats, which are faster.
    const ScalarType wide = self.scalar_type() == opgen::kDouble ? opgen::kDouble : opgen::kFloat;
    const Tensor maxima = maxima_of_lines(to_dtype(line, wide), pool, ceil_mode).squeeze(-2);
    return to_dtype(maxima, self.scalar_type());
  }
  return std::get<0>(at::max_pool2d_with_indices(line, {1, kernel}, {1, step}, {0, pad},
                                                 {1, spread}, ceil_mode))
      .squeeze(-2);
}

// ---- Gradients ----

namespace {

void check_grad_output(const char* op, const Tensor& grad_output, const Tensor& self,
                       const PoolShape& shape) {
  OPGEN_CHECK(same_sizes(grad_output.sizes(), shape.sizes), op, ": expected grad_output of sizes ",
              shape.sizes, ", got ", grad_output.sizes());
  OPGEN_CHECK(grad_output.scalar_type() == self.scalar_type(), "expected dtype ",
              self.scalar_type(), " for `grad_output` but got dtype ", grad_output.scalar_type());
  check_same_device(op, grad_output, self);
}

}  // namespace

OPGEN_META_FUNC(avg_pool2d_backward)
(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
 IntArrayRef padding, bool ceil_mode, bool /*count_include_pad*/,
 std::optional<int64_t> divisor_override) {
  const Pair kernel = pair_of("avg_pool2d", "kernel_size", kernel_size);
  const Pair step = stride.empty() ? kernel : pair_of("avg_pool2d", "stride", stride);
  const Pair pad = pair_of("avg_pool2d", "padding", padding);
  OPGEN_CHECK(!divisor_override.has_value() || *divisor_override != 0, "divisor must be not zero");
  const PoolShape shape =
      pool_shape("avg_pool2d_backward", self, {kernel.height, step.height, pad.height, 1},
                 {kernel.width, step.width, pad.width, 1}, ceil_mode);
  check_grad_output("avg_pool2d_backward", grad_output, self, shape);
  set_output_raw_strided(0, self.sizes(), {}, self.options().memory_format(shape.format));
}
OPGEN_IMPL_FUNC(avg_pool2d_backward_out_cpu)
(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
 IntArrayRef padding, bool /*ceil_mode*/, bool count_include_pad,
 std::optional<int64_t> divisor_override, const Tensor& grad_input) {
  const Pair kernel = pair_of("avg_pool2d", "kernel_size", kernel_size);
  const Pair step = stride.empty() ? kernel : pair_of("avg_pool2d", "stride", stride);
  const Pair pad = pair_of("avg_pool2d", "padding", padding);
  const int64_t height = self.size(-2), width = self.size(-1);
  const int64_t rows = grad_output.size(-2), columns = grad_output.size(-1);
  OPGEN_DISPATCH(
      self.scalar_type(), "avg_pool2d_backward", OPGEN_WRAP([&] {
        using wide = sum_t<scalar_t>;
        const scalar_t* from = grad_output.const_data_ptr<scalar_t>();
        scalar_t* to = grad_input.mutable_data_ptr<scalar_t>();
        const int64_t work =
            rows * columns * std::min(kernel.height, height) * std::min(kernel.width, width);
        for_each_plane(
            grad_output, grad_input, grad_input, work, [&](int64_t in, int64_t result, int64_t) {
              PlaneSum<scalar_t> sum(height, width);
              for (int64_t i = 0; i < rows; ++i) {
                for (int64_t j = 0; j < columns; ++j) {
                  int64_t top = i * step.height - pad.height, left = j * step.width - pad.width;
                  int64_t bottom = std::min(top + kernel.height, height + pad.height),
                          right = std::min(left + kernel.width, width + pad.width);
                  const int64_t padded = (bottom - top) * (right - left);
                  top = std::max<int64_t>(top, 0);
                  left = std::max<int64_t>(left, 0);
                  bottom = std::min(bottom, height);
                  right = std::min(right, width);
                  if (top >= bottom || left >= right) continue;
                  const int64_t divisor = divisor_override.has_value() ? *divisor_override
                                          : count_include_pad          ? padded
                                                              : (bottom - top) * (right - left);
                  const wide share =
                      static_cast<wide>(
                          from[in + i * grad_output.stride(-2) + j * grad_output.stride(-1)]) /
                      static_cast<wide>(divisor);
                  for (int64_t y = top; y < bottom; ++y) {
                    for (int64_t x = left; x < right; ++x) sum.add(y * width + x, share);
                  }
                }
              }
              sum.store(to + result, grad_input.stride(-2), grad_input.stride(-1));
            });
      }),
      Long, OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES);
}

OPGEN_META_FUNC(max_pool2d_with_indices_backward)
(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
 IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const Tensor& indices) {
  const MaxPool pool = max_pool_of(kernel_size, stride, padding, dilation);
  const PoolShape shape = pool_shape("max_pool2d_with_indices_backward", self, pool.vertical,
                                     pool.horizontal, ceil_mode);
  check_grad_output("max_pool2d_with_indices_backward", grad_output, self, shape);
  OPGEN_CHECK(same_sizes(indices.sizes(), shape.sizes),
              "max_pool2d_with_indices_backward: expected indices of sizes ", shape.sizes, ", got ",
              indices.sizes());
  check_same_device("max_pool2d_with_indices_backward", indices, self);
  set_output_raw_strided(0, self.sizes(), {}, self.options().memory_format(shape.format));
}
OPGEN_IMPL_FUNC(max_pool2d_with_indices_backward_out_cpu)
(const Tensor& grad_output, const Tensor& self, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef,
 bool, const Tensor& indices, const Tensor& grad_input) {
  const int64_t height = self.size(-2), width = self.size(-1);
  const int64_t rows = grad_output.size(-2), columns = grad_output.size(-1);
  const int64_t* places = indices.const_data_ptr<int64_t>();
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), "max_pool2d_with_indices_backward", [&] {
    const scalar_t* from = grad_output.const_data_ptr<scalar_t>();
    scalar_t* to = grad_input.mutable_data_ptr<scalar_t>();
    for_each_plane(
        grad_output, grad_input, indices, rows * columns + height * width,
        [&](int64_t in, int64_t result, int64_t index) {
          PlaneSum<scalar_t> sum(height, width);
          for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < columns; ++j) {
              const int64_t place = places[index + i * indices.stride(-2) + j * indices.stride(-1)];
              // A window that is all padding has an index outside, and no gradient.
              if (place < 0 || place >= height * width) continue;
              sum.add(place,
                      static_cast<sum_t<scalar_t>>(
                          from[in + i * grad_output.stride(-2) + j * grad_output.stride(-1)]));
            }
          }
          sum.store(to + result, grad_input.stride(-2), grad_input.stride(-1));
        });
  });
}

OPGEN_KERNEL(_adaptive_avg_pool2d_backward)(const Tensor& grad_output, const Tensor& self) {
  check_adaptive("adaptive_avg_pool2d_backward", self);
  check_adaptive("adaptive_avg_pool2d_backward", grad_output);
  bool fits = grad_output.dim() == self.dim();
  for (int64_t d = 0; fits && d < self.dim() - 2; ++d) fits = grad_output.size(d) == self.size(d);
  OPGEN_CHECK(fits,
              "adaptive_avg_pool2d_backward: expected grad_output with the batch and channels "
              "of the input of sizes ",
              self.sizes(), ", got ", grad_output.sizes());
  OPGEN_CHECK(grad_output.scalar_type() == self.scalar_type(), "expected dtype ",
              grad_output.scalar_type(), " for `input` but got dtype ", self.scalar_type());
  check_same_device("adaptive_avg_pool2d_backward", grad_output, self);
  const MemoryFormat format =
      self.dim() == 4 ? self.suggest_memory_format() : MemoryFormat::Contiguous;
  const Tensor grad_input = opgen::empty(self.sizes(), self.options().memory_format(format));
  if (grad_input.is_meta()) return grad_input;
  const int64_t height = self.size(-2), width = self.size(-1);
  const int64_t rows = grad_output.size(-2), columns = grad_output.size(-1);
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), "adaptive_avg_pool2d_backward", [&] {
    using wide = sum_t<scalar_t>;
    const scalar_t* from = grad_output.const_data_ptr<scalar_t>();
    scalar_t* to = grad_input.mutable_data_ptr<scalar_t>();
    for_each_plane(
        grad_output, grad_input, grad_input, std::max(height * width, rows * columns),
        [&](int64_t in, int64_t result, int64_t) {
          PlaneSum<scalar_t> sum(height, width);
          for (int64_t i = 0; i < rows; ++i) {
            const Share vertical(i, rows, height);
            for (int64_t j = 0; j < columns; ++j) {
              const Share horizontal(j, columns, width);
              const int64_t count =
                  (vertical.end - vertical.begin) * (horizontal.end - horizontal.begin);
              const wide share =
                  static_cast<wide>(
                      from[in + i * grad_output.stride(-2) + j * grad_output.stride(-1)]) /
                  static_cast<wide>(count);
              for (int64_t y = vertical.begin; y < vertical.end; ++y) {
                for (int64_t x = horizontal.begin; x < horizontal.end; ++x) {
                  sum.add(y * width + x, share);
                }
              }
            }
          }
          sum.store(to + result, grad_input.stride(-2), grad_input.stride(-1));
        });
  });
  return grad_input;
}
