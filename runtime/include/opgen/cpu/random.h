// random.h: draws numbers from the usual distributions with a CPU generator, for both targets. Hold
// GeneratorLock(engine) while drawing; parallel draws need one generator per thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "opgen/core/error.h"
#include "opgen/cpu/cpu_generator.h"

namespace opgen {

// Returns a uniformly distributed number in [from, to), with as many random bits as T has digits.
template <class T>
[[nodiscard]] T draw_uniform(CPUGeneratorImpl& engine, T from = T(0), T to = T(1)) {
  constexpr int digits = std::numeric_limits<T>::digits;
  constexpr std::uint64_t mask = (std::uint64_t(1) << digits) - 1;
  constexpr T unit = T(1) / static_cast<T>(std::uint64_t(1) << digits);
  std::uint64_t bits = digits > 32 ? engine.random64() : engine.random();
  return static_cast<T>(bits & mask) * unit * (to - from) + from;
}

// Returns a uniformly distributed integer in [0, range). Uses 64 random bits from a range of 2^28
// on, as PyTorch does: with 32 bits, the remainder would favour small numbers.
[[nodiscard]] inline std::uint64_t draw_below(CPUGeneratorImpl& engine, std::uint64_t range) {
  OPGEN_CHECK_VALUE(range != 0, "the range of a random integer must not be empty");
  return (range >> 28) != 0 ? engine.random64() % range : engine.random() % range;
}

[[nodiscard]] inline bool draw_bernoulli(CPUGeneratorImpl& engine, double p) {
  OPGEN_CHECK_VALUE(p >= 0 && p <= 1, "a probability must be in [0, 1], got ", p);
  return draw_uniform<double>(engine) < p;
}

// Draws normally distributed numbers with the Box-Muller method, which makes two at a time; the
// second is kept for the next draw.
class NormalDraws {
 public:
  explicit NormalDraws(CPUGeneratorImpl& engine, double mean = 0, double std = 1)
      : engine_(engine), mean_(mean), std_(std) {
    OPGEN_CHECK_VALUE(std >= 0, "a standard deviation must not be negative, got ", std);
  }
  [[nodiscard]] double operator()() {
    if (has_next_) {
      has_next_ = false;
      return next_ * std_ + mean_;
    }
    double angle = 2 * 3.14159265358979323846 * draw_uniform<double>(engine_);
    double radius = std::sqrt(-2 * std::log1p(-draw_uniform<double>(engine_)));
    next_ = radius * std::sin(angle);
    has_next_ = true;
    return radius * std::cos(angle) * std_ + mean_;
  }

 private:
  CPUGeneratorImpl& engine_;
  double mean_;
  double std_;
  double next_ = 0;
  bool has_next_ = false;
};

}  // namespace opgen
