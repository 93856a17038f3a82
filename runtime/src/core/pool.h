// pool.h: thread-local free lists for small blocks of memory. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/macros.h"

namespace opgen {
class TensorImpl;
}

namespace opgen::detail {

// Blocks larger than this are not kept.
inline constexpr std::size_t kLargestPooled = 32 * 1024;

struct FreeBlock {
  FreeBlock* next;
};

// Until a thread first frees a block, and after it has ended, its lists are empty ones with a limit
// of 0, which all threads share. Only the owning thread changes a FreeList, so it needs no lock.
struct FreeList {
  FreeBlock* head;
  std::int32_t count;
  std::int32_t limit;
};

// 8 classes of 64 … 512 bytes, then 1, 2, 4, 8, 16, 32 KiB.
inline constexpr int kFineClasses = 8;
inline constexpr int kSizeClasses = kFineClasses + 6;

// Freed tensors with inline bytes. Each still owns its storage record; see TensorPool.
struct SmallTensors {
  TensorImpl* head;
  std::int32_t count;
  std::int32_t limit;
};
inline constexpr std::int32_t kMostSmallTensors = 128;

struct ThreadCache {
  SmallTensors small;
  FreeList lists[kSizeClasses];
};
OPGEN_API extern thread_local constinit ThreadCache* thread_cache OPGEN_TLS;

constexpr int size_class(std::size_t bytes) noexcept {
  if (bytes <= 64 * kFineClasses) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 64);
  std::size_t kibibytes = (bytes - 1) >> 10;
  return kFineClasses + (kibibytes == 0 ? 0 : 64 - __builtin_clzll(kibibytes));
}

[[nodiscard]] OPGEN_API void* pool_allocate_slow(std::size_t bytes);
OPGEN_API void pool_free_slow(void* block, std::size_t bytes) noexcept;

// Returns 64-byte aligned memory. Pass the same size to pool_free(). A block may be freed on any
// thread, whose list then keeps it. Under AddressSanitizer every block comes from the system, so
// that use after free is reported.
[[nodiscard]] OPGEN_ALWAYS_INLINE void* pool_allocate(std::size_t bytes) {
  if (OPGEN_LIKELY(bytes <= kLargestPooled)) {
    FreeList& list = thread_cache->lists[size_class(bytes)];
    if (OPGEN_LIKELY(list.head != nullptr)) {
      FreeBlock* block = list.head;
      list.head = block->next;
      --list.count;
      return block;
    }
  }
  return pool_allocate_slow(bytes);
}

OPGEN_ALWAYS_INLINE void pool_free(void* block, std::size_t bytes) noexcept {
  if (OPGEN_LIKELY(bytes <= kLargestPooled)) {
    FreeList& list = thread_cache->lists[size_class(bytes)];
    if (OPGEN_LIKELY(list.count < list.limit)) {
      FreeBlock* freed = static_cast<FreeBlock*>(block);
      freed->next = list.head;
      list.head = freed;
      ++list.count;
      return;
    }
  }
  pool_free_slow(block, bytes);
}

}  // namespace opgen::detail
