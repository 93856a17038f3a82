// optional_of.h: an optional tensor in a formula.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "opgen/tensor/tensor.h"

namespace opgen::autograd::internal {

// An optional tensor as formulas see it: a tensor that may be undefined, and nullopt for a function
// that takes an optional one.
template <class T>
class OptionalOf : public T {
 public:
  explicit OptionalOf(TensorBase tensor) : T(std::move(tensor)) {}
  operator std::optional<T>() const { return as<T>(); }  // NOLINT(google-explicit-constructor)
  operator std::optional<Tensor>() const                 // NOLINT(google-explicit-constructor)
      requires(!std::is_same_v<T, Tensor>) {
    return as<Tensor>();
  }
  [[nodiscard]] bool has_value() const noexcept { return this->defined(); }
  [[nodiscard]] const T& value() const noexcept { return *this; }

 private:
  template <class U>
  [[nodiscard]] std::optional<U> as() const {
    // As a U: std::optional<U>(*this) may call the operator again.
    return this->defined() ? std::optional<U>(static_cast<const U&>(*this)) : std::nullopt;
  }
};

}  // namespace opgen::autograd::internal
