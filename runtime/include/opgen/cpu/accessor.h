// accessor.h: TensorAccessor, element access by index for kernels that know dtype and number of
// dimensions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opgen {

// Borrows data, sizes and strides, so the tensor must outlive it. The data must not be null or on
// Meta.
template <class T, std::size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides) noexcept
      : data_(data), sizes_(sizes), strides_(strides) {}
  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t size(std::size_t d) const noexcept { return sizes_[d]; }
  [[nodiscard]] std::int64_t stride(std::size_t d) const noexcept { return strides_[d]; }
  [[nodiscard]] decltype(auto) operator[](std::int64_t i) const noexcept {
    if constexpr (N == 1) {
      return static_cast<T&>(data_[i * strides_[0]]);
    } else {
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
    }
  }

 private:
  T* data_;
  const std::int64_t* sizes_;
  const std::int64_t* strides_;
};

}  // namespace opgen
