// array_ref.h: ArrayRef, a borrowed, read-only array; OptionalArrayRef, one that may be absent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

#include "opgen/core/error.h"

namespace opgen {

template <class T>
class ArrayRef;

namespace detail {
// Whether arrays of U are arrays of T: U may be a library's class Tensor, which only adds methods.
template <class U, class T>
concept LaidOutAs = std::is_same_v<U, T> ||(std::is_base_of_v<T, U> && sizeof(U) == sizeof(T));
template <class C, class T>
concept RangeOf = !std::is_same_v<C, ArrayRef<T>> && requires(const C& range) {
  { range.data() } -> std::convertible_to<const T*>;
  { range.size() } -> std::convertible_to<std::size_t>;
  requires LaidOutAs<std::remove_cvref_t<decltype(*range.data())>, T>;
};
}  // namespace detail

// Borrows its elements: valid as long as the array it was made from. Pass it by value, and do not
// store it.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = std::size_t;

  constexpr ArrayRef() noexcept = default;
  constexpr ArrayRef(const T& one) noexcept : data_(&one), size_(1) {}  // NOLINT
  constexpr ArrayRef(const T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) noexcept
      : data_(begin), size_(static_cast<std::size_t>(end - begin)) {}
  template <detail::RangeOf<T> C>
  constexpr ArrayRef(const C& range) noexcept  // NOLINT
      : data_(range.data()), size_(range.size()) {}
  template <detail::LaidOutAs<T> U, std::size_t N>
  constexpr ArrayRef(const U (&array)[N]) noexcept : data_(array), size_(N) {}  // NOLINT
  // For arguments, where the list outlives the call.
  constexpr ArrayRef(std::initializer_list<T> list) noexcept  // NOLINT
      : ArrayRef(list.begin(), list.size()) {}

  [[nodiscard]] constexpr iterator begin() const noexcept { return data_; }
  [[nodiscard]] constexpr iterator end() const noexcept { return data_ + size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr const T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] constexpr const T& at(std::size_t i) const {
    OPGEN_CHECK_INDEX(i < size_, "index ", i, " is out of range for ", size_, " elements");
    return data_[i];
  }
  [[nodiscard]] constexpr const T& front() const {
    OPGEN_CHECK(size_ != 0, "front() of an empty list");
    return data_[0];
  }
  [[nodiscard]] constexpr const T& back() const {
    OPGEN_CHECK(size_ != 0, "back() of an empty list");
    return data_[size_ - 1];
  }
  [[nodiscard]] constexpr ArrayRef slice(std::size_t start, std::size_t count) const {
    OPGEN_CHECK(start + count <= size_, "slice [", start, ", ", start + count, ") of ", size_,
                " elements");
    return ArrayRef(data_ + start, count);
  }
  [[nodiscard]] constexpr ArrayRef slice(std::size_t start) const {
    return slice(start, size_ - start);
  }
  [[nodiscard]] constexpr bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      if (!(data_[i] == other.data_[i])) return false;
    }
    return true;
  }
  [[nodiscard]] std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
constexpr bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T, detail::RangeOf<T> C>
constexpr bool operator==(ArrayRef<T> a, const C& b) {
  return a.equals(ArrayRef<T>(b));
}

using IntArrayRef = ArrayRef<std::int64_t>;

// A std::optional<ArrayRef<T>> that also converts from everything that converts to ArrayRef.
template <class T>
class OptionalArrayRef {
 public:
  constexpr OptionalArrayRef() noexcept = default;
  constexpr OptionalArrayRef(std::nullopt_t) noexcept {}                              // NOLINT
  constexpr OptionalArrayRef(ArrayRef<T> ref) noexcept : ref_(ref) {}                 // NOLINT
  constexpr OptionalArrayRef(const T& one) noexcept : ref_(ArrayRef<T>(one)) {}       // NOLINT
  constexpr OptionalArrayRef(std::optional<ArrayRef<T>> ref) noexcept : ref_(ref) {}  // NOLINT
  constexpr OptionalArrayRef(std::initializer_list<T> list) noexcept                  // NOLINT
      : ref_(ArrayRef<T>(list)) {}
  template <std::size_t N>
  constexpr OptionalArrayRef(const T (&array)[N]) noexcept : ref_(ArrayRef<T>(array)) {}  // NOLINT
  template <detail::RangeOf<T> C>
  constexpr OptionalArrayRef(const C& range) noexcept : ref_(ArrayRef<T>(range)) {}  // NOLINT
  template <detail::RangeOf<T> C>
  constexpr OptionalArrayRef(const std::optional<C>& range) noexcept {  // NOLINT
    if (range.has_value()) ref_ = ArrayRef<T>(*range);
  }

  [[nodiscard]] constexpr bool has_value() const noexcept { return ref_.has_value(); }
  constexpr explicit operator bool() const noexcept { return ref_.has_value(); }
  [[nodiscard]] constexpr const ArrayRef<T>& value() const { return ref_.value(); }
  [[nodiscard]] constexpr const ArrayRef<T>& operator*() const noexcept { return *ref_; }
  [[nodiscard]] constexpr const ArrayRef<T>* operator->() const noexcept { return &*ref_; }
  [[nodiscard]] constexpr ArrayRef<T> value_or(ArrayRef<T> other) const noexcept {
    return ref_.value_or(other);
  }
  constexpr operator std::optional<ArrayRef<T>>() const noexcept { return ref_; }  // NOLINT

 private:
  std::optional<ArrayRef<T>> ref_;
};

using OptionalIntArrayRef = OptionalArrayRef<std::int64_t>;

}  // namespace opgen
