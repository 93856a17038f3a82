// plain_tensor.h: the body of opgen::Tensor for tests without generated code.
#pragma once

#include "opgen/tensor.h"

namespace opgen {

class Tensor : public TensorBase {
 public:
  using TensorBase::TensorBase;
  Tensor() = default;
  Tensor(const TensorBase& base) : TensorBase(base) {}                 // NOLINT
  Tensor(TensorBase&& base) noexcept : TensorBase(std::move(base)) {}  // NOLINT
};
static_assert(sizeof(Tensor) == sizeof(TensorBase));

}  // namespace opgen
