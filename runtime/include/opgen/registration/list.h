// list.h: List, an owning sequence; the type of `Tensor?[]`, `str[]` and `bool[]` arguments.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/core/array_ref.h"

namespace opgen {

template <class T>
class List {
 public:
  using value_type = T;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;
  using const_reference = typename std::vector<T>::const_reference;  // bool if T is bool

  List() = default;
  List(std::initializer_list<T> list) : items_(list) {}
  explicit List(ArrayRef<T> range) : items_(range.begin(), range.end()) {}
  explicit List(std::vector<T> items) : items_(std::move(items)) {}
  // Of tensors with other methods.
  template <class U>
  requires(!std::is_same_v<U, T> && std::is_convertible_v<const U&, T>) List(const List<U>& other)
      : items_(other.begin(), other.end()) {}  // NOLINT

  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] const T* data() const noexcept
      requires(!std::is_same_v<T, bool>)  // a std::vector<bool> has no bool elements
  {
    return items_.data();
  }
  [[nodiscard]] const_reference operator[](std::size_t i) const noexcept { return items_[i]; }
  [[nodiscard]] const_reference get(std::size_t i) const { return items_.at(i); }
  void set(std::size_t i, T value) { items_.at(i) = std::move(value); }
  void push_back(T value) { items_.push_back(std::move(value)); }
  void reserve(std::size_t count) { items_.reserve(count); }
  [[nodiscard]] const_iterator begin() const noexcept { return items_.begin(); }
  [[nodiscard]] const_iterator end() const noexcept { return items_.end(); }
  [[nodiscard]] const std::vector<T>& vec() const noexcept { return items_; }
  [[nodiscard]] bool operator==(const List&) const = default;

 private:
  std::vector<T> items_;
};

}  // namespace opgen
