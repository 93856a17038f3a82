// inference_mode.h: InferenceMode, a scope whose tensors are never recorded and have no version
// counter.
#pragma once

#include "opgen/core/local_keys.h"

namespace opgen {

// In the scope, calls skip autograd, and new tensors have neither autograd keys nor a version
// counter: a call on such tensors costs only its kernel. Tensors made outside, and their views,
// keep theirs. InferenceMode(false) leaves the mode for an inner scope.
class InferenceMode : public LocalKeysGuard {
 public:
  explicit InferenceMode(bool enabled = true) noexcept {
    constexpr std::uint64_t tracking = DispatchKeySet(DispatchKey::ADInplaceOrView).raw_repr();
    detail::LocalKeys& keys = detail::local_keys;
    if (enabled) {
      keys.included &= ~tracking;
      keys.kept &= ~kAutogradKeys.raw_repr();
    } else {
      keys.included |= tracking;
      keys.kept |= kAutogradKeys.raw_repr();
    }
  }
  [[nodiscard]] static bool is_enabled() noexcept { return detail::in_inference_mode(); }
};

}  // namespace opgen
