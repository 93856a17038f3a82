// pool.cpp: one list per power of two and per 64 bytes up to 512, at most 256 KiB of blocks each.
#include "pool.h"

#include <cstdlib>

#include "opgen/error.h"
#include "opgen/macros.h"

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

// 8 classes of 64 … 512 bytes, then 1, 2, 4, 8, 16, 32 KiB.
constexpr int kFineClasses = 8;
constexpr int kClasses = kFineClasses + 6;

struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  FreeBlock* head;
  int count;
};

struct ThreadCache {
  FreeList lists[kClasses];
  bool armed;   // the thread's last act will empty the lists
  bool closed;  // that act has happened
};

thread_local constinit ThreadCache cache OPGEN_TLS = {};

constexpr int class_of(std::size_t bytes) noexcept {
  if (bytes <= 64 * kFineClasses) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 64);
  return kFineClasses + (64 - __builtin_clzll((bytes - 1) >> 10 | 1)) - ((bytes - 1) >> 10 == 0);
}
constexpr std::size_t class_bytes(int c) noexcept {
  return c < kFineClasses ? (static_cast<std::size_t>(c) + 1) * 64
                          : std::size_t(1024) << (c - kFineClasses);
}
constexpr int class_limit(int c) noexcept {
  std::size_t limit = 256 * 1024 / class_bytes(c);
  return static_cast<int>(limit > 256 ? 256 : limit);
}

void* system_allocate(std::size_t bytes) {
  void* block = std::aligned_alloc(64, (bytes + 63) & ~std::size_t(63));
  OPGEN_CHECK_KIND(OutOfMemory, block != nullptr, "cannot allocate ", bytes, " bytes of memory");
  return block;
}

#if OPGEN_POOLED
void empty_lists() noexcept {
  cache.closed = true;
  for (FreeList& list : cache.lists) {
    while (list.head != nullptr) {
      FreeBlock* block = list.head;
      list.head = block->next;
      std::free(block);
    }
    list.count = 0;
  }
}

struct AtThreadExit {
  ~AtThreadExit() { empty_lists(); }
};

OPGEN_NOINLINE void arm() {
  static thread_local AtThreadExit at_thread_exit;
  static_cast<void>(at_thread_exit);
  cache.armed = true;
}
#endif

}  // namespace

void* pool_allocate(std::size_t bytes) {
#if OPGEN_POOLED
  if (OPGEN_LIKELY(bytes <= kLargestPooled)) {
    int c = class_of(bytes);
    FreeList& list = cache.lists[c];
    if (OPGEN_LIKELY(list.head != nullptr)) {
      FreeBlock* block = list.head;
      list.head = block->next;
      --list.count;
      return block;
    }
    return system_allocate(class_bytes(c));
  }
#endif
  return system_allocate(bytes == 0 ? 1 : bytes);
}

void pool_free(void* block, std::size_t bytes) noexcept {
#if OPGEN_POOLED
  if (OPGEN_LIKELY(bytes <= kLargestPooled)) {
    int c = class_of(bytes);
    FreeList& list = cache.lists[c];
    if (OPGEN_LIKELY(list.count < class_limit(c) && !cache.closed)) {
      if (OPGEN_UNLIKELY(!cache.armed)) arm();
      FreeBlock* free_block = static_cast<FreeBlock*>(block);
      free_block->next = list.head;
      list.head = free_block;
      ++list.count;
      return;
    }
  }
#endif
  static_cast<void>(bytes);
  std::free(block);
}

}  // namespace opgen::detail
