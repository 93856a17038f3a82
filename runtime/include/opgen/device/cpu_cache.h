// cpu_cache.h: keep freed CPU memory for later tensors. Off until a limit is set.
//
// A fresh block of many megabytes costs more in page faults than the loop that fills it: an `add`
// of 64 MiB takes half the time in a block that was used before. Blocks of 1 MiB and more are kept,
// up to the limit in total; beyond it, the oldest go back to the system. $OPGEN_CPU_CACHE_MB is the
// limit at start.
#pragma once

#include <cstddef>

#include "opgen/core/macros.h"

namespace opgen {

// Sets the limit; 0: keep nothing. Frees the blocks that exceed it.
OPGEN_API void set_cpu_cache_limit(std::size_t bytes);
[[nodiscard]] OPGEN_API std::size_t cpu_cache_limit();
// Returns the bytes that are kept now and that no tensor uses.
[[nodiscard]] OPGEN_API std::size_t cpu_cached_bytes();
// Frees all kept blocks.
OPGEN_API void empty_cache();

}  // namespace opgen
