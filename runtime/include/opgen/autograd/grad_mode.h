// grad_mode.h: GradMode, whether this thread records operators for gradients; and its guards.
#pragma once

#include "opgen/autograd/inference_mode.h"

namespace opgen {

class OPGEN_API GradMode {
 public:
  // Returns whether operators are recorded: false if the mode is off, or in inference mode.
  [[nodiscard]] static bool is_enabled() noexcept;
  [[nodiscard]] static bool is_set() noexcept;  // ignores inference mode
  static void set_enabled(bool enabled) noexcept;
};

class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) noexcept : saved_(GradMode::is_set()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() { GradMode::set_enabled(saved_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool saved_;
};
// Records nothing in the scope: results do not require gradients.
class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() noexcept : AutoGradMode(false) {}
};

}  // namespace opgen
