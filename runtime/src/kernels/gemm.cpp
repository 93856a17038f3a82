// gemm.cpp: copies blocks of both factors into panels that stay in the cache, and multiplies them
// by a kernel whose results stay in registers.
#include "opgen/cpu/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "cpu/with_vectors.h"
#include "kernels/gemm_rows.h"
#include "opgen/core/bfloat16.h"
#include "opgen/core/error.h"
#include "opgen/core/half.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/convert_rows.h"

namespace opgen {

namespace {

// The functions for this processor.
template <class T, class W>
struct Functions {
  void (*multiply)(std::int64_t, const W*, const W*, W*, std::int64_t, bool);
  void (*add_columns)(W*, const W*, std::int64_t, const W*, std::int64_t, std::int64_t);
  W (*dot)(const W*, const W*, std::int64_t);
  // Of elements as they are in memory.
  W (*direct_dot)(const T*, const T*, std::int64_t) = nullptr;
  std::int64_t rows, columns;

  Functions() noexcept {
    detail::with_vectors([&]<int bytes> {
      using Rows = detail::GemmRows<W, bytes>;
      multiply = Rows::multiply;
      add_columns = Rows::add_columns;
      dot = detail::DotRows<W, W, bytes>::dot;
      if constexpr (std::is_same_v<T, W> || std::is_same_v<T, BFloat16>)
        direct_dot = detail::DotRows<T, W, bytes>::dot;
      rows = Rows::kRows;
      columns = Rows::kColumns;
    });
  }
};

// Returns n elements as numbers of type W: themselves if they are that, else a copy in `buffer`.
template <class T, class W>
const W* as_line(const T* from, std::int64_t stride, std::int64_t n, W* buffer) {
  if constexpr (std::is_same_v<T, W>) {
    if (stride == 1) return from;
  }
  const char* at = reinterpret_cast<const char*>(from);
  const std::int64_t step = stride * std::int64_t(sizeof(T));
#if OPGEN_LOOPS_AVX2
  if (detail::use_fma()) {
    detail::load_row_fma<T, W>(buffer, at, step, n);
    return buffer;
  }
#endif
  detail::load_row<T, W>(buffer, at, step, n);
  return buffer;
}

std::int64_t round_up(std::int64_t n, std::int64_t step) {
  return (n + step - 1) / step * step;
}

// A block of a factor: `across` lines of `depth` elements.
template <class T>
struct FactorBlock {
  const T* data;
  std::int64_t across, depth, across_stride, depth_stride;
};

// Copies a block into panels of `width` lines, in which the elements of one depth are adjacent. The
// last panel is filled with zeros.
template <class T, class W>
void pack(const FactorBlock<T>& block, std::int64_t width, W* to, W* buffer) {
  const std::int64_t panel = width * block.depth;
  const std::int64_t full = block.across / width * width;
  if (full != block.across) {
    std::fill_n(to + block.across / width * panel, panel, W(0));
  }
  if (std::abs(block.across_stride) <= std::abs(block.depth_stride)) {
    for (std::int64_t p = 0; p < block.depth; ++p) {
      const W* line = as_line<T, W>(block.data + p * block.depth_stride, block.across_stride,
                                    block.across, buffer);
      W* at = to + p * width;
      std::int64_t i = 0;
      // A constant size is copied without a call.
      const auto copy = [&](auto size) {
        for (; i < full; i += size, at += panel) std::memcpy(at, line + i, size * sizeof(W));
      };
      if (width == 16) {
        copy(std::integral_constant<std::int64_t, 16>());
      } else if (width == 32) {
        copy(std::integral_constant<std::int64_t, 32>());
      } else {
        copy(width);
      }
      for (std::int64_t k = 0; i + k < block.across; ++k) at[k] = line[i + k];
    }
    return;
  }
  for (std::int64_t i = 0; i < block.across; ++i) {
    const W* line = as_line<T, W>(block.data + i * block.across_stride, block.depth_stride,
                                  block.depth, buffer);
    W* at = to + i / width * panel + i % width;
    for (std::int64_t p = 0; p < block.depth; ++p) at[p * width] = line[p];
  }
}

// Blocks of the first factor stay in the second-level cache, those of the second in the third.
constexpr std::int64_t kDepth = 256, kRowsOfA = 96, kColumns = 512, kRowsOfSums = 960;

template <class T, class W>
void multiply_part(const MatrixView& a, const MatrixView& b, std::int64_t row_begin,
                   std::int64_t row_end, std::int64_t column_begin, std::int64_t column_end,
                   const Functions<T, W>& use, const FinishRow<W>& finish) {
  const T* left = static_cast<const T*>(a.data);
  const T* right = static_cast<const T*>(b.data);
  const std::int64_t depth = a.columns, deepest = std::min(depth, kDepth);
  // Sums over several blocks are kept for many rows, so that `b` is packed seldom.
  const bool once = depth <= kDepth;
  const std::int64_t most_rows = once ? row_end - row_begin : kRowsOfSums;
  const std::int64_t sum_rows =
      round_up(std::min(once ? kRowsOfA : kRowsOfSums, row_end - row_begin), use.rows);
  const std::int64_t width = round_up(std::min(kColumns, column_end - column_begin), use.columns);
  const std::int64_t a_rows = round_up(std::min(kRowsOfA, row_end - row_begin), use.rows);
  const auto memory = std::make_unique_for_overwrite<W[]>(static_cast<std::size_t>(
      sum_rows * width + a_rows * deepest + width * deepest + std::max({a_rows, width, deepest})));
  W* sums = memory.get();
  W* packed_a = sums + sum_rows * width;
  W* packed_b = packed_a + a_rows * deepest;
  W* buffer = packed_b + width * deepest;

  const auto finish_rows = [&](std::int64_t from, std::int64_t to, std::int64_t j, std::int64_t n) {
    for (std::int64_t i = from; i < to; ++i) finish(i, j, sums + (i - from) * width, n);
  };
  for (std::int64_t i0 = row_begin; i0 < row_end; i0 += most_rows) {
    const std::int64_t i1 = std::min(row_end, i0 + most_rows);
    for (std::int64_t j0 = column_begin; j0 < column_end; j0 += kColumns) {
      const std::int64_t n = std::min(kColumns, column_end - j0);
      for (std::int64_t k0 = 0; k0 < depth; k0 += kDepth) {
        const std::int64_t k = std::min(kDepth, depth - k0);
        pack<T, W>(
            {right + k0 * b.row_stride + j0 * b.column_stride, n, k, b.column_stride, b.row_stride},
            use.columns, packed_b, buffer);
        for (std::int64_t i = i0; i < i1; i += kRowsOfA) {
          const std::int64_t m = std::min(kRowsOfA, i1 - i);
          pack<T, W>(
              {left + i * a.row_stride + k0 * a.column_stride, m, k, a.row_stride, a.column_stride},
              use.rows, packed_a, buffer);
          W* to = sums + (once ? 0 : i - i0) * width;
          for (std::int64_t x = 0; x < n; x += use.columns) {
            for (std::int64_t y = 0; y < m; y += use.rows) {
              use.multiply(k, packed_a + y * k, packed_b + x * k, to + y * width + x, width,
                           k0 != 0);
            }
          }
          if (once) finish_rows(i, i + m, j0, n);
        }
      }
      if (!once) finish_rows(i0, i1, j0, n);
    }
  }
}

// A matrix times a vector: memory is read once, and nothing is packed.
template <class T, class W>
void multiply_vector(const MatrixView& a, const VectorView& x, const Functions<T, W>& use,
                     FunctionRef<void(std::int64_t, const W*, std::int64_t)> finish) {
  const T* left = static_cast<const T*>(a.data);
  const std::int64_t depth = a.columns;
  const auto factors = std::make_unique_for_overwrite<W[]>(static_cast<std::size_t>(depth));
  const W* vector = as_line<T, W>(static_cast<const T*>(x.data), x.stride, depth, factors.get());
  const bool by_column = std::abs(a.row_stride) < std::abs(a.column_stride);
  constexpr std::int64_t most = 1024;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrainSize / std::max<std::int64_t>(1, depth));
  parallel_for(
      0, a.rows, by_column ? std::max<std::int64_t>(64, grain) : grain,
      [&](std::int64_t begin, std::int64_t end) {
        W sums[most], buffer[most];
        for (std::int64_t i0 = begin; i0 < end; i0 += most) {
          const std::int64_t n = std::min(most, end - i0);
          if (by_column) {
            std::fill_n(sums, n, W(0));
            bool direct = a.row_stride == 1 && std::is_same_v<T, W>;
            if (direct) {
              use.add_columns(sums, reinterpret_cast<const W*>(left + i0), a.column_stride, vector,
                              depth, n);
            } else {
              for (std::int64_t k = 0; k < depth; ++k) {
                const W* column = as_line<T, W>(left + i0 * a.row_stride + k * a.column_stride,
                                                a.row_stride, n, buffer);
                use.add_columns(sums, column, 0, vector + k, 1, n);
              }
            }
          } else {
            for (std::int64_t i = 0; i < n; ++i) {
              const T* row = left + (i0 + i) * a.row_stride;
              W sum = 0;
              for (std::int64_t k = 0; k < depth; k += most) {
                const std::int64_t count = std::min(most, depth - k);
                sum += use.dot(
                    as_line<T, W>(row + k * a.column_stride, a.column_stride, count, buffer),
                    vector + k, count);
              }
              sums[i] = sum;
            }
          }
          finish(i0, sums, n);
        }
      });
}

template <class T, class W>
void multiply(const MatrixView& a, const MatrixView& b, const FinishRow<W>& finish) {
  static const Functions<T, W> use;
  if (a.columns == 0) {
    const std::vector<W> zeros(static_cast<std::size_t>(b.columns), W(0));
    for (std::int64_t i = 0; i < a.rows; ++i) finish(i, 0, zeros.data(), b.columns);
    return;
  }
  if (b.columns == 1) {
    const VectorView x{b.data, b.dtype, b.rows, b.row_stride};
    return multiply_vector<T, W>(a, x, use, [&](std::int64_t i, const W* sums, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) finish(i + k, 0, sums + k, 1);
    });
  }
  if (a.rows == 1) {
    const VectorView x{a.data, a.dtype, a.columns, a.column_stride};
    MatrixView turned = b;
    std::swap(turned.rows, turned.columns);
    std::swap(turned.row_stride, turned.column_stride);
    return multiply_vector<T, W>(
        turned, x, use,
        [&](std::int64_t j, const W* sums, std::int64_t n) { finish(0, j, sums, n); });
  }
  // Threads divide the longer side. Every element is the same sum wherever the parts begin.
  const bool by_row = a.rows >= b.columns;
  const std::int64_t step = by_row ? use.rows : use.columns;
  const std::int64_t length = by_row ? a.rows : b.columns;
  const std::int64_t work = step * a.columns * (by_row ? b.columns : a.rows);
  parallel_for(0, (length + step - 1) / step,
               std::max<std::int64_t>(1, 8 * kGrainSize / (work + 1)),
               [&](std::int64_t first, std::int64_t last) {
                 const std::int64_t begin = first * step, end = std::min(length, last * step);
                 multiply_part<T, W>(a, b, by_row ? begin : 0, by_row ? end : a.rows,
                                     by_row ? 0 : begin, by_row ? b.columns : end, use, finish);
               });
}

template <class T, class W>
W dot(const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride, std::int64_t n,
      const Functions<T, W>& use) {
  constexpr std::int64_t most = 1024;
  if (n <= most) {
    // Rows of bfloat16 are not converted to a copy first, which would take a third of the time.
    if (use.direct_dot && a_stride == 1 && b_stride == 1) return use.direct_dot(a, b, n);
    W left[most], right[most];
    const W* x = as_line<T, W>(a, a_stride, n, left);
    return use.dot(x, as_line<T, W>(b, b_stride, n, right), n);
  }
  const std::int64_t half = round_up(n / 2, most);
  return dot<T, W>(a, a_stride, b, b_stride, half, use) +
         dot<T, W>(a + half * a_stride, a_stride, b + half * b_stride, b_stride, n - half, use);
}

template <class T, class W>
double dot_of(const VectorView& a, const VectorView& b) {
  static const Functions<T, W> use;
  return double(dot<T, W>(static_cast<const T*>(a.data), a.stride, static_cast<const T*>(b.data),
                          b.stride, a.size, use));
}

}  // namespace

void multiply_matrices(const MatrixView& a, const MatrixView& b, FinishRow<float> finish) {
  switch (a.dtype) {
    case kFloat:
      return multiply<float, float>(a, b, finish);
    case kHalf:
      return multiply<Half, float>(a, b, finish);
    case kBFloat16:
      return multiply<BFloat16, float>(a, b, finish);
    default:
      OPGEN_CHECK(false, "multiply_matrices: floats are not the type of sums of ", a.dtype);
  }
}

void multiply_matrices(const MatrixView& a, const MatrixView& b, FinishRow<double> finish) {
  OPGEN_CHECK(a.dtype == kDouble, "multiply_matrices: doubles are not the type of sums of ",
              a.dtype);
  multiply<double, double>(a, b, finish);
}

void multiply_matrices(const MatrixView& a, const MatrixView& b, FinishRow<std::uint32_t> finish) {
  switch (a.dtype) {
    case kByte:
      return multiply<std::uint8_t, std::uint32_t>(a, b, finish);
    case kChar:
      return multiply<std::int8_t, std::uint32_t>(a, b, finish);
    case kShort:
      return multiply<std::int16_t, std::uint32_t>(a, b, finish);
    case kInt:
      return multiply<std::uint32_t, std::uint32_t>(a, b, finish);
    default:
      OPGEN_CHECK(false, "multiply_matrices: 32 bits are not the type of sums of ", a.dtype);
  }
}

void multiply_matrices(const MatrixView& a, const MatrixView& b, FinishRow<std::uint64_t> finish) {
  OPGEN_CHECK(a.dtype == kLong, "multiply_matrices: 64 bits are not the type of sums of ", a.dtype);
  multiply<std::uint64_t, std::uint64_t>(a, b, finish);
}

double dot_product(const VectorView& a, const VectorView& b) {
  switch (a.dtype) {
    case kFloat:
      return dot_of<float, float>(a, b);
    case kDouble:
      return dot_of<double, double>(a, b);
    case kHalf:
      return dot_of<Half, float>(a, b);
    case kBFloat16:
      return dot_of<BFloat16, float>(a, b);
    default:
      OPGEN_CHECK(false, "dot_product: the dtype ", a.dtype, " is not supported");
  }
}

}  // namespace opgen
