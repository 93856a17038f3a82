// softmax.cpp: the softmax of tensors, its logarithm and its gradient: rows that are collected
// where they are not adjacent, and divided among threads. softmax_rows.h computes them.
#include "opgen/cpu/softmax.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "kernels/softmax_rows.h"
#include "kernels/with_vectors.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/dispatch.h"
#include "opgen/cpu/loops.h"
#include "opgen/cpu/row_buffers.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen::detail {

namespace {

// The lines of up to three tensors of one shape along a dimension. Adjacent lines differ in the
// index of the dimension `across`.
struct Lines {
  static constexpr std::size_t kMost = 3;
  std::int64_t length = 1, across = 1, others = 1;
  // In bytes.
  std::int64_t strides[kMost] = {}, across_strides[kMost] = {};
  DimVector sizes, other_strides[kMost];

  Lines(std::initializer_list<const TensorBase*> tensors, std::int64_t dim);
  // Returns whether lines are computed beside each other, because those of operand 0 are closer to
  // each other than the elements of one, or because lines of up to `few` elements are too short for
  // vectors of their own.
  [[nodiscard]] bool by_columns(std::int64_t few = 0) const noexcept {
    constexpr std::int64_t many = 16;
    return across > 1 && (across_strides[0] < strides[0] || (length <= few && across >= many));
  }
  // Returns the offset of group i of `across` lines in an operand.
  [[nodiscard]] std::int64_t offset(int operand, std::int64_t i) const noexcept;
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
  // Returns how many parts follow in this group, at most `most`.
  [[nodiscard]] std::int64_t room(std::int64_t most) const noexcept {
    return std::min(most, parts_ - part_);
  }
  // Goes on by `count` parts of this group.
  void next(std::int64_t count = 1) {
    part_ += count;
    if (part_ < parts_) return;
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

Lines::Lines(std::initializer_list<const TensorBase*> tensors, std::int64_t dim) {
  const TensorBase& model = **tensors.begin();
  // The last dimension but `dim` is across, because it is the fastest of most tensors.
  const std::int64_t ndim = model.dim();
  std::int64_t beside = ndim - 1;
  while (beside >= 0 && (beside == dim || model.size(beside) == 1)) --beside;
  for (std::int64_t d = 0; d < ndim; ++d) {
    if (d != dim && d != beside) {
      sizes.push_back(model.size(d));
      others *= model.size(d);
    }
    std::size_t k = 0;
    for (const TensorBase* tensor : tensors) {
      const std::int64_t stride = tensor->stride(d) * std::int64_t(tensor->element_size());
      if (d == dim) {
        strides[k] = stride;
      } else if (d == beside) {
        across_strides[k] = stride;
      } else {
        other_strides[k].push_back(stride);
      }
      ++k;
    }
  }
  if (dim < ndim) length = model.size(dim);
  if (beside >= 0) across = model.size(beside);
  // Dimensions that continue the one across become part of it.
  const std::size_t operands = tensors.size();
  const auto continues = [&] {
    for (std::size_t k = 0; k < operands; ++k) {
      if (other_strides[k].back() != across * across_strides[k]) return false;
    }
    return true;
  };
  while (!sizes.empty() && continues()) {
    across *= sizes.back();
    others /= sizes.back();
    sizes.pop_back();
    for (std::size_t k = 0; k < operands; ++k) other_strides[k].pop_back();
  }
}

std::int64_t Lines::offset(int operand, std::int64_t i) const noexcept {
  std::int64_t result = 0;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    result += i % sizes[d] * other_strides[operand][d];
    i /= sizes[d];
  }
  return result;
}

// Lines of adjacent elements, or adjacent lines: blocks of `most` of them. `data` are the result of
// the softmax, g and the result.
template <class T, class M>
void run_direct_softmax_gradient(const Lines& lines, char* const* data, std::int64_t most,
                                 std::int64_t blocks) {
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
        const std::int64_t count = std::min(most, lines.across - first);
        with_vectors([&]<int bytes> {
          SoftmaxGradient<T, M, bytes>::columns(at[2], at[1], at[0], n, count, steps, sums.data());
        });
        ++i;
      } else {
        const std::int64_t count = std::min(end - i, blocks - part);
        with_vectors([&]<int bytes> {
          SoftmaxGradient<T, M, bytes>::rows(at[2], at[1], at[0], n, count, steps);
        });
        i += count;
      }
    }
  });
}

// Vectors that read what smaller ones have just written wait for it, so lines that are collected,
// or converted, are as many as have about this many elements.
constexpr std::int64_t kCollected = 1024;

// Collects `count` lines of n elements, with bytes from one to the next, or stores them.
template <class T, class M>
void load_lines(M* to, const char* from, std::int64_t stride, std::int64_t n, std::int64_t count,
                std::int64_t step) {
  if (stride == sizeof(T) && step == n * stride) {
    n *= count;
    count = 1;
  }
  for (std::int64_t r = 0; r < count; ++r) {
    load_elements<T, M>(to + r * n, from + r * step, stride, n);
  }
}
template <class T, class M>
void store_lines(char* to, std::int64_t stride, const M* from, std::int64_t n, std::int64_t count,
                 std::int64_t step) {
  if (stride == sizeof(T) && step == n * stride) {
    n *= count;
    count = 1;
  }
  for (std::int64_t r = 0; r < count; ++r) {
    store_elements<T, M>(to + r * step, stride, from + r * n, n);
  }
}

template <class T, bool logarithm>
void run_softmax(const TensorBase& out, const TensorBase& self, std::int64_t dim) {
  using M = opmath_type<T>;
  constexpr std::int64_t item = sizeof(M);
  // The columns of collected rows are whole vectors.
  constexpr std::int64_t pad = 64 / sizeof(M);
  const auto padded = [](std::int64_t n) { return (n + pad - 1) / pad * pad; };
  const Lines lines({&self, &out}, dim);
  const char* from = static_cast<const char*>(self.data_ptr());
  char* to = static_cast<char*>(out.data_ptr());
  const std::int64_t n = lines.length;
  const bool by_columns = lines.by_columns(/*few=*/16);
  const auto rows = [n](M* y, std::int64_t y_step, const M* x, std::int64_t x_step,
                        std::int64_t count) {
    with_vectors(
        [&]<int bytes> { SoftmaxRows<M, logarithm, bytes>::rows(y, y_step, x, x_step, n, count); });
  };
  // Rows that are read and written where they are.
  const bool direct =
      std::is_same_v<T, M> && !by_columns && lines.strides[0] == item && lines.strides[1] == item;
  const std::int64_t together = direct ? lines.across : std::max<std::int64_t>(1, kCollected / n);
  // As many columns as fit into the second-level cache: the processor prefetches long rows.
  const std::int64_t most =
      by_columns ? std::min(padded(lines.across),
                            std::max<std::int64_t>(
                                2 * pad, std::min<std::int64_t>(512, padded((1 << 17) / item / n))))
                 : 1;
  const std::int64_t blocks = (lines.across + most - 1) / most;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / (n * most));
  parallel_for(0, lines.others * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<M> block(static_cast<std::size_t>(by_columns ? n * most
                                                  : direct   ? 0
                                                             : n * together));
    std::vector<M> states(static_cast<std::size_t>(by_columns ? 3 * most : 0));
    LineParts parts(lines, 2, blocks, begin);
    for (std::int64_t i = begin, done = 1; i < end; i += done, parts.next(done)) {
      const std::int64_t first = parts.part() * most;
      const char* x = from + parts.offset(0) + first * lines.across_strides[0];
      char* y = to + parts.offset(1) + first * lines.across_strides[1];
      if (!by_columns) {
        done = parts.room(std::min(together, end - i));
        if (direct) {
          rows(reinterpret_cast<M*>(y), lines.across_strides[1] / item,
               reinterpret_cast<const M*>(x), lines.across_strides[0] / item, done);
          continue;
        }
        load_lines<T, M>(block.data(), x, lines.strides[0], n, done, lines.across_strides[0]);
        rows(block.data(), n, block.data(), n, done);
        store_lines<T, M>(y, lines.strides[1], block.data(), n, done, lines.across_strides[1]);
        continue;
      }
      const std::int64_t count = std::min(most, lines.across - first);
      const std::int64_t width = padded(count);
      if (width == count) {
        load_lines<T, M>(block.data(), x, lines.across_strides[0], count, n, lines.strides[0]);
      } else {
        for (std::int64_t r = 0; r < n; ++r) {
          load_elements<T, M>(block.data() + r * width, x + r * lines.strides[0],
                              lines.across_strides[0], count);
        }
      }
      with_vectors([&]<int bytes> {
        SoftmaxRows<M, logarithm, bytes>::columns(block.data(), n, width, states.data(),
                                                  states.data() + width);
      });
      if (width == count) {
        store_lines<T, M>(y, lines.across_strides[1], block.data(), count, n, lines.strides[1]);
        continue;
      }
      for (std::int64_t r = 0; r < n; ++r) {
        store_elements<T, M>(y + r * lines.strides[1], lines.across_strides[1],
                             block.data() + r * width, count);
      }
    }
  });
}

template <class T>
void run_softmax_backward(const TensorBase& to, const TensorBase& grad, const TensorBase& output,
                          std::int64_t dim) {
  using M = opmath_type<T>;
  constexpr std::int64_t item = sizeof(T), widest = 256;
  const Lines lines({&output, &grad, &to}, dim);
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
      run_direct_softmax_gradient<T, M>(lines, data, most, blocks);
      return;
    }
  }
  // Rows that were collected are kept for the second pass if the cache keeps them, too.
  constexpr std::int64_t cached = 32768;
  const std::int64_t together = std::max<std::int64_t>(1, kCollected / n);
  const std::int64_t kept = !by_columns ? together : rows * most * collected <= cached ? rows : 1;
  const std::int64_t step = kept == 1 ? 0 : most;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / (rows * most));
  parallel_for(0, lines.others * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<M> buffer(static_cast<std::size_t>(collected * kept * most));
    M* buffers[3] = {};
    for (int k = 0, used = 0; k < 3; ++k) {
      if (!direct[k]) buffers[k] = buffer.data() + used++ * kept * most;
    }
    LineParts parts(lines, 3, blocks, begin);
    for (std::int64_t i = begin, done = 1; i < end; i += done, parts.next(done)) {
      const std::int64_t first = parts.part() * (by_columns ? most : 1);
      char* at[3];
      for (int k = 0; k < 3; ++k) {
        at[k] = data[k] + parts.offset(k) + first * lines.across_strides[k];
      }
      if (!by_columns) {
        done = parts.room(std::min(together, end - i));
        char* lines_at[3];
        std::int64_t between[3];
        for (int k = 0; k < 3; ++k) {
          lines_at[k] = direct[k] ? at[k] : reinterpret_cast<char*>(buffers[k]);
          between[k] = direct[k] ? lines.across_strides[k] : n * std::int64_t(sizeof(M));
          if (direct[k] || k == 2) continue;
          load_lines<T, M>(buffers[k], at[k], steps[k], n, done, lines.across_strides[k]);
        }
        std::swap(between[0], between[2]);
        with_vectors([&]<int bytes> {
          SoftmaxGradient<M, M, bytes>::rows(lines_at[2], lines_at[1], lines_at[0], n, done,
                                             between);
        });
        if (direct[2]) continue;
        store_lines<T, M>(at[2], steps[2], buffers[2], n, done, lines.across_strides[2]);
        continue;
      }
      const std::int64_t count = std::min(most, lines.across - first);
      const auto row = [&](int k, std::int64_t r) {
        char* address = at[k] + r * lines.strides[k];
        return direct[k] ? reinterpret_cast<M*>(address) : buffers[k] + r * step;
      };
      const auto load = [&](int k, std::int64_t r) {
        if (direct[k]) return;
        load_elements<T, M>(row(k, r), at[k] + r * lines.strides[k], steps[k], count);
      };
      M sums[widest];
      std::fill_n(sums, count, M(0));
      for (std::int64_t r = 0; r < rows; ++r) {
        load(0, r);
        load(1, r);
        vector_loop([](auto sum, auto a, auto b) { return multiply_add(a, b, sum); }, count, sums,
                    sums, row(1, r), row(0, r));
      }
      for (std::int64_t r = 0; r < rows; ++r) {
        if (kept == 1) {
          load(0, r);
          load(1, r);
        }
        vector_loop([](auto a, auto sum, auto b) { return (a - sum) * b; }, count, row(2, r),
                    row(1, r), sums, row(0, r));
        if (direct[2]) continue;
        store_elements<T, M>(at[2] + r * lines.strides[2], steps[2], row(2, r), count);
      }
    }
  });
}

}  // namespace

void softmax(const TensorBase& out, const TensorBase& self, std::int64_t dim, bool logarithm) {
  dispatch<FloatingTypes>(self.scalar_type(), "softmax", [&]<class T> {
    logarithm ? run_softmax<T, true>(out, self, dim) : run_softmax<T, false>(out, self, dim);
  });
}

void softmax_backward(const TensorBase& to, const TensorBase& grad, const TensorBase& output,
                      std::int64_t dim) {
  dispatch<FloatingTypes>(output.scalar_type(), "softmax_backward",
                          [&]<class T> { run_softmax_backward<T>(to, grad, output, dim); });
}

}  // namespace opgen::detail
