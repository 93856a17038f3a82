// inference_mode.h: InferenceMode, a scope whose tensors are never recorded nor counted.
#pragma once

#include "opgen/local_keys.h"

namespace opgen {

// In the scope, calls pass over autograd, and new tensors have neither autograd keys nor a version
// counter: a call on such tensors alone costs nothing but its kernel. A tensor made outside keeps
// what it has, and so do its views. InferenceMode(false) leaves the mode for a scope within.
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
