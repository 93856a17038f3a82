// autograd_part.h: AutogradPart, what a tensor carries for gradients. Internal.
#pragma once

#include <memory>
#include <mutex>

#include "opgen/autograd.h"
#include "opgen/tensor_extra.h"

namespace opgen::autograd::internal {

struct AutogradPart final : TensorPart {
  static constexpr TensorPartKind kKind = TensorPartKind::Autograd;
  bool requires_grad = false;  // of a leaf
  std::shared_ptr<Node> grad_fn;
  std::uint32_t output_nr = 0;
  std::mutex mutex;                 // of what follows: threads share the leaves of a model
  std::weak_ptr<Node> accumulator;  // which owns the tensor
  TensorBase grad;
};

[[nodiscard]] inline AutogradPart* find_autograd(const TensorBase& tensor) noexcept {
  return opgen::detail::find_part<AutogradPart>(tensor.unsafeGetTensorImpl());
}
[[nodiscard]] inline AutogradPart& autograd_of(const TensorBase& tensor) {
  return opgen::detail::part_of<AutogradPart>(tensor.unsafeGetTensorImpl());
}

}  // namespace opgen::autograd::internal
