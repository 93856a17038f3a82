// cpu_cache.cpp: the list of freed blocks, oldest first.
#include "device/cpu_cache_impl.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "core/fork.h"
#include "opgen/core/atomic.h"
#include "opgen/core/error.h"

namespace opgen {

namespace {

struct Block {
  void* data;
  std::size_t bytes;
};

// Sizes are rounded up to a multiple of this, so that tensors of similar sizes reuse each other's
// blocks.
constexpr std::size_t kStep = std::size_t(256) << 10;

#if defined(MADV_HUGEPAGE)
constexpr std::size_t kHugePage = std::size_t(2) << 20;
constexpr std::size_t kFirstHuge = std::size_t(32) << 20;
#endif

std::size_t limit_at_start() {
  const char* text = std::getenv("OPGEN_CPU_CACHE_MB");
  long megabytes = text != nullptr ? std::atol(text) : 0;
  return megabytes > 0 ? static_cast<std::size_t>(megabytes) << 20 : 0;
}

class Cache {
 public:
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_.load_relaxed(); }
  void set_limit(std::size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    limit_.store_relaxed(bytes);
    shrink(bytes);
  }
  [[nodiscard]] std::size_t cached() {
    std::lock_guard<std::mutex> lock(mutex_);
    return cached_;
  }
  void clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    shrink(0);
  }

  // Returns the smallest block that fits; null if there is none, or if an eighth of it or more
  // would be wasted.
  Block* take(std::size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::size_t best = free_.size();
    for (std::size_t i = 0; i < free_.size(); ++i) {
      std::size_t size = free_[i]->bytes;
      if (size < bytes || size - bytes > bytes / 8) continue;
      if (best == free_.size() || size < free_[best]->bytes) best = i;
    }
    if (best == free_.size()) return nullptr;
    Block* block = free_[best];
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
    cached_ -= block->bytes;
    return block;
  }
  void give(Block* block) noexcept {
    std::lock_guard<std::mutex> lock(mutex_);
    std::size_t most = limit();
    if (block->bytes > most) return destroy(block);
    shrink(most - block->bytes);
    try {
      free_.push_back(block);
      cached_ += block->bytes;
    } catch (...) {
      destroy(block);
    }
  }

 private:
  static void destroy(Block* block) noexcept {
    std::free(block->data);
    delete block;
  }
  void shrink(std::size_t bytes) noexcept {
    std::size_t gone = 0;
    for (; cached_ > bytes; ++gone) {
      cached_ -= free_[gone]->bytes;
      destroy(free_[gone]);
    }
    free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(gone));
  }

  std::mutex mutex_;
  std::vector<Block*> free_;
  std::size_t cached_ = 0;
  Atomic<std::size_t> limit_ = limit_at_start();
};

// Never destroyed: static objects of other files may free tensors after this file's are destroyed.
Cache& cache() {
  static Cache* one = new Cache;
  return *one;
}

std::mutex& mutex_of_cache() {
  return cache().mutex();
}
[[maybe_unused]] const bool cache_is_held = hold_during_fork<&mutex_of_cache>();

void free_block(void* context) {
  cache().give(static_cast<Block*>(context));
}

}  // namespace

namespace detail {

bool cpu_cache_is_on() noexcept {
  return cache().limit() != 0;
}

void* allocate_block(std::size_t bytes) noexcept {
  if (bytes > PTRDIFF_MAX) return nullptr;  // Rounding up would overflow.
  std::size_t rounded = (bytes + 63) & ~std::size_t(63);
#if defined(MADV_HUGEPAGE)
  if (bytes >= kFirstHuge) {
    void* block = std::aligned_alloc(kHugePage, (bytes + kHugePage - 1) & ~(kHugePage - 1));
    // Use huge pages only for whole pages, because the rest of the last page would be wasted.
    if (block != nullptr) madvise(block, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);
    return block;
  }
#endif
  return std::aligned_alloc(64, rounded);
}

DataPtr allocate_cached(std::size_t bytes, Device device) {
  std::size_t rounded = (bytes + kStep - 1) / kStep * kStep;
  OPGEN_CHECK_KIND(OutOfMemory, rounded >= bytes, "cannot allocate ", bytes, " bytes of memory");
  Block* block = cache().take(rounded);
  if (block == nullptr) {
    block = new Block{allocate_block(rounded), rounded};
    if (block->data == nullptr) {
      // The cache may contain enough memory: clear it and try again.
      cache().clear();
      block->data = allocate_block(rounded);
    }
    if (block->data == nullptr) {
      delete block;
      OPGEN_CHECK_KIND(OutOfMemory, false, "cannot allocate ", bytes, " bytes of memory");
    }
  }
  return {block->data, block, &free_block, device};
}

}  // namespace detail

void set_cpu_cache_limit(std::size_t bytes) {
  cache().set_limit(bytes);
}
std::size_t cpu_cache_limit() {
  return cache().limit();
}
std::size_t cpu_cached_bytes() {
  return cache().cached();
}
void empty_cache() {
  cache().clear();
}

}  // namespace opgen
