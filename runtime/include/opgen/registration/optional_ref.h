// optional_ref.h: OptionalTensorRef and OptionalScalarRef, borrowed arguments that may be absent.
#pragma once

#include <optional>

#include "opgen/core/error.h"

namespace opgen {

class Tensor;
class Scalar;

// A tensor or a number, or nothing. An undefined tensor counts as nothing.
template <class T>
class OptionalRef {
 public:
  constexpr OptionalRef() noexcept = default;
  constexpr OptionalRef(std::nullopt_t) noexcept {}                   // NOLINT
  constexpr OptionalRef(const T& value) noexcept : value_(&value) {}  // NOLINT
  constexpr OptionalRef(const std::optional<T>& value) noexcept       // NOLINT
      : value_(value.has_value() ? &*value : nullptr) {}

  [[nodiscard]] constexpr bool has_value() const noexcept {
    if constexpr (requires { value_->defined(); }) {
      return value_ != nullptr && value_->defined();
    } else {
      return value_ != nullptr;
    }
  }
  constexpr explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] constexpr const T& operator*() const noexcept { return *value_; }
  [[nodiscard]] constexpr const T* operator->() const noexcept { return value_; }
  [[nodiscard]] constexpr const T& value() const {
    OPGEN_CHECK(has_value(), "value() of an absent argument");
    return *value_;
  }
  // The same functions under ATen's names.
  [[nodiscard]] const T& getTensorRef() const { return value(); }
  [[nodiscard]] constexpr const T& get() const { return value(); }

 private:
  const T* value_ = nullptr;
};
using OptionalTensorRef = OptionalRef<Tensor>;
using OptionalScalarRef = OptionalRef<Scalar>;

}  // namespace opgen
