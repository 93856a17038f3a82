// pool.h: thread-local free lists for the runtime's small blocks. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opgen::detail {

// 64-byte aligned memory; the freed size must be the allocated size. Freeing on another thread is allowed.
// Under AddressSanitizer every block goes to the system, so that use after free is seen.
[[nodiscard]] void* pool_allocate(std::size_t bytes);
void pool_free(void* block, std::size_t bytes) noexcept;

// Blocks larger than this are not kept.
inline constexpr std::size_t kLargestPooled = 32 * 1024;

}  // namespace opgen::detail
