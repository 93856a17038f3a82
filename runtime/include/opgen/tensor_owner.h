// tensor_owner.h: TensorOwner, the claim of the one library whose class Tensor the process uses.
#pragma once

#include "opgen/macros.h"

namespace opgen {

// A second claim ends the process and names both: two bodies of one class cannot live together.
class OPGEN_API TensorOwner {
 public:
  explicit TensorOwner(const char* library) noexcept;
  ~TensorOwner();
  TensorOwner(const TensorOwner&) = delete;
  TensorOwner& operator=(const TensorOwner&) = delete;

 private:
  const char* library_;
};

}  // namespace opgen
