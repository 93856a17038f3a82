// small_vector.h: SmallVector, a vector whose first N elements live inside it; DimVector, for sizes
// and strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

#include "opgen/core/array_ref.h"

namespace opgen {

template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "growing moves the elements, so their move constructor must not throw");

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;

  SmallVector() noexcept = default;
  explicit SmallVector(std::size_t count) { resize(count); }
  SmallVector(std::size_t count, const T& value) { resize(count, value); }
  SmallVector(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  explicit SmallVector(ArrayRef<T> range) { append(range.begin(), range.end()); }
  template <class It>
  requires(!std::is_integral_v<It>) SmallVector(It first, It last) { append(first, last); }
  SmallVector(const SmallVector& other) { append(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  SmallVector& operator=(ArrayRef<T> range) {
    assign(range.begin(), range.end());
    return *this;
  }
  ~SmallVector() { release(); }

  [[nodiscard]] iterator begin() noexcept { return data_; }
  [[nodiscard]] iterator end() noexcept { return data_ + size_; }
  [[nodiscard]] const_iterator begin() const noexcept { return data_; }
  [[nodiscard]] const_iterator end() const noexcept { return data_ + size_; }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T& front() noexcept { return data_[0]; }
  [[nodiscard]] const T& front() const noexcept { return data_[0]; }
  [[nodiscard]] T& back() noexcept { return data_[size_ - 1]; }
  [[nodiscard]] const T& back() const noexcept { return data_[size_ - 1]; }

  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  template <class... A>
  T& emplace_back(A&&... arguments) {
    if (OPGEN_UNLIKELY(size_ == capacity_)) {
      T value(std::forward<A>(arguments)...);  // an argument may be an element of this vector
      grow(capacity_ * 2);
      return *::new (static_cast<void*>(data_ + size_++)) T(std::move(value));
    }
    return *::new (static_cast<void*>(data_ + size_++)) T(std::forward<A>(arguments)...);
  }
  void pop_back() noexcept { data_[--size_].~T(); }
  void resize(std::size_t count) {
    shrink_to(count);
    reserve(count);
    for (; size_ < count; ++size_) ::new (static_cast<void*>(data_ + size_)) T();
  }
  void resize(std::size_t count, const T& value) {
    T copy(value);
    shrink_to(count);
    reserve(count);
    for (; size_ < count; ++size_) ::new (static_cast<void*>(data_ + size_)) T(copy);
  }
  void clear() noexcept { shrink_to(0); }
  // The range must not be part of this vector.
  template <class It>
  requires(!std::is_integral_v<It>) void assign(It first, It last) {
    clear();
    append(first, last);
  }
  void assign(std::size_t count, const T& value) {
    T copy(value);
    clear();
    resize(count, copy);
  }
  template <class It>
  requires(!std::is_integral_v<It>) void append(It first, It last) {
    if constexpr (std::is_pointer_v<It> && std::is_trivially_copyable_v<T>) {
      // Copies with a loop: most vectors have one to five elements, for which memcpy is slower.
      std::size_t count = static_cast<std::size_t>(last - first);
      reserve(size_ + count);
      T* to = data_ + size_;
      for (std::size_t i = 0; i < count; ++i) ::new (static_cast<void*>(to + i)) T(first[i]);
      size_ += count;
    } else {
      for (; first != last; ++first) emplace_back(*first);
    }
  }
  iterator insert(const_iterator where, T value) {
    std::size_t i = static_cast<std::size_t>(where - data_);
    emplace_back(std::move(value));
    for (std::size_t j = size_ - 1; j > i; --j) std::swap(data_[j], data_[j - 1]);
    return data_ + i;
  }
  iterator erase(const_iterator where) {
    std::size_t i = static_cast<std::size_t>(where - data_);
    for (std::size_t j = i + 1; j < size_; ++j) data_[j - 1] = std::move(data_[j]);
    pop_back();
    return data_ + i;
  }
  [[nodiscard]] bool operator==(const SmallVector& other) const {
    return ArrayRef<T>(*this).equals(other);
  }

 private:
  [[nodiscard]] bool is_inline() const noexcept {
    return static_cast<const void*>(data_) == static_cast<const void*>(buffer_);
  }
  void shrink_to(std::size_t count) noexcept {
    if constexpr (std::is_trivially_destructible_v<T>) {
      if (size_ > count) size_ = count;
    } else {
      while (size_ > count) pop_back();
    }
  }
  OPGEN_NOINLINE void grow(std::size_t count) {
    if (count < capacity_ * 2) count = capacity_ * 2;
    T* bigger = static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(alignof(T))));
    for (std::size_t i = 0; i < size_; ++i) {
      ::new (static_cast<void*>(bigger + i)) T(std::move(data_[i]));
      data_[i].~T();
    }
    free_heap();
    data_ = bigger;
    capacity_ = count;
  }
  void free_heap() noexcept {
    if (!is_inline()) ::operator delete(static_cast<void*>(data_), std::align_val_t(alignof(T)));
  }
  void release() noexcept {
    clear();
    if (OPGEN_LIKELY(is_inline())) return;
    free_heap();
    data_ = reinterpret_cast<T*>(buffer_);
    capacity_ = N;
  }
  // Takes the elements of `other`. This vector must be empty and inline.
  void take(SmallVector& other) noexcept {
    if (other.is_inline()) {
      for (std::size_t i = 0; i < other.size_; ++i) {
        ::new (static_cast<void*>(data_ + i)) T(std::move(other.data_[i]));
      }
      size_ = other.size_;
      other.clear();
      return;
    }
    data_ = other.data_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.data_ = reinterpret_cast<T*>(other.buffer_);
    other.size_ = 0;
    other.capacity_ = N;
  }

  T* data_ = reinterpret_cast<T*>(buffer_);
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
  alignas(T) unsigned char buffer_[N * sizeof(T)];
};

// Five dimensions are enough for a batch of volumes; longer shapes are on the heap.
using DimVector = SmallVector<std::int64_t, 5>;

}  // namespace opgen
