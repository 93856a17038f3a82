// anomaly.h: anomaly mode, in which an error in backward() names the call that recorded the node.
#pragma once

#include "opgen/core/macros.h"

namespace opgen::autograd {

// Turns anomaly mode on or off for all threads. While it is on, each new node stores the names of
// the operators that its thread is executing, as an observer (observer.h). With `check_nan`, a NaN
// in a gradient is an error, too. This is slow; use it only to find a mistake.
OPGEN_API void set_anomaly_enabled(bool enabled, bool check_nan = true);
[[nodiscard]] OPGEN_API bool is_anomaly_enabled() noexcept;
[[nodiscard]] OPGEN_API bool anomaly_checks_nan() noexcept;

class AnomalyGuard {
 public:
  explicit AnomalyGuard(bool enabled = true, bool check_nan = true)
      : was_enabled_(is_anomaly_enabled()), checked_nan_(anomaly_checks_nan()) {
    set_anomaly_enabled(enabled, check_nan);
  }
  ~AnomalyGuard() { set_anomaly_enabled(was_enabled_, checked_nan_); }
  AnomalyGuard(const AnomalyGuard&) = delete;
  AnomalyGuard& operator=(const AnomalyGuard&) = delete;

 private:
  bool was_enabled_;
  bool checked_nan_;
};

}  // namespace opgen::autograd
