// blocking.h: BlockingScope, what a thread does before and after it waits for another one: a module
// of Python lets go of the GIL, for which the other may be waiting.
#pragma once

#include "opgen/macros.h"

namespace opgen {

// `before` gives what `after` takes back; null: nothing.
OPGEN_API void set_blocking_hooks(void* (*before)() noexcept,
                                  void (*after)(void*) noexcept) noexcept;

// Lives while its thread waits.
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
