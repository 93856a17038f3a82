// blocking.h: BlockingScope runs hooks before and after a thread waits for another one. The Python
// module releases the GIL there, since the other thread may wait for it.
#pragma once

#include "opgen/core/macros.h"

namespace opgen {

// The result of `before` is passed to `after`, unless it is null.
OPGEN_API void set_blocking_hooks(void* (*before)() noexcept,
                                  void (*after)(void*) noexcept) noexcept;

// Create one around the code that waits.
class OPGEN_API BlockingScope {
 public:
  BlockingScope() noexcept;
  ~BlockingScope();
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;

 private:
  void* held_;
};

}  // namespace opgen
