// moment_sums.h: Moments, what is known of a set of numbers, and how it is found from distances.
#pragma once

#include "opgen/core/macros.h"

namespace opgen {

// What is known of a set of numbers.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;  // the sum of squared distances from the mean

  // Adds the numbers of another set.
  OPGEN_ALWAYS_INLINE void add(const Moments& other) {
    const double both = count + other.count;
    if (both == 0) return;
    const double share = other.count / both, distance = other.mean - mean;
    squares += other.squares + distance * distance * count * share;
    // Infinities stay what they are.
    mean = count == 0 ? other.mean : mean * (count / both) + other.mean * share;
    count = both;
  }
};

namespace detail {

// Sums of the distances of numbers from an origin, and of their squares. The origin is near the
// mean, so that little cancels.
struct DistanceSums {
  double sum = 0, squares = 0;
  [[nodiscard]] OPGEN_ALWAYS_INLINE Moments from(double origin, double count) const {
    const double shift = sum / count, about_mean = squares - sum * shift;
    // The difference of rounded numbers may be below 0 if all numbers are equal; NaN stays NaN.
    return {count, origin + shift, about_mean < 0 ? 0.0 : about_mean};
  }
};

// An origin for distances, near a mean that may be infinite. Any finite number will do.
OPGEN_ALWAYS_INLINE double origin_of(double mean, double element) {
  return mean - mean == 0 ? mean : element - element == 0 ? element : 0.0;
}

}  // namespace detail

}  // namespace opgen
