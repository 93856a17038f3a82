// loading.h: LoadingScope marks code that no exception may leave: the static initialisers that
// register a library's tables.
#pragma once

#include "opgen/core/macros.h"

namespace opgen {

// An exception would end the process, so a warning handler that throws asks is_alive() and defers
// the exception.
class OPGEN_API LoadingScope {
 public:
  LoadingScope() noexcept;
  ~LoadingScope();
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;
  // Whether this thread is in one.
  [[nodiscard]] static bool is_alive() noexcept;
};

}  // namespace opgen
