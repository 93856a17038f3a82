// cpu_cache_impl.h: what the CPU's allocator asks of the cache. Internal.
#pragma once

#include "opgen/allocator.h"
#include "opgen/cpu_cache.h"

namespace opgen::detail {

inline constexpr std::size_t kSmallestCached = std::size_t(1) << 20;

// Whether there is a limit.
[[nodiscard]] bool cpu_cache_is_on() noexcept;
// At least kSmallestCached bytes, from the cache or from the system. OutOfMemoryError.
[[nodiscard]] DataPtr allocate_cached(std::size_t bytes, Device device);

}  // namespace opgen::detail
