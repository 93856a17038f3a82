// tensors.h: small tensors for tests, and their elements as numbers.
#pragma once

#include <initializer_list>
#include <vector>

#include "opgen/tensor.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/shape_utils.h"

namespace tensors {

using namespace opgen;

// Returns 0, 1, 2, … in row-major order of the indices, for any strides.
inline Tensor arange(IntArrayRef sizes, ScalarType dtype = kFloat) {
  Tensor counted = detail::empty(sizes, TensorOptions().dtype(kDouble));
  double* data = counted.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < counted.numel(); ++i) data[i] = static_cast<double>(i);
  return detail::to_dtype(counted, dtype);
}
inline Tensor full(IntArrayRef sizes, const Scalar& value, ScalarType dtype = kFloat) {
  return detail::full(sizes, value, TensorOptions().dtype(dtype));
}
inline Tensor empty(IntArrayRef sizes, ScalarType dtype = kFloat) {
  return detail::empty(sizes, TensorOptions().dtype(dtype));
}
inline Tensor meta(IntArrayRef sizes, ScalarType dtype = kFloat) {
  return detail::empty(sizes, TensorOptions().dtype(dtype).device(kMeta));
}
inline Tensor scalar(const Scalar& value, ScalarType dtype) {
  return full({}, value, dtype);
}
inline Tensor number(const Scalar& value) {
  return detail::wrapped_scalar_tensor(value);
}

inline Tensor permute(const Tensor& self, std::initializer_list<std::size_t> dims) {
  DimVector sizes;
  DimVector strides;
  for (std::size_t d : dims) {
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return detail::alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}
inline Tensor t(const Tensor& self) {
  return permute(self, {1, 0});
}
inline Tensor strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                      std::int64_t offset = 0) {
  return detail::alias_with_sizes_and_strides(self, sizes, strides, offset);
}
inline Tensor expand(const Tensor& self, IntArrayRef sizes) {
  return detail::expand_view(self, sizes);
}
inline Tensor channels_last(const Tensor& self) {
  return detail::clone(self, MemoryFormat::ChannelsLast);
}

// Returns the elements in row-major order.
inline std::vector<double> values(const TensorBase& self) {
  std::vector<double> result;
  DimVector index(self.sizes().size(), 0);
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    std::int64_t offset = self.storage_offset();
    std::int64_t rest = i;
    for (std::size_t d = index.size(); d-- > 0;) {
      offset += rest % self.sizes()[d] * self.strides()[d];
      rest /= self.sizes()[d];
    }
    Scalar value = opgen::item(detail::alias_with_sizes_and_strides(self, {}, {}, offset));
    result.push_back(value.isComplex() ? value.toComplexDouble().real() : value.to<double>());
  }
  return result;
}

}  // namespace tensors
