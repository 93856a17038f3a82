// pool.h: thread-local free lists for the runtime's small blocks. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/macros.h"

namespace opgen {
class TensorImpl;
}

namespace opgen::detail {

// Blocks larger than this are not kept.
inline constexpr std::size_t kLargestPooled = 32 * 1024;

struct FreeBlock {
  FreeBlock* next;
};

// No block is kept until the list has a limit, which its first free gives it, nor after the
// thread's end.
struct FreeList {
  FreeBlock* head;
  std::int32_t count;
  std::int32_t limit;
};

// 8 classes of 64 … 512 bytes, then 1, 2, 4, 8, 16, 32 KiB.
inline constexpr int kFineClasses = 8;
inline constexpr int kSizeClasses = kFineClasses + 6;

// Freed tensors whose bytes lie in their storage, both records still together; see TensorPool.
struct SmallTensors {
  TensorImpl* head;
  std::int32_t count;
  std::int32_t limit;
};
inline constexpr std::int32_t kMostSmallTensors = 128;

struct ThreadCache {
  SmallTensors small;
  FreeList lists[kSizeClasses];
  bool closed;
};
extern OPGEN_HIDDEN thread_local constinit ThreadCache thread_cache OPGEN_TLS;

constexpr int size_class(std::size_t bytes) noexcept {
  if (bytes <= 64 * kFineClasses) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 64);
  std::size_t kibibytes = (bytes - 1) >> 10;
  return kFineClasses + (kibibytes == 0 ? 0 : 64 - __builtin_clzll(kibibytes));
}

[[nodiscard]] void* pool_allocate_slow(std::size_t bytes);
void pool_free_slow(void* block, std::size_t bytes) noexcept;

// 64-byte aligned memory; the freed size must be the allocated size. Freeing on another thread is
// allowed. Under AddressSanitizer every block goes to the system, so that use after free is seen.
[[nodiscard]] inline void* pool_allocate(std::size_t bytes) {
  if (OPGEN_LIKELY(bytes <= kLargestPooled)) {
    FreeList& list = thread_cache.lists[size_class(bytes)];
    if (OPGEN_LIKELY(list.head != nullptr)) {
      FreeBlock* block = list.head;
      list.head = block->next;
      --list.count;
      return block;
    }
  }
  return pool_allocate_slow(bytes);
}

inline void pool_free(void* block, std::size_t bytes) noexcept {
  if (OPGEN_LIKELY(bytes <= kLargestPooled)) {
    FreeList& list = thread_cache.lists[size_class(bytes)];
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
