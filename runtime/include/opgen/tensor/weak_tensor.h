// weak_tensor.h: WeakTensor recognises the tensor that it was made from, without keeping it alive.
#pragma once

#include <memory>

#include "opgen/tensor/tensor.h"

namespace opgen {

// It cannot return the tensor: the last owner releases it without a locked instruction (ref.h), so
// another thread could not tell whether the tensor is about to be destroyed. A new tensor at the
// same address is not taken for the old one.
class OPGEN_API WeakTensor {
 public:
  WeakTensor() noexcept = default;
  explicit WeakTensor(const TensorBase& tensor);

  // Whether no owner is left.
  [[nodiscard]] bool expired() const noexcept;
  [[nodiscard]] bool refers_to(const TensorBase& tensor) const noexcept;

 private:
  struct Token;
  struct Liveness;
  std::shared_ptr<Token> token_;
};

}  // namespace opgen
