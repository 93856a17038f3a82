// weak_tensor.h: WeakTensor recognises the tensor that it was made from, without keeping it alive.
#pragma once

#include <memory>

#include "opgen/tensor/tensor.h"

namespace opgen {

// It cannot return the tensor: the last owner releases it without a locked instruction (ref.h), so
// another thread cannot know whether the tensor is being destroyed. A new tensor at the same
// address is not mistaken for the old one.
class OPGEN_API WeakTensor {
 public:
  WeakTensor() noexcept = default;
  explicit WeakTensor(const TensorBase& tensor);

  // Returns whether the tensor has no owner any more.
  [[nodiscard]] bool expired() const noexcept;
  [[nodiscard]] bool refers_to(const TensorBase& tensor) const noexcept;

 private:
  struct Token;
  struct Liveness;
  std::shared_ptr<Token> token_;
};

}  // namespace opgen
