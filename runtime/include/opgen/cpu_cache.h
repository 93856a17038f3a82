// cpu_cache.h: freed CPU memory kept for later tensors. Off until a limit is given.
//
// A fresh block of many megabytes costs more in page faults than the loop that fills it: an `add`
// of 64 MiB takes half the time in a block that was used before. Blocks of 1 MiB and more are kept,
// up to the limit in all; what does not fit goes back to the system, the oldest first.
// $OPGEN_CPU_CACHE_MB is the limit at start.
#pragma once

#include <cstddef>

#include "opgen/macros.h"

namespace opgen {

// 0: nothing is kept. What exceeds a smaller limit is freed.
OPGEN_API void set_cpu_cache_limit(std::size_t bytes);
[[nodiscard]] OPGEN_API std::size_t cpu_cache_limit();
// What is kept now and in no tensor's use.
[[nodiscard]] OPGEN_API std::size_t cpu_cached_bytes();
// Gives all of it back to the system.
OPGEN_API void empty_cache();

}  // namespace opgen
