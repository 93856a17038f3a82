// tensor_owner.h: TensorOwner, with which a library claims to define the class Tensor of the
// process.
#pragma once

#include "opgen/core/macros.h"

namespace opgen {

// A second claim ends the process with an error that names both libraries: a process cannot have
// two definitions of one class.
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
