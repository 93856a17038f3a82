// convolve.h: a convolution without columns. Each output row is a sum of input rows, read
// at the places where they lie, times numbers of the weight; the sums stay in registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "opgen/core/parallel.h"
#include "opgen/cpu/convert_rows.h"
#include "opgen/cpu/vec.h"

namespace opgen {

namespace detail {

// Numbers of one row of the input, times those of `rows` channels of the weight, for `vectors`
// vectors of places:
//
//   sums[c * step + x] (+)= the sum over p < depth of factors(c, p) * data[offsets[p] + x]
//
// `rows` channels are interleaved in a block; `blocks` blocks, which are `apart` from one another,
// are summed at once.
template <class W, int bytes, int rows, int blocks, int vectors>
OPGEN_ALWAYS_INLINE void sum_rows_here(std::int64_t depth, const W* factors, std::int64_t apart,
                                       const W* data, const std::int64_t* offsets, W* sums,
                                       std::int64_t step, bool adds) {
  using V = Vec<W, bytes>;
  V totals[blocks * rows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < blocks * rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) totals[r][v] = V(W(0));
  }
  for (std::int64_t p = 0; p < depth; ++p, factors += rows) {
    const W* at = data + offsets[p];
    V values[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) values[v] = V::load(at + v * V::size);
#pragma GCC unroll 8
    for (int r = 0; r < blocks * rows; ++r) {
      const V factor = V::of(factors[r / rows * apart + r % rows] - typename V::Native{});
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        totals[r][v] = multiply_add(factor, values[v], totals[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < blocks * rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      W* at = sums + r * step + v * V::size;
      (adds ? V::load(at) + totals[r][v] : totals[r][v]).store(at);
    }
  }
}

template <class W>
using SumRows = void (*)(std::int64_t depth, const W* factors, std::int64_t apart, const W* data,
                         const std::int64_t* offsets, W* sums, std::int64_t step, bool adds);

template <class W, int rows, int blocks, int vectors>
OPGEN_NOINLINE void sum_rows_plain(std::int64_t depth, const W* factors, std::int64_t apart,
                                   const W* data, const std::int64_t* offsets, W* sums,
                                   std::int64_t step, bool adds) {
  sum_rows_here<W, 16, rows, blocks, vectors>(depth, factors, apart, data, offsets, sums, step,
                                              adds);
}
#if OPGEN_LOOPS_AVX2
template <class W, int rows, int blocks, int vectors>
OPGEN_NOINLINE OPGEN_TARGET_FMA void sum_rows_fma(std::int64_t depth, const W* factors,
                                                  std::int64_t apart, const W* data,
                                                  const std::int64_t* offsets, W* sums,
                                                  std::int64_t step, bool adds) {
  sum_rows_here<W, 32, rows, blocks, vectors>(depth, factors, apart, data, offsets, sums, step,
                                              adds);
}
#endif

// The loops for this processor, for weights of one channel or of several.
template <class W>
struct RowSums {
  // By the number of vectors: 1, with two blocks if there are two, 2 and 3.
  SumRows<W> several[4], two_blocks, alone[4];
  std::int64_t width;

  RowSums() noexcept
      : several{nullptr, sum_rows_plain<W, 4, 1, 1>, sum_rows_plain<W, 4, 1, 2>,
                sum_rows_plain<W, 4, 1, 3>},
        two_blocks(sum_rows_plain<W, 4, 2, 1>),
        alone{nullptr, sum_rows_plain<W, 1, 1, 1>, sum_rows_plain<W, 1, 1, 2>,
              sum_rows_plain<W, 1, 1, 3>},
        width(16 / std::int64_t(sizeof(W))) {
#if OPGEN_LOOPS_AVX2
    if (!use_fma()) return;
    several[1] = sum_rows_fma<W, 4, 1, 1>;
    several[2] = sum_rows_fma<W, 4, 1, 2>;
    several[3] = sum_rows_fma<W, 4, 1, 3>;
    two_blocks = sum_rows_fma<W, 4, 2, 1>;
    alone[1] = sum_rows_fma<W, 1, 1, 1>;
    alone[2] = sum_rows_fma<W, 1, 1, 2>;
    alone[3] = sum_rows_fma<W, 1, 1, 3>;
    width = 32 / std::int64_t(sizeof(W));
#endif
  }
};

}  // namespace detail

// The elements by which lines of the input may be read beyond their end.
inline constexpr std::int64_t kConvolutionSlack = 8;

template <class W>
struct DirectConvolution {
  const W* input;
  std::int64_t input_batch, input_group;  // strides
  // For each number of a row of the weight, where its first factor lies; for each output row, where
  // the row of the input begins.
  std::vector<std::int64_t> offsets, rows;
  const W* weight;  // groups x made x offsets.size(), contiguous
  const W* bias;    // of each output channel, or null
  W* output;        // batch x groups x made x rows.size() x width, contiguous
  std::int64_t batch, groups, made, width;

  void run() const;

 private:
  // Some places of an output row.
  struct Spot {
    std::int64_t line, x, vectors;
  };
  [[nodiscard]] std::int64_t interleaved() const { return made == 1 ? 1 : 4; }
  [[nodiscard]] std::int64_t blocks() const { return (made + 3) / 4; }
  [[nodiscard]] std::vector<W> packed() const;
  void sum(const detail::RowSums<W>& use, const W* data, const W* factors,
           const std::vector<Spot>& spots, W* sums) const;
  void finish(const std::vector<Spot>& spots, const W* sums, const W* added, W* to,
              std::int64_t vector) const;
};

// Returns the weight with the channels of a block interleaved, and zeros for channels that are
// missing.
template <class W>
std::vector<W> DirectConvolution<W>::packed() const {
  const auto depth = static_cast<std::int64_t>(offsets.size());
  const std::int64_t n = interleaved(), of_group = blocks() * depth * n;
  std::vector<W> all(static_cast<std::size_t>(groups * of_group), W(0));
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t m = 0; m < made; ++m) {
      const W* from = weight + (g * made + m) * depth;
      W* to = all.data() + g * of_group + m / n * depth * n + m % n;
      for (std::int64_t p = 0; p < depth; ++p) to[p * n] = from[p];
    }
  }
  return all;
}

// Each spot has 3 vectors of sums for each channel.
template <class W>
void DirectConvolution<W>::sum(const detail::RowSums<W>& use, const W* data, const W* factors,
                               const std::vector<Spot>& spots, W* sums) const {
  constexpr std::int64_t deepest = 256;
  const auto depth = static_cast<std::int64_t>(offsets.size());
  const std::int64_t n = interleaved(), count = blocks(), step = 3 * use.width;
  for (std::int64_t k = 0; k < depth; k += deepest) {
    const std::int64_t some = std::min(deepest, depth - k);
    for (std::int64_t b = 0; b < count; b += 2) {
      W* to = sums + b * n * step;
      const W* from = factors + (b * depth + k) * n;
      for (const Spot& spot : spots) {
        const W* at = data + rows[static_cast<std::size_t>(spot.line)] + spot.x;
        const bool both = b + 1 < count;
        if (both && spot.vectors == 1) {
          use.two_blocks(some, from, depth * n, at, offsets.data() + k, to, step, k != 0);
        } else {
          const auto loop = (n == 1 ? use.alone : use.several)[spot.vectors];
          loop(some, from, 0, at, offsets.data() + k, to, step, k != 0);
          if (both) {
            loop(some, from + depth * n, 0, at, offsets.data() + k, to + n * step, step, k != 0);
          }
        }
        to += count * n * step;
      }
    }
  }
}

template <class W>
void DirectConvolution<W>::finish(const std::vector<Spot>& spots, const W* sums, const W* added,
                                  W* to, std::int64_t vector) const {
  const auto lines = static_cast<std::int64_t>(rows.size());
  for (const Spot& spot : spots) {
    const std::int64_t count = std::min(width - spot.x, spot.vectors * vector);
    for (std::int64_t m = 0; m < made; ++m) {
      const W* from = sums + m * 3 * vector;
      W* at = to + (m * lines + spot.line) * width + spot.x;
      const W more = added == nullptr ? W(0) : added[m];
      for (std::int64_t c = 0; c < count; ++c) at[c] = from[c] + more;
    }
    sums += blocks() * interleaved() * 3 * vector;
  }
}

// Threads divide the output rows. A sum is added in the same order wherever the parts begin.
template <class W>
void DirectConvolution<W>::run() const {
  static const detail::RowSums<W> use;
  // A weight that does not fit into the second-level cache is read once for many spots.
  constexpr std::int64_t cached = (1 << 18) / sizeof(W), most_sums = (1 << 17) / sizeof(W);
  const auto depth = static_cast<std::int64_t>(offsets.size());
  const auto lines = static_cast<std::int64_t>(rows.size());
  const std::int64_t of_group = blocks() * depth * interleaved();
  const std::int64_t of_spot = blocks() * interleaved() * 3 * use.width;
  const std::size_t most = static_cast<std::size_t>(
      of_group <= cached ? 1 : std::max<std::int64_t>(1, most_sums / of_spot));
  const std::vector<W> factors = packed();
  const std::int64_t work = depth * made * width;
  parallel_for(0, batch * groups * lines, std::max<std::int64_t>(1, 8 * kGrainSize / (work + 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 const auto sums =
                     std::make_unique_for_overwrite<W[]>(most * static_cast<std::size_t>(of_spot));
                 std::vector<Spot> spots;
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t line = i % lines, plane = i / lines, g = plane % groups;
                   const auto run_spots = [&] {
                     sum(use, input + plane / groups * input_batch + g * input_group,
                         factors.data() + g * of_group, spots, sums.get());
                     finish(spots, sums.get(), bias == nullptr ? nullptr : bias + g * made,
                            output + plane * made * lines * width, use.width);
                     spots.clear();
                   };
                   for (std::int64_t x = 0; x < width; x += spots.back().vectors * use.width) {
                     const std::int64_t left = (width - x + use.width - 1) / use.width;
                     if (spots.size() == most) run_spots();
                     spots.push_back({line, x, left == 4 ? 2 : std::min<std::int64_t>(3, left)});
                   }
                   if (line == lines - 1 || i == end - 1 || most == 1) run_spots();
                 }
               });
}

}  // namespace opgen
