// optional_of.h: an optional tensor in a formula.
#pragma once

#include <optional>
#include <utility>

#include "opgen/tensor/tensor.h"

namespace opgen::autograd::internal {

// An optional tensor as formulas see it: a tensor that may be undefined, and nullopt for a function
// that takes an optional one.
template <class T>
class OptionalOf : public T {
 public:
  explicit OptionalOf(TensorBase tensor) : T(std::move(tensor)) {}
  operator std::optional<T>() const {  // NOLINT(google-explicit-constructor)
    // As a T: std::optional<T>(*this) may call this operator again.
    return this->defined() ? std::optional<T>(static_cast<const T&>(*this)) : std::nullopt;
  }
  [[nodiscard]] bool has_value() const noexcept { return this->defined(); }
  [[nodiscard]] const T& value() const noexcept { return *this; }
};

}  // namespace opgen::autograd::internal
