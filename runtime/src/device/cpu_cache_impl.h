// cpu_cache_impl.h: the cache's interface to the CPU allocator. Internal.
#pragma once

#include "opgen/device/allocator.h"
#include "opgen/device/cpu_cache.h"

namespace opgen::detail {

inline constexpr std::size_t kSmallestCached = std::size_t(1) << 20;

// Returns whether the cache has a limit, so that it keeps blocks.
[[nodiscard]] bool cpu_cache_is_on() noexcept;
// Allocates `bytes`, at least kSmallestCached, from the cache or from the system. Throws
// OutOfMemoryError.
[[nodiscard]] DataPtr allocate_cached(std::size_t bytes, Device device);

// Allocates 64-byte aligned memory, which std::free frees; returns null on failure. Blocks of 32
// MiB and more come from the system each time, so they are placed in huge pages if available: page
// faults are three quarters of the time for a 64 MiB result, which then takes 10 ms instead of 40
// ms.
[[nodiscard]] void* allocate_block(std::size_t bytes) noexcept;

}  // namespace opgen::detail
