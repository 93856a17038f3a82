// moments.cpp: the moments of adjacent numbers, and their normalisation.
#include "opgen/cpu/moments.h"

#include "kernels/moments_rows.h"
#include "kernels/with_vectors.h"

namespace opgen {

namespace {

template <class T>
Moments moments_of(const T* at, std::int64_t n) {
  if (n == 0) return {};
  return detail::with_vectors(
      [&]<int bytes> { return detail::MomentsRows<T, bytes>::moments(at, n); });
}
template <class T>
void normalise(T* to, const T* from, std::int64_t n, double mean, double factor, const T* scale,
               const T* shift) {
  detail::with_vectors([&]<int bytes> {
    detail::MomentsRows<T, bytes>::normalise(to, from, n, mean, factor, scale, shift);
  });
}
template <class T>
void scale(T* to, const T* from, std::int64_t n, double mean, double factor, double shift) {
  detail::with_vectors(
      [&]<int bytes> { detail::MomentsRows<T, bytes>::scale(to, from, n, mean, factor, shift); });
}

}  // namespace

#define OPGEN_MOMENTS_OF(T)                                                                        \
  Moments moments_of_row(const T* at, std::int64_t n) {                                            \
    return moments_of(at, n);                                                                      \
  }                                                                                                \
  void normalise_row(T* to, const T* from, std::int64_t n, double mean, double factor,             \
                     const T* scale, const T* shift) {                                             \
    normalise(to, from, n, mean, factor, scale, shift);                                            \
  }                                                                                                \
  void scale_row(T* to, const T* from, std::int64_t n, double mean, double factor, double shift) { \
    scale(to, from, n, mean, factor, shift);                                                       \
  }
OPGEN_MOMENTS_OF(float)
OPGEN_MOMENTS_OF(double)

}  // namespace opgen
