// sum.h: sums of many numbers with small rounding errors.
#pragma once

#include <array>
#include <bit>

#include "math.h"

namespace kernels {

// Adds a stream of numbers pairwise, so that the error grows with the logarithm of their count. A
// block is summed in order; full blocks are combined like the bits of a binary counter.
template <class T>
class PairwiseSum {
 public:
  void add(T x) {
    block_ = plus(block_, x);
    if (++in_block_ == block_size) carry();
  }

  [[nodiscard]] T result() const {
    T total = block_;
    for (uint64_t bits = blocks_; bits != 0; bits &= bits - 1) {
      total = plus(total, levels_[static_cast<size_t>(std::countr_zero(bits))]);
    }
    return total;
  }

 private:
  static constexpr int block_size = 128;

  void carry() {
    T sum = block_;
    size_t level = 0;
    for (uint64_t bits = blocks_; (bits & 1) != 0; bits >>= 1) sum = plus(levels_[level++], sum);
    levels_[level] = sum;
    ++blocks_;
    block_ = T(0);
    in_block_ = 0;
  }

  std::array<T, 57> levels_;  // levels_[i] is valid if bit i of blocks_ is set
  uint64_t blocks_ = 0;
  T block_ = T(0);
  int in_block_ = 0;
};

}  // namespace kernels
