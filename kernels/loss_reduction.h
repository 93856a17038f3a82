// loss_reduction.h: what a loss returns for its places, by the argument `reduction`.
#pragma once

#include <opgen/kernel.h>

namespace kernels {

enum LossReduction : int64_t { kNone, kMean, kSum };

// Throws ValueError for a number that is none of these: PyTorch asserts something inside, or takes
// it for one of them.
inline void check_reduction(int64_t reduction) {
  OPGEN_CHECK_VALUE(reduction >= kNone && reduction <= kSum,
                    "reduction must be 0 (none), 1 (mean) or 2 (sum), got ", reduction);
}

// Returns the losses of all places, their mean or their sum. The operators record the gradient.
inline at::Tensor reduced(const at::Tensor& each, int64_t reduction) {
  check_reduction(reduction);
  if (reduction == kMean) return each.mean();
  return reduction == kSum ? each.sum() : each;
}

}  // namespace kernels
