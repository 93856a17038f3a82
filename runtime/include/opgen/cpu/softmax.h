// softmax.h: cpu_softmax, exp(x) divided by the sum of exp along a dimension, its logarithm, and
// its gradient.
//
//   cpu_softmax<float>(out, self, dim);
//   cpu_log_softmax<float>(out, self, dim);
//   cpu_softmax_backward<float>(grad_input, grad_output, output, dim);
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <vector>

#include "opgen/cpu/reduce.h"
#include "opgen/cpu/vec_math.h"
#include "opgen/tensor/tensor.h"

// All functions of vectors are inlined: the ABI of vectors passed by value does not matter.
namespace opgen {

namespace detail {

// Softmax of adjacent elements in a row, and along the columns of rows that were collected in
// memory, which is padded to whole vectors; or its logarithm.
template <class M, bool logarithm>
struct SoftmaxRows {
  // Sets a vector to exp(from - shift).
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void exp_here(M* to, const M* from, const Vec<M, bytes>& shift) {
    using V = Vec<M, bytes>;
    vec::exp(V::load(from) - shift).store(to);
  }
  // The sum of exp(x - shift).
  template <int bytes>
  OPGEN_ALWAYS_INLINE static double sum_of_exp_here(const M* from, std::int64_t n,
                                                    const Vec<M, bytes>& shift) {
    using V = Vec<M, bytes>;
    constexpr std::int64_t chains = 4, part = 64 * V::size;
    double total = 0;
    for (std::int64_t i = 0; i < n; i += part) {
      const std::int64_t end = std::min(n, i + part);
      V sums[chains];
      for (std::int64_t k = 0; k < chains; ++k) sums[k] = V(M(0));
      std::int64_t k = i;
      for (; k + chains * V::size <= end; k += chains * V::size) {
        for (std::int64_t c = 0; c < chains; ++c) {
          sums[c] = sums[c] + vec::exp(V::load(from + k + c * V::size) - shift);
        }
      }
      for (; k < end; k += V::size) {
        M last[V::size];
        for (std::int64_t c = 0; c < V::size; ++c) {
          last[c] = k + c < end ? from[k + c] : -std::numeric_limits<M>::infinity();
        }
        sums[0] = sums[0] + vec::exp(V::load(last) - shift);
      }
      join(sums, SumOf());
      total += static_cast<double>(join_vector(sums[0], SumOf()));
    }
    return total;
  }
  // `to` may be `from`.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void row_here(M* to, const M* from, std::int64_t n) {
    using V = Vec<M, bytes>;
    const std::int64_t whole = n / V::size * V::size;
    const V most(fold_row_here<M, M, bytes>(Unchanged(), LargestOf(),
                                            -std::numeric_limits<M>::infinity(), from, n));
    if constexpr (logarithm) {
      const M shift = static_cast<M>(std::log(sum_of_exp_here<bytes>(from, n, most)));
      for (std::int64_t i = 0; i < whole; i += V::size) {
        (V::load(from + i) - most - V(shift)).store(to + i);
      }
      for (std::int64_t i = whole; i < n; ++i) to[i] = from[i] - most[0] - shift;
      return;
    }
    for (std::int64_t i = 0; i < whole; i += V::size) exp_here<bytes>(to + i, from + i, most);
    if (whole < n) {
      M last[V::size];
      most.store(last);
      for (std::int64_t i = whole; i < n; ++i) last[i - whole] = from[i];
      exp_here<bytes>(last, last, most);
      for (std::int64_t i = whole; i < n; ++i) to[i] = last[i - whole];
    }
    const V sum(fold_row_here<M, M, bytes>(Unchanged(), SumOf(), M(0), to, n));
    for (std::int64_t i = 0; i < whole; i += V::size) (V::load(to + i) / sum).store(to + i);
    for (std::int64_t i = whole; i < n; ++i) to[i] /= sum[0];
  }
  // Along the columns of `n` rows of `width` elements.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void columns_here(M* rows, std::int64_t n, std::int64_t width, M* most,
                                               M* sums) {
    using V = Vec<M, bytes>;
    constexpr std::int64_t part = 64;
    for (std::int64_t k = 0; k < width; k += V::size) {
      V::load(rows + k).store(most + k);
      V(M(0)).store(sums + k);
    }
    for (std::int64_t r = 1; r < n; ++r) {
      for (std::int64_t k = 0; k < width; k += V::size) {
        LargestOf()(V::load(most + k), V::load(rows + r * width + k)).store(most + k);
      }
    }
    M* sub = sums + width;
    for (std::int64_t r = 0; r < n; r += part) {
      const std::int64_t end = std::min(n, r + part);
      for (std::int64_t k = 0; k < width; k += V::size) V(M(0)).store(sub + k);
      for (std::int64_t i = r; i < end; ++i) {
        M* row = rows + i * width;
        for (std::int64_t k = 0; k < width; k += V::size) {
          const V power = vec::exp(V::load(row + k) - V::load(most + k));
          if constexpr (!logarithm) power.store(row + k);
          (V::load(sub + k) + power).store(sub + k);
        }
      }
      for (std::int64_t k = 0; k < width; k += V::size) {
        (V::load(sums + k) + V::load(sub + k)).store(sums + k);
      }
    }
    if constexpr (logarithm) {
      for (std::int64_t k = 0; k < width; ++k) sums[k] = std::log(sums[k]);
    }
    for (std::int64_t r = 0; r < n; ++r) {
      M* row = rows + r * width;
      for (std::int64_t k = 0; k < width; k += V::size) {
        if constexpr (logarithm) {
          (V::load(row + k) - V::load(most + k) - V::load(sums + k)).store(row + k);
        } else {
          (V::load(row + k) / V::load(sums + k)).store(row + k);
        }
      }
    }
  }
#if OPGEN_LOOPS_AVX2
  OPGEN_NOINLINE OPGEN_TARGET_FMA static void row_fma(M* to, const M* from, std::int64_t n) {
    row_here<32>(to, from, n);
  }
  OPGEN_NOINLINE OPGEN_TARGET_FMA static void columns_fma(M* rows, std::int64_t n,
                                                          std::int64_t width, M* most, M* sums) {
    columns_here<32>(rows, n, width, most, sums);
  }
#endif
  OPGEN_NOINLINE static void row(M* to, const M* from, std::int64_t n) {
#if OPGEN_LOOPS_AVX2
    if (use_fma()) return row_fma(to, from, n);
#endif
    row_here<kAnyVector>(to, from, n);
  }
  OPGEN_NOINLINE static void columns(M* rows, std::int64_t n, std::int64_t width, M* most,
                                     M* sums) {
#if OPGEN_LOOPS_AVX2
    if (use_fma()) return columns_fma(rows, n, width, most, sums);
#endif
    columns_here<kAnyVector>(rows, n, width, most, sums);
  }
};

// (g - sum of g y) y of adjacent numbers.
template <class M>
struct SoftmaxGradient {
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void row_here(M* to, const M* g, const M* y, std::int64_t n) {
    using V = Vec<M, bytes>;
    constexpr std::int64_t chains = 4, step = chains * V::size;
    V sums[chains];
    for (std::int64_t k = 0; k < chains; ++k) sums[k] = V(M(0));
    std::int64_t i = 0;
    for (; i + step <= n; i += step) {
      for (std::int64_t k = 0; k < chains; ++k) {
        const std::int64_t at = i + k * V::size;
        sums[k] = multiply_add(V::load(g + at), V::load(y + at), sums[k]);
      }
    }
    for (; i + V::size <= n; i += V::size) {
      sums[0] = multiply_add(V::load(g + i), V::load(y + i), sums[0]);
    }
    join(sums, SumOf());
    M total = join_vector(sums[0], SumOf());
    for (; i < n; ++i) total += g[i] * y[i];
    const V sum(total);
    for (i = 0; i + V::size <= n; i += V::size) {
      ((V::load(g + i) - sum) * V::load(y + i)).store(to + i);
    }
    for (; i < n; ++i) to[i] = (g[i] - total) * y[i];
  }
#if OPGEN_LOOPS_AVX2
  OPGEN_NOINLINE OPGEN_TARGET_FMA static void row_fma(M* to, const M* g, const M* y,
                                                      std::int64_t n) {
    row_here<32>(to, g, y, n);
  }
#endif
  // `to` may be `g` or `y`.
  static void row(M* to, const M* g, const M* y, std::int64_t n) {
#if OPGEN_LOOPS_AVX2
    if (use_fma()) return row_fma(to, g, y, n);
#endif
    row_here<kAnyVector>(to, g, y, n);
  }
  // The same along the columns of rows: adds g y to `sums`, and computes a row from the sums.
  static void add_row(M* sums, const M* g, const M* y, std::int64_t n) {
    vector_loop([](auto sum, auto a, auto b) { return multiply_add(a, b, sum); }, n, sums,
                static_cast<const M*>(sums), g, y);
  }
  static void row_of_sums(M* to, const M* g, const M* y, const M* sums, std::int64_t n) {
    vector_loop([](auto a, auto sum, auto b) { return (a - sum) * b; }, n, to, g, sums, y);
  }
};

// The same for elements of type T in memory, which are M or, for floats, BFloat16: adjacent ones of
// several rows, or of several columns of adjacent elements. The steps are bytes from one row to the
// next, of the result, g and y.
template <class T, class M>
struct DirectSoftmaxGradient {
  // Two vectors of adjacent elements: those of a half type with even and with odd positions, which
  // are the halves of 32-bit numbers.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void load_two(const T* from, Vec<M, bytes>& a, Vec<M, bytes>& b) {
    using V = Vec<M, bytes>;
    if constexpr (std::is_same_v<T, M>) {
      a = V::load(from);
      b = V::load(from + V::size);
    } else {
      using Words = typename VectorOf<std::uint32_t, V::size>::type;
      Words words;
      std::memcpy(&words, from, sizeof words);
      a = V::of(__builtin_bit_cast(typename V::Native, words << 16));
      b = V::of(__builtin_bit_cast(typename V::Native, words & 0xffff0000u));
    }
  }
  // The bits of floats that are rounded to the upper half; NaN has bits of its own.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static auto rounded(const Vec<M, bytes>& v) {
    using Words = typename VectorOf<std::uint32_t, Vec<M, bytes>::size>::type;
    const Words bits = __builtin_bit_cast(Words, v.values);
    const Words sum = bits + 0x7fffu + ((bits >> 16) & 1u);
    return v == v ? sum : Words{} + 0x7fc00000u;
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void store_two(T* to, const Vec<M, bytes>& a, const Vec<M, bytes>& b) {
    if constexpr (std::is_same_v<T, M>) {
      a.store(to);
      b.store(to + Vec<M, bytes>::size);
    } else {
      const auto words = (rounded(a) >> 16) | (rounded(b) & 0xffff0000u);
      std::memcpy(static_cast<void*>(to), &words, sizeof words);
    }
  }
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void rows_here(char* to, const char* g, const char* y, std::int64_t n,
                                            std::int64_t count, const std::int64_t* steps) {
    using V = Vec<M, bytes>;
    constexpr std::int64_t pair = 2 * V::size, step = 2 * pair;
    for (std::int64_t r = 0; r < count; ++r) {
      const T* const grad = reinterpret_cast<const T*>(g + r * steps[1]);
      const T* const output = reinterpret_cast<const T*>(y + r * steps[2]);
      T* const result = reinterpret_cast<T*>(to + r * steps[0]);
      V sums[4];
      for (V& sum : sums) sum = V(M(0));
      V a, b, c, d;
      std::int64_t i = 0;
      for (; i + step <= n; i += step) {
        for (std::int64_t k = 0; k < 2; ++k) {
          load_two(grad + i + k * pair, a, b);
          load_two(output + i + k * pair, c, d);
          sums[2 * k] = multiply_add(a, c, sums[2 * k]);
          sums[2 * k + 1] = multiply_add(b, d, sums[2 * k + 1]);
        }
      }
      for (; i + pair <= n; i += pair) {
        load_two(grad + i, a, b);
        load_two(output + i, c, d);
        sums[0] = multiply_add(a, c, sums[0]);
        sums[1] = multiply_add(b, d, sums[1]);
      }
      join(sums, SumOf());
      M total = join_vector(sums[0], SumOf());
      for (; i < n; ++i) total += static_cast<M>(grad[i]) * static_cast<M>(output[i]);
      const V sum(total);
      for (i = 0; i + pair <= n; i += pair) {
        load_two(grad + i, a, b);
        load_two(output + i, c, d);
        store_two(result + i, (a - sum) * c, (b - sum) * d);
      }
      for (; i < n; ++i) {
        result[i] = static_cast<T>((static_cast<M>(grad[i]) - total) * static_cast<M>(output[i]));
      }
    }
  }
  // The columns of n rows. Adds four products to a sum before it goes back to memory.
  template <int bytes>
  OPGEN_ALWAYS_INLINE static void columns_here(char* to, const char* g, const char* y,
                                               std::int64_t n, std::int64_t count,
                                               const std::int64_t* steps, M* sums) {
    using V = Vec<M, bytes>;
    constexpr std::int64_t together = 4, pair = 2 * V::size;
    const auto grad = [&](std::int64_t r) { return reinterpret_cast<const T*>(g + r * steps[1]); };
    const auto output = [&](std::int64_t r) {
      return reinterpret_cast<const T*>(y + r * steps[2]);
    };
    std::fill_n(sums, count, M(0));
    V a, b, c, d;
    for (std::int64_t r = 0; r < n; r += together) {
      const std::int64_t some = std::min(together, n - r);
      std::int64_t i = 0;
      for (; i + pair <= count; i += pair) {
        V first = V::load(sums + i), second = V::load(sums + i + V::size);
        for (std::int64_t k = r; k < r + some; ++k) {
          load_two(grad(k) + i, a, b);
          load_two(output(k) + i, c, d);
          first = multiply_add(a, c, first);
          second = multiply_add(b, d, second);
        }
        first.store(sums + i);
        second.store(sums + i + V::size);
      }
      for (; i < count; ++i) {
        for (std::int64_t k = r; k < r + some; ++k) {
          sums[i] += static_cast<M>(grad(k)[i]) * static_cast<M>(output(k)[i]);
        }
      }
    }
    for (std::int64_t r = 0; r < n; ++r) {
      T* const result = reinterpret_cast<T*>(to + r * steps[0]);
      const T *const x = grad(r), *const z = output(r);
      std::int64_t i = 0;
      for (; i + pair <= count; i += pair) {
        load_two(x + i, a, b);
        load_two(z + i, c, d);
        store_two(result + i, (a - V::load(sums + i)) * c, (b - V::load(sums + i + V::size)) * d);
      }
      for (; i < count; ++i) {
        result[i] = static_cast<T>((static_cast<M>(x[i]) - sums[i]) * static_cast<M>(z[i]));
      }
    }
  }
#if OPGEN_LOOPS_AVX2
  OPGEN_NOINLINE OPGEN_TARGET_FMA static void rows_fma(char* to, const char* g, const char* y,
                                                       std::int64_t n, std::int64_t count,
                                                       const std::int64_t* steps) {
    rows_here<32>(to, g, y, n, count, steps);
  }
  OPGEN_NOINLINE OPGEN_TARGET_FMA static void columns_fma(char* to, const char* g, const char* y,
                                                          std::int64_t n, std::int64_t count,
                                                          const std::int64_t* steps, M* sums) {
    columns_here<32>(to, g, y, n, count, steps, sums);
  }
#endif
  static void rows(char* to, const char* g, const char* y, std::int64_t n, std::int64_t count,
                   const std::int64_t* steps) {
#if OPGEN_LOOPS_AVX2
    if (use_fma()) return rows_fma(to, g, y, n, count, steps);
#endif
    rows_here<kAnyVector>(to, g, y, n, count, steps);
  }
  static void columns(char* to, const char* g, const char* y, std::int64_t n, std::int64_t count,
                      const std::int64_t* steps, M* sums) {
#if OPGEN_LOOPS_AVX2
    if (use_fma()) return columns_fma(to, g, y, n, count, steps, sums);
#endif
    columns_here<kAnyVector>(to, g, y, n, count, steps, sums);
  }
};

// The lines of up to three tensors of one shape along a dimension. Adjacent lines differ in the
// index of the dimension `across`.
struct Lines {
  static constexpr std::size_t kMost = 3;
  std::int64_t length = 1, across = 1, others = 1;
  // In bytes.
  std::int64_t strides[kMost] = {}, across_strides[kMost] = {};
  DimVector sizes, other_strides[kMost];

  OPGEN_API Lines(std::initializer_list<const TensorBase*> tensors, std::int64_t dim);
  // Returns whether lines are computed beside each other, because those of operand 0 are closer to
  // each other than the elements of one, or because lines of up to `few` elements are too short for
  // vectors of their own.
  [[nodiscard]] bool by_columns(std::int64_t few = 0) const noexcept {
    constexpr std::int64_t many = 16;
    return across > 1 && (across_strides[0] < strides[0] || (length <= few && across >= many));
  }
  // Returns the offset of group i of `across` lines in an operand.
  [[nodiscard]] OPGEN_API std::int64_t offset(int operand, std::int64_t i) const noexcept;
};

// The parts of groups of lines in order, without a division for each.
class LineParts {
 public:
  // Begins with part `i` of all, if a group has `parts`.
  LineParts(const Lines& lines, int operands, std::int64_t parts, std::int64_t i)
      : lines_(lines), operands_(operands), parts_(parts), group_(i / parts), part_(i % parts) {
    locate();
  }
  [[nodiscard]] std::int64_t part() const noexcept { return part_; }
  // The offset of the group's first element.
  [[nodiscard]] std::int64_t offset(int operand) const noexcept { return offsets_[operand]; }
  void next() {
    if (++part_ < parts_) return;
    part_ = 0;
    ++group_;
    locate();
  }

 private:
  void locate() {
    for (int k = 0; k < operands_; ++k) offsets_[k] = lines_.offset(k, group_);
  }

  const Lines& lines_;
  const int operands_;
  const std::int64_t parts_;
  std::int64_t group_, part_, offsets_[Lines::kMost];
};

// Lines of adjacent elements, or adjacent lines: blocks of `most` of them. `data` are the result of
// the softmax, g and the result.
template <class T, class M>
void run_direct_softmax_gradient(const Lines& lines, char* const* data, std::int64_t most,
                                 std::int64_t blocks) {
  using Gradient = DirectSoftmaxGradient<T, M>;
  const bool by_columns = lines.by_columns();
  const std::int64_t n = lines.length;
  const std::int64_t* const between = by_columns ? lines.strides : lines.across_strides;
  const std::int64_t steps[] = {between[2], between[1], between[0]};
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / (by_columns ? n * most : n));
  parallel_for(0, lines.others * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<M> sums(static_cast<std::size_t>(by_columns ? most : 0));
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t part = i % blocks;
      const std::int64_t first = by_columns ? part * most : part;
      char* at[3];
      for (int k = 0; k < 3; ++k) {
        at[k] = data[k] + lines.offset(k, i / blocks) + first * lines.across_strides[k];
      }
      if (by_columns) {
        Gradient::columns(at[2], at[1], at[0], n, std::min(most, lines.across - first), steps,
                          sums.data());
        ++i;
      } else {
        const std::int64_t count = std::min(end - i, blocks - part);
        Gradient::rows(at[2], at[1], at[0], n, count, steps);
        i += count;
      }
    }
  });
}

template <class T, bool logarithm>
void run_softmax(const TensorBase& out, const TensorBase& self, std::int64_t dim) {
  using M = opmath_type<T>;
  using Rows = SoftmaxRows<M, logarithm>;
  constexpr std::int64_t pad = Vec<M>::size;
  const auto padded = [](std::int64_t n) { return (n + pad - 1) / pad * pad; };
  const Lines lines({&self, &out}, dim);
  const char* from = static_cast<const char*>(self.data_ptr());
  char* to = static_cast<char*>(out.data_ptr());
  const std::int64_t n = lines.length;
  const bool by_columns = lines.by_columns(/*few=*/logarithm ? 32 : 16);
  // Rows that are read and written where they are.
  const bool direct = std::is_same_v<T, M> && !by_columns && lines.strides[0] == sizeof(M) &&
                      lines.strides[1] == sizeof(M);
  // As many columns as fit into the first-level cache.
  const std::int64_t most =
      by_columns
          ? std::min(padded(lines.across),
                     std::max<std::int64_t>(2 * pad, std::min<std::int64_t>(512, padded(8192 / n))))
          : 1;
  const std::int64_t blocks = (lines.across + most - 1) / most;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / (n * most));
  parallel_for(0, lines.others * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<M> block(static_cast<std::size_t>(by_columns ? n * most : direct ? 0 : n));
    std::vector<M> states(static_cast<std::size_t>(by_columns ? 3 * most : 0));
    LineParts parts(lines, 2, blocks, begin);
    for (std::int64_t i = begin; i < end; ++i, parts.next()) {
      const std::int64_t first = parts.part() * most;
      const char* x = from + parts.offset(0) + first * lines.across_strides[0];
      char* y = to + parts.offset(1) + first * lines.across_strides[1];
      if (direct) {
        Rows::row(reinterpret_cast<M*>(y), reinterpret_cast<const M*>(x), n);
        continue;
      }
      if (!by_columns) {
        load_elements<T, M>(block.data(), x, lines.strides[0], n);
        Rows::row(block.data(), block.data(), n);
        store_elements<T, M>(y, lines.strides[1], block.data(), n);
        continue;
      }
      const std::int64_t count = std::min(most, lines.across - first);
      const std::int64_t width = padded(count);
      for (std::int64_t r = 0; r < n; ++r) {
        load_elements<T, M>(block.data() + r * width, x + r * lines.strides[0],
                            lines.across_strides[0], count);
      }
      Rows::columns(block.data(), n, width, states.data(), states.data() + width);
      for (std::int64_t r = 0; r < n; ++r) {
        store_elements<T, M>(y + r * lines.strides[1], lines.across_strides[1],
                             block.data() + r * width, count);
      }
    }
  });
}

}  // namespace detail

// Sets `out` to the softmax of `self` along `dim`, which counts from the front. Both have the
// dtype of T, a floating type, and the same sizes, and at least one element. Half types are
// computed as floats.
template <class T>
void cpu_softmax(const TensorBase& out, const TensorBase& self, std::int64_t dim) {
  detail::run_softmax<T, false>(out, self, dim);
}
// Does the same for the logarithm of the softmax.
template <class T>
void cpu_log_softmax(const TensorBase& out, const TensorBase& self, std::int64_t dim) {
  detail::run_softmax<T, true>(out, self, dim);
}

// Sets `to` to (grad - sum of grad * output along `dim`) * output: the gradient of a softmax whose
// result was `output`. All have the dtype of T, a floating type, and the same sizes, and at least
// one element. Half types are computed as floats.
template <class T>
void cpu_softmax_backward(const TensorBase& to, const TensorBase& grad, const TensorBase& output,
                          std::int64_t dim) {
  using M = opmath_type<T>;
  using Gradient = detail::SoftmaxGradient<M>;
  constexpr std::int64_t item = sizeof(T), widest = 256;
  const detail::Lines lines({&output, &grad, &to}, dim);
  char* const data[] = {static_cast<char*>(output.data_ptr()), static_cast<char*>(grad.data_ptr()),
                        static_cast<char*>(to.data_ptr())};
  const bool by_columns = lines.by_columns();
  const std::int64_t n = lines.length;
  // What is read and written row by row: `rows` of up to `most` elements.
  const std::int64_t* const steps = by_columns ? lines.across_strides : lines.strides;
  const std::int64_t rows = by_columns ? n : 1;
  bool direct[3];
  std::int64_t collected = 0;
  for (int k = 0; k < 3; ++k) {
    direct[k] = std::is_same_v<T, M> && steps[k] == item;
    collected += direct[k] ? 0 : 1;
  }
  const std::int64_t most = by_columns ? std::min(lines.across, widest) : n;
  const std::int64_t blocks = by_columns ? (lines.across + most - 1) / most : lines.across;
  if constexpr (std::is_same_v<T, M> || std::is_same_v<T, BFloat16>) {
    if (steps[0] == item && steps[1] == item && steps[2] == item) {
      detail::run_direct_softmax_gradient<T, M>(lines, data, most, blocks);
      return;
    }
  }
  // Rows that were collected are kept for the second pass if the cache keeps them, too.
  constexpr std::int64_t cached = 32768;
  const std::int64_t kept = rows * most * collected <= cached ? rows : 1;
  const std::int64_t step = kept == 1 ? 0 : most;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / (rows * most));
  parallel_for(0, lines.others * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<M> buffer(static_cast<std::size_t>(collected * kept * most));
    M* buffers[3] = {};
    for (int k = 0, used = 0; k < 3; ++k) {
      if (!direct[k]) buffers[k] = buffer.data() + used++ * kept * most;
    }
    detail::LineParts parts(lines, 3, blocks, begin);
    for (std::int64_t i = begin; i < end; ++i, parts.next()) {
      const std::int64_t first = parts.part() * (by_columns ? most : 1);
      const std::int64_t count = by_columns ? std::min(most, lines.across - first) : n;
      char* at[3];
      for (int k = 0; k < 3; ++k) {
        at[k] = data[k] + parts.offset(k) + first * lines.across_strides[k];
      }
      const auto row = [&](int k, std::int64_t r) {
        char* address = at[k] + r * lines.strides[k];
        return direct[k] ? reinterpret_cast<M*>(address) : buffers[k] + r * step;
      };
      const auto load = [&](int k, std::int64_t r) {
        if (direct[k]) return;
        detail::load_elements<T, M>(row(k, r), at[k] + r * lines.strides[k], steps[k], count);
      };
      M sums[widest];
      if (by_columns) std::fill_n(sums, count, M(0));
      for (std::int64_t r = 0; r < rows; ++r) {
        load(0, r);
        load(1, r);
        if (by_columns) Gradient::add_row(sums, row(1, r), row(0, r), count);
      }
      for (std::int64_t r = 0; r < rows; ++r) {
        if (by_columns) {
          if (kept == 1) {
            load(0, r);
            load(1, r);
          }
          Gradient::row_of_sums(row(2, r), row(1, r), row(0, r), sums, count);
        } else {
          Gradient::row(row(2, r), row(1, r), row(0, r), count);
        }
        if (direct[2]) continue;
        detail::store_elements<T, M>(at[2] + r * lines.strides[2], steps[2], row(2, r), count);
      }
    }
  });
}

}  // namespace opgen
