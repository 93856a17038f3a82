// planes.h: loops over planes, the last two dimensions of images.
#pragma once

#include <vector>

#include "common.h"

namespace kernels {

// Calls f(start of the input plane, start of the output plane, start of the third tensor's plane)
// for each channel.
template <class F>
void for_each_plane(const Tensor& self, const Tensor& out, const Tensor& third, int64_t work, F f) {
  const auto planes = static_cast<size_t>(self.dim() - 2);
  const IntArrayRef sizes(self.sizes().data(), planes);
  for_each_index<3>(
      sizes,
      {IntArrayRef(self.strides().data(), planes), IntArrayRef(out.strides().data(), planes),
       IntArrayRef(third.strides().data(), planes)},
      [&](const std::array<int64_t, 3>& at) { f(at[0], at[1], at[2]); }, work);
}

// Adds up what windows give to each element of one plane, in the type of sums.
template <class T>
class PlaneSum {
 public:
  PlaneSum(int64_t height, int64_t width)
      : height_(height), width_(width), sums_(static_cast<size_t>(height * width)) {}
  void add(int64_t place, sum_t<T> value) {
    sums_[static_cast<size_t>(place)] = plus(sums_[static_cast<size_t>(place)], value);
  }
  void store(T* to, int64_t row, int64_t column) const {
    for (int64_t y = 0; y < height_; ++y) {
      for (int64_t x = 0; x < width_; ++x) {
        to[y * row + x * column] = static_cast<T>(sums_[static_cast<size_t>(y * width_ + x)]);
      }
    }
  }

 private:
  int64_t height_, width_;
  std::vector<sum_t<T>> sums_;
};

}  // namespace kernels
