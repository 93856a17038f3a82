// weak_tensor.cpp: the part of a tensor that notifies its weak references when the tensor is
// destroyed.
#include "opgen/transforms/weak_tensor.h"

#include <atomic>
#include <memory>

#include "tensor/tensor_parts.h"

namespace opgen {

struct WeakTensor::Token {
  std::atomic<bool> alive{true};
};
struct WeakTensor::Liveness final : TensorPart {
  static constexpr TensorPartKind kKind = TensorPartKind::Liveness;
  std::shared_ptr<Token> token = std::make_shared<Token>();
  ~Liveness() override { token->alive.store(false, std::memory_order_release); }
};

WeakTensor::WeakTensor(const TensorBase& tensor) {
  if (tensor.defined()) token_ = detail::part_of<Liveness>(tensor.unsafeGetTensorImpl()).token;
}

bool WeakTensor::expired() const noexcept {
  return token_ == nullptr || !token_->alive.load(std::memory_order_acquire);
}

bool WeakTensor::refers_to(const TensorBase& tensor) const noexcept {
  const auto* liveness = detail::find_part<Liveness>(tensor.unsafeGetTensorImpl());
  return token_ != nullptr && liveness != nullptr && liveness->token == token_;
}

}  // namespace opgen
