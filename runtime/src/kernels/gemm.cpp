// gemm.cpp: copies blocks of both factors into panels that stay in the cache, and multiplies them
// by a kernel whose results stay in registers.
#include "opgen/cpu/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "opgen/core/bfloat16.h"
#include "opgen/core/error.h"
#include "opgen/core/half.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/convert_rows.h"
#include "opgen/cpu/reduce.h"
#include "opgen/cpu/vec.h"

namespace opgen {

namespace {

// The registers of a kernel hold kRows rows of kVectors vectors.
struct WithFma {
  static constexpr int kBytes = 32, kRows = 6, kVectors = 2;
};
struct Plain {
  static constexpr int kBytes = 16, kRows = 4, kVectors = 2;
};

// A vector of one number, loaded at once. (Adding it to zeros would take an addition, because of
// -0.)
template <class V>
OPGEN_ALWAYS_INLINE V repeated(typename V::Element value) noexcept {
  return V::of(value - typename V::Native{});
}

// Sets the tile `to` to the product of two panels, or adds it.
template <class W, class Set>
OPGEN_ALWAYS_INLINE void multiply_panels(std::int64_t depth, const W* a, const W* b, W* to,
                                         std::int64_t step, bool adds) {
  constexpr int rows = Set::kRows, vectors = Set::kVectors;
  using V = Vec<W, Set::kBytes>;
  V sums[rows][vectors];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sums[i][v] = V(W(0));
  }
  for (std::int64_t p = 0; p < depth; ++p) {
    V factors[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) factors[v] = V::load(b + v * V::size);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const V factor = repeated<V>(a[i]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        sums[i][v] = multiply_add(factor, factors[v], sums[i][v]);
      }
    }
    a += rows;
    b += vectors * V::size;
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      W* at = to + i * step + v * V::size;
      (adds ? V::load(at) + sums[i][v] : sums[i][v]).store(at);
    }
  }
}

// The sum of products of two contiguous vectors, in four vectors of sums.
template <class W, int bytes, class T>
OPGEN_ALWAYS_INLINE W dot_here(const T* a, const T* b, std::int64_t n) {
  using V = Vec<W, bytes>;
  V sums[4] = {V(W(0)), V(W(0)), V(W(0)), V(W(0))};
  std::int64_t i = 0;
  for (; i + 4 * V::size <= n; i += 4 * V::size) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      sums[k] = multiply_add(detail::load_vector<W, bytes>(a + i + k * V::size),
                             detail::load_vector<W, bytes>(b + i + k * V::size), sums[k]);
    }
  }
  for (; i + V::size <= n; i += V::size) {
    sums[0] = multiply_add(detail::load_vector<W, bytes>(a + i),
                           detail::load_vector<W, bytes>(b + i), sums[0]);
  }
  const V all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  W total = 0;
  for (std::int64_t k = 0; k < V::size; ++k) total += all[k];
  for (; i < n; ++i) total += static_cast<W>(a[i]) * static_cast<W>(b[i]);
  return total;
}

// sums[i] += the sum over k < count of factors[k] * columns[k * step + i].
template <class W, int bytes>
OPGEN_ALWAYS_INLINE void add_columns_here(W* sums, const W* columns, std::int64_t step,
                                          const W* factors, std::int64_t count, std::int64_t n) {
  using V = Vec<W, bytes>;
  std::int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const W* at = columns + k * step;
    const V times[4] = {V(factors[k]), V(factors[k + 1]), V(factors[k + 2]), V(factors[k + 3])};
    std::int64_t i = 0;
    for (; i + V::size <= n; i += V::size) {
      V sum = V::load(sums + i);
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) {
        sum = multiply_add(times[c], V::load(at + c * step + i), sum);
      }
      sum.store(sums + i);
    }
    for (; i < n; ++i) {
      for (int c = 0; c < 4; ++c) sums[i] += factors[k + c] * at[c * step + i];
    }
  }
  for (; k < count; ++k) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] += factors[k] * columns[k * step + i];
  }
}

template <class W>
OPGEN_NOINLINE void multiply_plain(std::int64_t depth, const W* a, const W* b, W* to,
                                   std::int64_t step, bool adds) {
  multiply_panels<W, Plain>(depth, a, b, to, step, adds);
}
template <class W, class T = W>
OPGEN_NOINLINE W dot_plain(const T* a, const T* b, std::int64_t n) {
  return dot_here<W, 16>(a, b, n);
}
template <class W>
OPGEN_NOINLINE void add_columns_plain(W* sums, const W* columns, std::int64_t step,
                                      const W* factors, std::int64_t count, std::int64_t n) {
  add_columns_here<W, 16>(sums, columns, step, factors, count, n);
}
#if OPGEN_LOOPS_AVX2
template <class W>
OPGEN_NOINLINE OPGEN_TARGET_FMA void multiply_fma(std::int64_t depth, const W* a, const W* b, W* to,
                                                  std::int64_t step, bool adds) {
  multiply_panels<W, WithFma>(depth, a, b, to, step, adds);
}
template <class W, class T = W>
OPGEN_NOINLINE OPGEN_TARGET_FMA W dot_fma(const T* a, const T* b, std::int64_t n) {
  return dot_here<W, 32>(a, b, n);
}
template <class W>
OPGEN_NOINLINE OPGEN_TARGET_FMA void add_columns_fma(W* sums, const W* columns, std::int64_t step,
                                                     const W* factors, std::int64_t count,
                                                     std::int64_t n) {
  add_columns_here<W, 32>(sums, columns, step, factors, count, n);
}
#endif

// The functions for this processor.
template <class W>
struct Functions {
  void (*multiply)(std::int64_t, const W*, const W*, W*, std::int64_t, bool) = multiply_plain<W>;
  W (*dot)(const W*, const W*, std::int64_t) = dot_plain<W>;
  void (*add_columns)(W*, const W*, std::int64_t, const W*, std::int64_t,
                      std::int64_t) = add_columns_plain<W>;
  std::int64_t rows = Plain::kRows;
  std::int64_t columns = Plain::kVectors * Plain::kBytes / std::int64_t(sizeof(W));

  Functions() noexcept {
#if OPGEN_LOOPS_AVX2
    if (!detail::use_fma()) return;
    multiply = multiply_fma<W>;
    dot = dot_fma<W>;
    add_columns = add_columns_fma<W>;
    rows = WithFma::kRows;
    columns = WithFma::kVectors * WithFma::kBytes / std::int64_t(sizeof(W));
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
      if (width == 16) {  // a constant size is copied without a call
        for (; i < full; i += 16, at += panel) std::memcpy(at, line + i, 16 * sizeof(W));
      } else {
        for (; i < full; i += width, at += panel) {
          for (std::int64_t k = 0; k < width; ++k) at[k] = line[i + k];
        }
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
                   const Functions<W>& use, const FinishRow<W>& finish) {
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
void multiply_vector(const MatrixView& a, const VectorView& x, const Functions<W>& use,
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
  static const Functions<W> use;
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

// The sum of products of adjacent elements. Rows of bfloat16 are not converted to a copy first,
// which would take a third of the time.
template <class T, class W>
W dot_of_rows(const T* a, const T* b, std::int64_t n, const Functions<W>& use) {
  if constexpr (std::is_same_v<T, W>) {
    return use.dot(a, b, n);
  } else {
#if OPGEN_LOOPS_AVX2
    if (detail::use_fma()) return dot_fma<W, T>(a, b, n);
#endif
    return dot_plain<W, T>(a, b, n);
  }
}

template <class T, class W>
W dot(const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride, std::int64_t n,
      const Functions<W>& use) {
  constexpr std::int64_t most = 1024;
  if (n <= most) {
    if constexpr (std::is_same_v<T, W> || std::is_same_v<T, BFloat16>) {
      if (a_stride == 1 && b_stride == 1) return dot_of_rows<T, W>(a, b, n, use);
    }
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
  static const Functions<W> use;
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
