// weak_tensor.h: WeakTensor, which tells whether a tensor is the one that it was made from, without
// keeping that one alive.
#pragma once

#include <memory>

#include "opgen/tensor.h"

namespace opgen {

// It gives no tensor back: the last owner of a tensor never pays for a locked instruction (ref.h),
// so another thread could not tell a tensor that is about to go from one that stays. An address
// that is used again is never taken for the old tensor.
class OPGEN_API WeakTensor {
 public:
  WeakTensor() noexcept = default;
  explicit WeakTensor(const TensorBase& tensor);

  // No owner is left.
  [[nodiscard]] bool expired() const noexcept;
  [[nodiscard]] bool refers_to(const TensorBase& tensor) const noexcept;

 private:
  struct Token;
  struct Liveness;
  std::shared_ptr<Token> token_;
};

}  // namespace opgen
