// loss_reduction.h: what a loss returns for its places, by the argument `reduction`.
#pragma once

#include <opgen/kernel.h>

namespace kernels {

enum LossReduction : int64_t { kNone, kMean, kSum };

// Returns the losses of all places, their mean or their sum. The operators record the gradient.
inline opgen::Tensor reduced(const opgen::Tensor& each, int64_t reduction) {
  if (reduction == kMean) return each.mean();
  return reduction == kSum ? each.sum() : each;
}

}  // namespace kernels
