// gemm.cpp: copies blocks of both factors into panels that stay in the cache, and multiplies them
// by a kernel whose results stay in registers.
#include "opgen/cpu/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "kernels/gemm_rows.h"
#include "kernels/with_vectors.h"
#include "opgen/core/error.h"
#include "opgen/core/half.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/convert_rows.h"

namespace opgen {

namespace {

// Two elements that follow each other in depth, as AVX512-BF16 multiplies them.
using PairOfHalves = std::uint32_t;

// The product of two panels for this processor.
template <class P, class W>
struct Tile {
  void (*multiply)(std::int64_t, const P*, const P*, W*, std::int64_t, bool) = nullptr;
  std::int64_t rows = 0, columns = 0;

  template <int bytes>
  static Tile of() noexcept {
    using Rows = detail::GemmRows<W, bytes, P>;
    return {Rows::multiply, Rows::kRows, Rows::kColumns};
  }
};

// The functions for this processor.
template <class T, class W>
struct Functions {
  Tile<W, W> tile;
  // Empty where there are no such instructions.
  Tile<PairOfHalves, W> pairs;
  void (*add_columns)(W*, const W*, std::int64_t, const W*, std::int64_t, std::int64_t);
  W (*dot)(const W*, const W*, std::int64_t);
  // Of elements as they are in memory.
  W (*direct_dot)(const T*, const T*, std::int64_t) = nullptr;

  Functions() noexcept {
    detail::with_vectors([&]<int bytes> {
      using Rows = detail::GemmRows<W, bytes>;
      tile = Tile<W, W>::template of<bytes>();
      add_columns = Rows::add_columns;
      dot = detail::DotRows<W, W, bytes>::dot;
      if constexpr (std::is_same_v<T, W> || std::is_same_v<T, BFloat16>)
        direct_dot = detail::DotRows<T, W, bytes>::dot;
    });
#if OPGEN_LOOPS_AVX2
    if constexpr (std::is_same_v<T, BFloat16>) {
      if (detail::use_avx512() && __builtin_cpu_supports("avx512bf16")) {
        pairs = Tile<PairOfHalves, W>::template of<64>();
      }
    }
#endif
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

// The elements of a panel that one number of type P holds.
template <class T, class P>
inline constexpr std::int64_t kPaired =
    std::is_same_v<T, BFloat16>&& std::is_same_v<P, PairOfHalves> ? 2 : 1;

// Returns n numbers of a panel: elements, or pairs of one of `from` and one of `next`, which is
// null behind the last element.
template <class T, class P>
const P* panel_line(const T* from, const T* next, std::int64_t stride, std::int64_t n, P* buffer) {
  if constexpr (kPaired<T, P> == 1) {
    return as_line<T, P>(from, stride, n, buffer);
  } else if (next == nullptr) {
    for (std::int64_t i = 0; i < n; ++i) buffer[i] = from[i * stride].x;
  } else if (stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) buffer[i] = from[i].x | P(next[i].x) << 16;
  } else if (stride == 2 && next == from + 1) {
    std::memcpy(buffer, from, static_cast<std::size_t>(n) * sizeof(P));
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      buffer[i] = from[i * stride].x | P(next[i * stride].x) << 16;
    }
  }
  return buffer;
}

// Copies a block into panels of `width` lines, in which the numbers of one depth are adjacent. The
// last panel is filled with zeros.
template <class T, class P>
void pack(const FactorBlock<T>& block, std::int64_t width, P* to, P* buffer) {
  constexpr std::int64_t paired = kPaired<T, P>;
  const std::int64_t whole = block.depth / paired, depth = (block.depth + paired - 1) / paired;
  const std::int64_t panel = width * depth;
  const std::int64_t full = block.across / width * width;
  if (full != block.across) {
    std::fill_n(to + block.across / width * panel, panel, P(0));
  }
  if (std::abs(block.across_stride) <= std::abs(block.depth_stride)) {
    for (std::int64_t p = 0; p < depth; ++p) {
      const T* from = block.data + p * paired * block.depth_stride;
      const P* line = panel_line<T, P>(from, p < whole ? from + block.depth_stride : nullptr,
                                       block.across_stride, block.across, buffer);
      P* at = to + p * width;
      std::int64_t i = 0;
      // A constant size is copied without a call.
      const auto copy = [&](auto size) {
        for (; i < full; i += size, at += panel) std::memcpy(at, line + i, size * sizeof(P));
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
    const T* from = block.data + i * block.across_stride;
    const P* line = panel_line<T, P>(from, from + block.depth_stride, paired * block.depth_stride,
                                     whole, buffer);
    P* at = to + i / width * panel + i % width;
    for (std::int64_t p = 0; p < whole; ++p) at[p * width] = line[p];
    if (whole < depth) {
      at[whole * width] =
          *panel_line<T, P>(from + paired * whole * block.depth_stride, nullptr, 1, 1, buffer);
    }
  }
}

#if OPGEN_LOOPS_AVX2
OPGEN_TARGET_AVX512 bool has_subnormal(const BFloat16* line, std::int64_t stride, std::int64_t n) {
  // Without their signs and less one, subnormal numbers are the smallest, and 0 is the largest.
  std::uint16_t least = 0xffff;
  const auto add = [&least](BFloat16 x) __attribute__((always_inline)) {
    least = std::min(least, static_cast<std::uint16_t>((x.x & 0x7fffu) - 1u));
  };
  if (stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) add(line[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) add(line[i * stride]);
  }
  return least < 0x7f;
}
// The lines of a matrix along which its elements are closest; strides in elements.
struct Lines {
  const BFloat16* data;
  std::int64_t count, n, step, stride;

  explicit Lines(const MatrixView& matrix) : data(static_cast<const BFloat16*>(matrix.data)) {
    const bool by_row = std::abs(matrix.column_stride) <= std::abs(matrix.row_stride);
    count = by_row ? matrix.rows : matrix.columns;
    n = by_row ? matrix.columns : matrix.rows;
    step = by_row ? matrix.row_stride : matrix.column_stride;
    stride = by_row ? matrix.column_stride : matrix.row_stride;
  }
};

// Whether products of pairs would take an element for zero.
bool has_subnormal(const MatrixView& matrix) {
  Lines lines(matrix);
  if (lines.step == lines.n * lines.stride) {
    lines.n *= lines.count;
    lines.count = 1;
  }
  for (std::int64_t i = 0; i < lines.count; ++i) {
    if (has_subnormal(lines.data + i * lines.step, lines.stride, lines.n)) return true;
  }
  return false;
}

// Returns the matrix, or a copy whose lines are contiguous: panels are packed more than once.
MatrixView with_adjacent_elements(const MatrixView& matrix, std::unique_ptr<BFloat16[]>& copy) {
  constexpr std::int64_t item = sizeof(BFloat16);
  const Lines lines(matrix);
  if (std::abs(lines.stride) <= 1) return matrix;
  copy =
      std::make_unique_for_overwrite<BFloat16[]>(static_cast<std::size_t>(lines.count * lines.n));
  parallel_for(0, lines.count, std::max<std::int64_t>(1, kGrainSize / lines.n),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t i = first; i < last; ++i) {
                   detail::move_elements(reinterpret_cast<char*>(copy.get() + i * lines.n), item,
                                         reinterpret_cast<const char*>(lines.data + i * lines.step),
                                         lines.stride * item, lines.n, item);
                 }
               });
  MatrixView result = matrix;
  result.data = copy.get();
  const bool by_row = lines.step == matrix.row_stride;
  result.row_stride = by_row ? lines.n : 1;
  result.column_stride = by_row ? 1 : lines.n;
  return result;
}
#endif

// Blocks of the first factor stay in the second-level cache, those of the second in the third.
constexpr std::int64_t kDepth = 256, kRowsOfA = 96, kColumns = 512, kRowsOfSums = 1056;

template <class T, class P, class W>
void multiply_part(const MatrixView& a, const MatrixView& b, std::int64_t row_begin,
                   std::int64_t row_end, std::int64_t column_begin, std::int64_t column_end,
                   const Tile<P, W>& tile, const FinishRow<W>& finish) {
  constexpr std::int64_t paired = kPaired<T, P>, most_depth = paired * kDepth;
  const T* left = static_cast<const T*>(a.data);
  const T* right = static_cast<const T*>(b.data);
  const std::int64_t depth = a.columns;
  const std::int64_t deepest = (std::min(depth, most_depth) + paired - 1) / paired;
  // Sums over several blocks are kept for many rows, so that `b` is packed seldom.
  const bool once = depth <= most_depth;
  const std::int64_t most_rows = once ? row_end - row_begin : kRowsOfSums;
  const std::int64_t sum_rows =
      round_up(std::min(once ? kRowsOfA : kRowsOfSums, row_end - row_begin), tile.rows);
  const std::int64_t width = round_up(std::min(kColumns, column_end - column_begin), tile.columns);
  const std::int64_t a_rows = round_up(std::min(kRowsOfA, row_end - row_begin), tile.rows);
  const std::int64_t packed =
      a_rows * deepest + width * deepest + std::max({a_rows, width, deepest});
  const auto memory = std::make_unique_for_overwrite<char[]>(
      sizeof(W) * static_cast<std::size_t>(sum_rows * width) +
      sizeof(P) * static_cast<std::size_t>(packed));
  W* sums = reinterpret_cast<W*>(memory.get());
  P* packed_a = reinterpret_cast<P*>(sums + sum_rows * width);
  P* packed_b = packed_a + a_rows * deepest;
  P* buffer = packed_b + width * deepest;

  const auto finish_rows = [&](std::int64_t from, std::int64_t to, std::int64_t j, std::int64_t n) {
    for (std::int64_t i = from; i < to; ++i) finish(i, j, sums + (i - from) * width, n);
  };
  for (std::int64_t i0 = row_begin; i0 < row_end; i0 += most_rows) {
    const std::int64_t i1 = std::min(row_end, i0 + most_rows);
    for (std::int64_t j0 = column_begin; j0 < column_end; j0 += kColumns) {
      const std::int64_t n = std::min(kColumns, column_end - j0);
      for (std::int64_t k0 = 0; k0 < depth; k0 += most_depth) {
        const std::int64_t k = std::min(most_depth, depth - k0);
        const std::int64_t packed_depth = (k + paired - 1) / paired;
        pack<T, P>(
            {right + k0 * b.row_stride + j0 * b.column_stride, n, k, b.column_stride, b.row_stride},
            tile.columns, packed_b, buffer);
        for (std::int64_t i = i0; i < i1; i += kRowsOfA) {
          const std::int64_t m = std::min(kRowsOfA, i1 - i);
          pack<T, P>(
              {left + i * a.row_stride + k0 * a.column_stride, m, k, a.row_stride, a.column_stride},
              tile.rows, packed_a, buffer);
          W* to = sums + (once ? 0 : i - i0) * width;
          for (std::int64_t x = 0; x < n; x += tile.columns) {
            for (std::int64_t y = 0; y < m; y += tile.rows) {
              tile.multiply(packed_depth, packed_a + y * packed_depth, packed_b + x * packed_depth,
                            to + y * width + x, width, k0 != 0);
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

// Threads divide the longer side. Every element is the same sum wherever the parts begin.
template <class T, class P, class W>
void multiply_tiles(const MatrixView& a, const MatrixView& b, const Tile<P, W>& tile,
                    const FinishRow<W>& finish) {
  const bool by_row = a.rows >= b.columns;
  const std::int64_t step = by_row ? tile.rows : tile.columns;
  const std::int64_t length = by_row ? a.rows : b.columns;
  const std::int64_t work = step * a.columns * (by_row ? b.columns : a.rows);
  parallel_for(0, (length + step - 1) / step,
               std::max<std::int64_t>(1, 8 * kGrainSize / (work + 1)),
               [&](std::int64_t first, std::int64_t last) {
                 const std::int64_t begin = first * step, end = std::min(length, last * step);
                 multiply_part<T>(a, b, by_row ? begin : 0, by_row ? end : a.rows,
                                  by_row ? 0 : begin, by_row ? b.columns : end, tile, finish);
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
#if OPGEN_LOOPS_AVX2
  if constexpr (std::is_same_v<T, BFloat16>) {
    if (use.pairs.rows != 0) {
      std::unique_ptr<BFloat16[]> copies[2];
      const MatrixView left = with_adjacent_elements(a, copies[0]);
      const MatrixView right = with_adjacent_elements(b, copies[1]);
      if (!has_subnormal(left) && !has_subnormal(right)) {
        return multiply_tiles<T>(left, right, use.pairs, finish);
      }
    }
  }
#endif
  multiply_tiles<T>(a, b, use.tile, finish);
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
