// pool.cpp: the slow paths of the free lists: allocate from the system, set limits, free at thread
// exit.
#include "core/pool.h"

#include <cstdlib>
#include <memory>

#include "opgen/core/error.h"
#include "tensor/tensor_pool.h"

#if defined(__SANITIZE_ADDRESS__)
#define OPGEN_POOLED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OPGEN_POOLED 0
#endif
#endif
#ifndef OPGEN_POOLED
#define OPGEN_POOLED 1
#endif

namespace opgen::detail {

thread_local constinit ThreadCache thread_cache OPGEN_TLS = {};

namespace {

constexpr std::size_t class_bytes(int c) noexcept {
  return c < kFineClasses ? (static_cast<std::size_t>(c) + 1) * 64
                          : std::size_t(1024) << (c - kFineClasses);
}
// Returns the limit of a class: at most 256 KiB per class and thread.
constexpr std::int32_t class_limit(int c) noexcept {
  std::size_t limit = 256 * 1024 / class_bytes(c);
  return static_cast<std::int32_t>(limit > 256 ? 256 : limit);
}

struct AtThreadExit {
  ~AtThreadExit() {
    thread_cache.closed = true;
    thread_cache.small.limit = 0;
    TensorPool::free_small();
    for (FreeList& list : thread_cache.lists) {
      while (list.head != nullptr) {
        FreeBlock* block = list.head;
        list.head = block->next;
        std::free(block);
      }
      list.count = 0;
      list.limit = 0;
    }
  }
};

void take_limits() noexcept {
  static thread_local AtThreadExit at_thread_exit;
  static_cast<void>(at_thread_exit);
  thread_cache.small.limit = kMostSmallTensors;
  for (int c = 0; c < kSizeClasses; ++c) thread_cache.lists[c].limit = class_limit(c);
}

}  // namespace

void* pool_allocate_slow(std::size_t bytes) {
  std::size_t rounded = (bytes + 63) & ~std::size_t(63);
  if (OPGEN_POOLED && bytes <= kLargestPooled) rounded = class_bytes(size_class(bytes));
  if (rounded == 0) rounded = 64;
  void* block = std::aligned_alloc(64, rounded);
  OPGEN_CHECK_KIND(OutOfMemory, block != nullptr, "cannot allocate ", bytes, " bytes of memory");
  return block;
}

void pool_free_slow(void* block, std::size_t bytes) noexcept {
  if (OPGEN_POOLED && bytes <= kLargestPooled && !thread_cache.closed) {
    if (thread_cache.lists[0].limit == 0) {
      take_limits();
      return pool_free(block, bytes);
    }
  }
  std::free(block);
}

}  // namespace opgen::detail
