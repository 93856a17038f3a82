// reduction_loops.cpp: finds the elements of each output of a reduction, and divides the work among
// rows, columns, blocks and threads.
#include "opgen/cpu/reduction_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "opgen/core/parallel.h"

namespace opgen::detail {

ReductionPlan::ReductionPlan(const TensorIteratorBase& iter)
    : out(static_cast<char*>(iter.data_ptr(0))), in(static_cast<const char*>(iter.data_ptr(1))) {
  IntArrayRef shape = iter.shape();
  // Without input elements there is nothing to reduce: visit the outputs in their own order.
  if (iter.numel() == 0) {
    const TensorBase& result = iter.tensor(0);
    row = 0;
    outputs = result.numel();
    for (std::size_t d = result.sizes().size(); d-- > 0;) {
      out_sizes.push_back(result.sizes()[d]);
      out_strides.push_back(result.strides()[d] * result.element_size());
      in_strides.push_back(0);
    }
    return;
  }
  bool has_row = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t out_stride = iter.strides(0)[d];
    std::int64_t in_stride = iter.strides(1)[d];
    if (out_stride != 0 || shape[d] == 1) {
      outputs *= shape[d];
      out_sizes.push_back(shape[d]);
      out_strides.push_back(out_stride);
      in_strides.push_back(in_stride);
    } else if (!has_row) {
      has_row = true;
      row = shape[d];
      row_stride = in_stride;
    } else {
      fold_sizes.push_back(shape[d]);
      fold_strides.push_back(in_stride);
      rows *= shape[d];
    }
  }
}

void ReductionPlan::locate_output(std::int64_t i, char*& out_at,
                                  const char*& in_at) const noexcept {
  out_at = out;
  in_at = in;
  for (std::size_t d = 0; d < out_sizes.size(); ++d) {
    std::int64_t index = i % out_sizes[d];
    i /= out_sizes[d];
    out_at += index * out_strides[d];
    in_at += index * in_strides[d];
  }
}

const char* ReductionPlan::locate(const char* first, std::int64_t i) const noexcept {
  if (rows == 1) return first + i * row_stride;
  first += i % row * row_stride;
  i /= row;
  for (std::size_t d = 0; d < fold_sizes.size(); ++d) {
    first += i % fold_sizes[d] * fold_strides[d];
    i /= fold_sizes[d];
  }
  return first;
}

bool ReductionPlan::folds_columns() const noexcept {
  // Folds of a few elements are columns too, if there are many: a row of three is not a vector.
  constexpr std::int64_t few = 16, many = 16;
  if (out_sizes.empty() || out_sizes[0] == 1 || row * rows == 0) return false;
  return std::abs(in_strides[0]) < std::abs(row_stride) ||
         (row * rows <= few && out_sizes[0] >= many);
}

namespace {

// The most elements of a row that are collected in a block.
constexpr std::int64_t kBlock = 2048;
// The most outputs that are folded together: their states stay in the first-level cache. Fewer if
// the elements are collected in a block, because that holds all rows of a leaf.
constexpr std::int64_t kColumns = 1024;
constexpr std::int64_t kCollectedColumns = 256;
// Fewer outputs than this are split into parts, and at most this many.
constexpr std::int64_t kFewOutputs = 16;
constexpr std::int64_t kMostParts = 64;

// Memory of one thread. Its address does not change when the Space moves.
class Space {
 public:
  char* get(std::int64_t bytes) {
    if (bytes > size_) {
      // Not set to zero.
      memory_.reset(new Unit[static_cast<std::size_t>(bytes) / sizeof(Unit) + 1]);
      size_ = bytes;
    }
    return reinterpret_cast<char*>(memory_.get());
  }

 private:
  struct alignas(std::max_align_t) Unit {
    char bytes[alignof(std::max_align_t)];
  };
  std::unique_ptr<Unit[]> memory_;
  std::int64_t size_ = 0;
};
// The same, on the stack for the few elements of a small reduction.
class QuickSpace {
 public:
  char* get(std::int64_t bytes) {
    return bytes <= std::int64_t(sizeof few_) ? few_ : more_.get(bytes);
  }

 private:
  alignas(std::max_align_t) char few_[2048];
  Space more_;
};

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

class Run {
 public:
  Run(const ReductionPlan& plan, const ReductionLoops& loops)
      : plan_(plan), loops_(loops), folded_(plan.folded()) {}

  void all() {
    if (plan_.outputs == 0) return;
    line_ = plan_.out_sizes.empty() ? 1 : plan_.out_sizes[0];
    if (plan_.folds_columns()) return by_columns();
    if (plan_.outputs < kFewOutputs && folded_ >= 2 * kGrainSize) return by_parts_of_rows();
    const std::int64_t grain =
        std::max<std::int64_t>(1, kGrainSize / std::max<std::int64_t>(1, folded_));
    parallel_for(0, plan_.outputs, grain,
                 [&](std::int64_t begin, std::int64_t end) { along_rows(begin, end); });
  }

 private:
  [[nodiscard]] bool rows_are_direct() const {
    return loops_.direct && plan_.row_stride == loops_.item;
  }

  // Collects the elements [begin, end) that are folded into the output of `first`.
  void collect(char* to, const char* first, std::int64_t begin, std::int64_t end) const {
    while (begin < end) {
      const std::int64_t count = std::min(end - begin, plan_.row - begin % plan_.row);
      loops_.load(to, plan_.locate(first, begin), plan_.row_stride, count);
      to += count * loops_.loaded;
      begin += count;
    }
  }

  // Folds the elements [begin, end) of the output of `first`, leaf by leaf. Leaves are combined
  // like the bits of a binary counter, so pairwise.
  void fold_row(const char* first, std::int64_t begin, std::int64_t end, char* result,
                QuickSpace& block, QuickSpace& levels) const {
    const std::int64_t bytes = loops_.state_size;
    char* leaf = levels.get(64 * bytes);
    const bool direct = rows_are_direct();
    const bool halves = loops_.takes_every_second && plan_.row_stride == 2 * loops_.item;
    std::uint64_t leaves = 0;
    while (begin < end) {
      std::int64_t count = std::min(end - begin, plan_.row - begin % plan_.row);
      if (direct && (count > kBlock / 8 || count == end - begin)) {
        count = std::min(count, loops_.row_leaf);
        loops_.rows(plan_.locate(first, begin), count, 0, 1, begin, leaf);
      } else if (halves && count > kBlock) {
        // The same leaves as collected ones.
        count = kBlock;
        loops_.every_second(plan_.locate(first, begin), count, leaf);
      } else {
        count = std::min(end - begin, std::min(kBlock, loops_.row_leaf));
        char* row = block.get(count * loops_.loaded);
        collect(row, first, begin, begin + count);
        loops_.rows(row, count, 0, 1, begin, leaf);
      }
      begin += count;
      std::int64_t level = 1;
      for (std::uint64_t bits = leaves; (bits & 1) != 0; bits >>= 1, ++level) {
        loops_.combine(leaf + level * bytes, leaf, 1);
        std::memcpy(leaf, leaf + level * bytes, static_cast<std::size_t>(bytes));
      }
      std::memcpy(leaf + level * bytes, leaf, static_cast<std::size_t>(bytes));
      ++leaves;
    }
    // Later elements are in lower levels.
    bool found = false;
    std::int64_t level = 1;
    for (std::uint64_t bits = leaves; bits != 0; bits >>= 1, ++level) {
      if ((bits & 1) == 0) continue;
      if (found) loops_.combine(leaf + level * bytes, result, 1);
      std::memcpy(result, leaf + level * bytes, static_cast<std::size_t>(bytes));
      found = true;
    }
  }

  void along_rows(std::int64_t begin, std::int64_t end) const {
    const std::int64_t most = std::min<std::int64_t>(256, end - begin);
    QuickSpace states_space, block, levels;
    char* states = states_space.get(most * loops_.state_size);
    char* out = nullptr;
    const char* in = nullptr;
    for (std::int64_t i = begin; i < end;) {
      plan_.locate_output(i, out, in);
      // Outputs of the same line are equally spaced.
      const std::int64_t count = std::min(std::min(end - i, line_ - i % line_), most);
      const std::int64_t out_step = count > 1 ? plan_.out_strides[0] : 0;
      const std::int64_t in_step = count > 1 ? plan_.in_strides[0] : 0;
      if (folded_ == 0) {
        loops_.clear(states, count);
      } else if (rows_are_direct() && plan_.rows == 1 && folded_ <= loops_.row_leaf) {
        loops_.rows(in, folded_, in_step, count, 0, states);
      } else if (folded_ <= std::min(kBlock, loops_.row_leaf)) {
        collected_rows(in, in_step, count, states, block);
      } else {
        for (std::int64_t k = 0; k < count; ++k) {
          fold_row(in + k * in_step, 0, folded_, states + k * loops_.state_size, block, levels);
        }
      }
      loops_.store(out, out_step, states, count);
      i += count;
    }
  }

  // Folds short rows, as many at once as fit into a block.
  void collected_rows(const char* in, std::int64_t in_step, std::int64_t count, char* states,
                      QuickSpace& block) const {
    const std::int64_t most = std::min(kBlock / folded_, count);
    char* rows = block.get(most * folded_ * loops_.loaded);
    const bool adjacent =
        plan_.rows == 1 && plan_.row_stride == loops_.item && in_step == folded_ * loops_.item;
    for (std::int64_t k = 0; k < count; k += most) {
      const std::int64_t some = std::min(most, count - k);
      if (adjacent) {
        loops_.load(rows, in + k * in_step, loops_.item, some * folded_);
      } else {
        for (std::int64_t j = 0; j < some; ++j) {
          collect(rows + j * folded_ * loops_.loaded, in + (k + j) * in_step, 0, folded_);
        }
      }
      loops_.rows(rows, folded_, folded_ * loops_.loaded, some, 0, states + k * loops_.state_size);
    }
  }

  // Combines neighbours pairwise, then pairs of pairs, into the first of `parts` groups of states.
  void combine_parts(char* states, std::int64_t parts, std::int64_t count) const {
    const std::int64_t bytes = count * loops_.state_size;
    for (std::int64_t step = 1; step < parts; step *= 2) {
      for (std::int64_t i = 0; i + step < parts; i += 2 * step) {
        loops_.combine(states + i * bytes, states + (i + step) * bytes, count);
      }
    }
  }

  void by_parts_of_rows() const {
    const std::int64_t part =
        divided_up(std::max(kGrainSize, divided_up(folded_, kMostParts)), kBlock) * kBlock;
    const std::int64_t parts = divided_up(folded_, part);
    Space space;
    char* states = space.get(plan_.outputs * parts * loops_.state_size);
    parallel_for(0, plan_.outputs * parts, 1, [&](std::int64_t begin, std::int64_t end) {
      QuickSpace block, levels;
      char* out = nullptr;
      const char* in = nullptr;
      for (std::int64_t i = begin; i < end; ++i) {
        plan_.locate_output(i / parts, out, in);
        const std::int64_t first = i % parts * part;
        fold_row(in, first, std::min(first + part, folded_), states + i * loops_.state_size, block,
                 levels);
      }
    });
    for (std::int64_t i = 0; i < plan_.outputs; ++i) {
      char* out = nullptr;
      const char* in = nullptr;
      plan_.locate_output(i, out, in);
      char* first = states + i * parts * loops_.state_size;
      combine_parts(first, parts, 1);
      loops_.store(out, 0, first, 1);
    }
  }

  // Folds rows [begin, end) of `count` columns. `levels` are the states of the levels below.
  void fold_columns(const char* in, std::int64_t begin, std::int64_t end, std::int64_t count,
                    char* states, QuickSpace& block, std::vector<Space>& levels,
                    std::size_t level) const {
    constexpr std::int64_t most = 64;
    const std::int64_t n = end - begin;
    if (n > loops_.column_leaf) {
      const std::int64_t half = n / 2 / 8 * 8;
      if (levels.size() <= level) levels.resize(level + 1);
      fold_columns(in, begin, begin + half, count, states, block, levels, level + 1);
      char* upper = levels[level].get(count * loops_.state_size);
      fold_columns(in, begin + half, end, count, upper, block, levels, level + 1);
      loops_.combine(states, upper, count);
      return;
    }
    const char* rows[most];
    const std::int64_t in_step = plan_.in_strides[0];
    const bool direct = loops_.direct && in_step == loops_.item;
    char* collected = direct ? nullptr : block.get(n * count * loops_.loaded);
    for (std::int64_t i = 0; i < n; ++i) {
      rows[i] = plan_.locate(in, begin + i);
      if (direct) continue;
      loops_.load(collected, rows[i], in_step, count);
      rows[i] = collected;
      collected += count * loops_.loaded;
    }
    loops_.columns(rows, n, count, begin, states);
  }

  void by_columns() const {
    const std::int64_t width =
        loops_.direct && plan_.in_strides[0] == loops_.item ? kColumns : kCollectedColumns;
    const std::int64_t per_line = divided_up(line_, width);
    const std::int64_t units = plan_.outputs / line_ * per_line;
    const std::int64_t work = folded_ * std::min(line_, width);
    std::int64_t part = folded_;
    if (units < kFewOutputs && work >= 2 * kGrainSize) {
      const std::int64_t least = divided_up(kGrainSize, std::min(line_, width));
      part = divided_up(std::max(least, divided_up(folded_, kMostParts)), loops_.column_leaf) *
             loops_.column_leaf;
    }
    const std::int64_t parts = divided_up(folded_, part);
    const std::int64_t bytes = width * loops_.state_size;
    Space space;
    char* kept = parts > 1 ? space.get(units * parts * bytes) : nullptr;
    const auto locate = [&](std::int64_t unit, char*& out, const char*& in) {
      const std::int64_t column = unit % per_line * width;
      plan_.locate_output(unit / per_line * line_ + column, out, in);
      return std::min(width, line_ - column);
    };
    const std::int64_t grain = parts > 1 ? 1 : std::max<std::int64_t>(1, kGrainSize / work);
    parallel_for(0, units * parts, grain, [&](std::int64_t begin, std::int64_t end) {
      QuickSpace own, block;
      std::vector<Space> levels;
      char* out = nullptr;
      const char* in = nullptr;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t count = locate(i / parts, out, in);
        // The states of the parts of a unit lie next to each other.
        char* states =
            parts > 1 ? kept + i / parts * parts * bytes + i % parts * count * loops_.state_size
                      : own.get(count * loops_.state_size);
        const std::int64_t first = i % parts * part;
        fold_columns(in, first, std::min(first + part, folded_), count, states, block, levels, 0);
        if (parts == 1) loops_.store(out, plan_.out_strides[0], states, count);
      }
    });
    for (std::int64_t unit = 0; parts > 1 && unit < units; ++unit) {
      char* out = nullptr;
      const char* in = nullptr;
      const std::int64_t count = locate(unit, out, in);
      char* states = kept + unit * parts * bytes;
      combine_parts(states, parts, count);
      loops_.store(out, plan_.out_strides[0], states, count);
    }
  }

  const ReductionPlan& plan_;
  const ReductionLoops& loops_;
  std::int64_t folded_;
  std::int64_t line_ = 1;
};

}  // namespace

void run_reduction(const ReductionPlan& plan, const ReductionLoops& loops) {
  Run(plan, loops).all();
}

}  // namespace opgen::detail
