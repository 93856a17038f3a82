// loading.h: LoadingScope, where no exception may leave: while the tables of a library are made as
// static objects.
#pragma once

#include "opgen/macros.h"

namespace opgen {

// An exception would end the process: a handler of warnings that throws asks is_alive(), and waits.
class OPGEN_API LoadingScope {
 public:
  LoadingScope() noexcept;
  ~LoadingScope();
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;
  // Whether one lives in this thread.
  [[nodiscard]] static bool is_alive() noexcept;
};

}  // namespace opgen
