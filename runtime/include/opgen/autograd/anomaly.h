// anomaly.h: anomaly mode: an error in backward() names the call that recorded the node.
#pragma once

#include "opgen/core/macros.h"

namespace opgen::autograd {

// For all threads. Nodes that are made meanwhile note the operators that their thread is in. With
// `check_nan`, a NaN in a gradient is an error, too. Slow: meant for the search for a mistake.
OPGEN_API void set_anomaly_enabled(bool enabled, bool check_nan = true) noexcept;
[[nodiscard]] OPGEN_API bool is_anomaly_enabled() noexcept;
[[nodiscard]] OPGEN_API bool anomaly_checks_nan() noexcept;

class AnomalyGuard {
 public:
  explicit AnomalyGuard(bool enabled = true, bool check_nan = true) noexcept
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
