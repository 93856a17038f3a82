// tensor_extra.cpp: records of tensors, added by whichever thread comes first; weak references.
#include "opgen/tensor_extra.h"

#include <atomic>
#include <memory>

#include "opgen/weak_tensor.h"

namespace opgen {

TensorPart::~TensorPart() = default;

TensorExtra::~TensorExtra() {
  for (TensorPart* part : parts_) delete part;
}

TensorPart* TensorExtra::add(TensorPartKind kind, std::unique_ptr<TensorPart> part) noexcept {
  TensorPart*& place = parts_[static_cast<std::size_t>(kind)];
  TensorPart* there = nullptr;
  bool added = __atomic_compare_exchange_n(&place, &there, part.get(), false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
  return added ? part.release() : there;
}

namespace detail {

TensorExtra& make_extra(TensorImpl& impl) {
  if (TensorExtra* extra = impl.extra()) return *extra;
  return *impl.add_extra(new TensorExtra);
}
void throw_no_extra() {
  OPGEN_CHECK(false, "an undefined tensor cannot be marked");
  __builtin_unreachable();
}

}  // namespace detail

// ---- Weak references ---------------------------------------------------------------------------

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
