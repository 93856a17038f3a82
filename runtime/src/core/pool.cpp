// pool.cpp: the slow paths of the free lists: allocate from the system, set limits, free at thread
// exit.
#include "core/pool.h"

#include <cstdlib>
#include <new>
#include <utility>

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

namespace {

constinit ThreadCache before_first_free = {};
constinit ThreadCache after_thread_exit = {};

constexpr std::size_t class_bytes(int c) noexcept {
  return c < kFineClasses ? (static_cast<std::size_t>(c) + 1) * 64
                          : std::size_t(1024) << (c - kFineClasses);
}
// Returns the limit of a class: at most 256 KiB per class and thread.
constexpr std::int32_t class_limit(int c) noexcept {
  std::size_t limit = 256 * 1024 / class_bytes(c);
  return static_cast<std::int32_t>(limit > 256 ? 256 : limit);
}

}  // namespace

thread_local constinit ThreadCache* thread_cache OPGEN_TLS = &before_first_free;

namespace {

struct AtThreadExit {
  ~AtThreadExit() {
    thread_cache->small.limit = 0;
    TensorPool::free_small();
    ThreadCache* cache = std::exchange(thread_cache, &after_thread_exit);
    for (const FreeList& list : cache->lists) {
      for (FreeBlock* block = list.head; block != nullptr;)
        std::free(std::exchange(block, block->next));
    }
    std::free(cache);
  }
};
thread_local AtThreadExit at_thread_exit;

// Returns whether there was memory for the thread's own cache.
bool make_cache() noexcept {
  void* memory = std::malloc(sizeof(ThreadCache));
  if (memory == nullptr) return false;
  static_cast<void>(&at_thread_exit);
  thread_cache = ::new (memory) ThreadCache{};
  thread_cache->small.limit = kMostSmallTensors;
  for (int c = 0; c < kSizeClasses; ++c) thread_cache->lists[c].limit = class_limit(c);
  return true;
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
  if (OPGEN_POOLED && bytes <= kLargestPooled && thread_cache == &before_first_free &&
      make_cache()) {
    return pool_free(block, bytes);
  }
  std::free(block);
}

}  // namespace opgen::detail
