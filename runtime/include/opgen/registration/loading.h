// loading.h: LoadingScope marks code that must not throw: the static initialisers that register a
// library's tables.
#pragma once

#include "opgen/core/macros.h"

namespace opgen {

// An exception in its scope would end the process. A warning handler that may throw therefore
// checks is_alive() and defers the exception.
class OPGEN_API LoadingScope {
 public:
  LoadingScope() noexcept;
  ~LoadingScope();
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;
  // Returns whether this thread is in such a scope.
  [[nodiscard]] static bool is_alive() noexcept;
};

}  // namespace opgen
