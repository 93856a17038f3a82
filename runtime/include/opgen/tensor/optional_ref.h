// optional_ref.h: borrowed arguments that may be absent: OptionalTensorRef and OptionalScalarRef.
#pragma once

#include <optional>

#include "opgen/core/error.h"

namespace opgen {

class Tensor;
class Scalar;

// A tensor or nothing. An undefined tensor counts as nothing.
template <class T>
class BasicOptionalTensorRef {
 public:
  constexpr BasicOptionalTensorRef() noexcept = default;
  constexpr BasicOptionalTensorRef(std::nullopt_t) noexcept {}                      // NOLINT
  constexpr BasicOptionalTensorRef(const T& tensor) noexcept : tensor_(&tensor) {}  // NOLINT
  constexpr BasicOptionalTensorRef(const std::optional<T>& tensor) noexcept         // NOLINT
      : tensor_(tensor.has_value() ? &*tensor : nullptr) {}

  [[nodiscard]] bool has_value() const noexcept { return tensor_ != nullptr && tensor_->defined(); }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] const T& operator*() const noexcept { return *tensor_; }
  [[nodiscard]] const T* operator->() const noexcept { return tensor_; }
  [[nodiscard]] const T& value() const {
    OPGEN_CHECK(has_value(), "value() of an absent tensor");
    return *tensor_;
  }
  [[nodiscard]] const T& getTensorRef() const { return value(); }

 private:
  const T* tensor_ = nullptr;
};
using OptionalTensorRef = BasicOptionalTensorRef<Tensor>;

template <class T>
class BasicOptionalScalarRef {
 public:
  constexpr BasicOptionalScalarRef() noexcept = default;
  constexpr BasicOptionalScalarRef(std::nullopt_t) noexcept {}                      // NOLINT
  constexpr BasicOptionalScalarRef(const T& scalar) noexcept : scalar_(&scalar) {}  // NOLINT
  constexpr BasicOptionalScalarRef(const std::optional<T>& scalar) noexcept         // NOLINT
      : scalar_(scalar.has_value() ? &*scalar : nullptr) {}

  [[nodiscard]] constexpr bool has_value() const noexcept { return scalar_ != nullptr; }
  constexpr explicit operator bool() const noexcept { return scalar_ != nullptr; }
  [[nodiscard]] constexpr const T& operator*() const noexcept { return *scalar_; }
  [[nodiscard]] constexpr const T* operator->() const noexcept { return scalar_; }
  [[nodiscard]] constexpr const T& get() const {
    OPGEN_CHECK(scalar_ != nullptr, "get() of an absent number");
    return *scalar_;
  }

 private:
  const T* scalar_ = nullptr;
};
using OptionalScalarRef = BasicOptionalScalarRef<Scalar>;

}  // namespace opgen
