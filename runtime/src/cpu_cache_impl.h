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

// 64-byte aligned memory for std::free; null if there is none. Blocks of 32 MiB and more, which
// come fresh from the system each time, lie in huge pages where it has them: a 64 MiB result took
// 40 ms, three quarters of them in page faults, and takes 10.
[[nodiscard]] void* allocate_block(std::size_t bytes) noexcept;

}  // namespace opgen::detail
