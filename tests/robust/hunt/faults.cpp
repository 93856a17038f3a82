// faults.cpp: a library that is loaded before all others; it lets the n-th request from now on
// fail: for memory, for a mapping, or for a thread.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

enum Kind { kMemory, kMap, kThread, kKinds };
std::atomic<long> left[kKinds];  // Calls until the one that fails; counts on below zero.
std::atomic<bool> armed[kKinds];
thread_local int inside __attribute__((tls_model("initial-exec"))) = 0;

bool fails(Kind kind) noexcept {
  if (!armed[kind].load(std::memory_order_relaxed) || inside != 0) return false;
  if (left[kind].fetch_sub(1) != 0) return false;
  errno = kind == kThread ? EAGAIN : ENOMEM;
  return true;
}
struct Inside {
  Inside() noexcept { ++inside; }
  ~Inside() { --inside; }
};

// Memory for dlsym(), which allocates while it looks up malloc.
alignas(64) char early[1 << 16];
std::atomic<std::size_t> early_used{0};
void* early_block(std::size_t bytes) noexcept {
  const std::size_t at = early_used.fetch_add((bytes + 63) & ~std::size_t(63));
  return at + bytes <= sizeof(early) ? early + at : nullptr;
}
bool is_early(void* block) noexcept {
  return block >= early && block < early + sizeof(early);
}

thread_local bool finding __attribute__((tls_model("initial-exec"))) = false;
template <class F>
F next(std::atomic<F>& kept, const char* name) noexcept {
  F found = kept.load(std::memory_order_relaxed);
  if (found == nullptr && !finding) {
    finding = true;
    found = reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
    finding = false;
    kept = found;
  }
  return found;
}
#define NEXT(name, type)                         \
  static std::atomic<type> kept_##name{nullptr}; \
  type real = next(kept_##name, #name)

}  // namespace

extern "C" {

__attribute__((weak)) void* PyObject_CallNoArgs(void* callable);

// Calls the Python callable(). During the call its n-th request fails, and no other request of the
// program.
void* hunt_fault_call(int kind, long n, void* callable) {
  left[kind] = n;
  armed[kind] = true;
  void* result = PyObject_CallNoArgs(callable);
  armed[kind] = false;
  return result;
}
// Whether the last call made more than n requests, so that one of them failed.
int hunt_fault_was_met(int kind) {
  return left[kind].load() < 0;
}

void* malloc(std::size_t bytes) {
  using F = void* (*)(std::size_t);
  NEXT(malloc, F);
  if (real == nullptr) return early_block(bytes);
  if (fails(kMemory)) return nullptr;
  Inside here;
  return real(bytes);
}
void* calloc(std::size_t count, std::size_t size) {
  using F = void* (*)(std::size_t, std::size_t);
  NEXT(calloc, F);
  if (real == nullptr) return early_block(count * size);
  if (fails(kMemory)) return nullptr;
  Inside here;
  return real(count, size);
}
void* realloc(void* block, std::size_t bytes) {
  using F = void* (*)(void*, std::size_t);
  NEXT(realloc, F);
  if (is_early(block)) {
    void* fresh = malloc(bytes);
    if (fresh != nullptr) std::memcpy(fresh, block, bytes);
    return fresh;
  }
  if (fails(kMemory)) return nullptr;
  Inside here;
  return real(block, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  using F = void* (*)(std::size_t, std::size_t);
  NEXT(aligned_alloc, F);
  if (fails(kMemory)) return nullptr;
  Inside here;
  return real(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  using F = int (*)(void**, std::size_t, std::size_t);
  NEXT(posix_memalign, F);
  if (fails(kMemory)) return ENOMEM;
  Inside here;
  return real(block, alignment, bytes);
}
void free(void* block) {
  using F = void (*)(void*);
  if (is_early(block)) return;
  NEXT(free, F);
  if (real != nullptr) real(block);
}
void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  using F = void* (*)(void*, std::size_t, int, int, int, off_t);
  NEXT(mmap, F);
  if (fails(kMap)) return MAP_FAILED;
  return real(address, bytes, protection, flags, file, offset);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  using F = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  NEXT(pthread_create, F);
  if (fails(kThread)) return EAGAIN;
  return real(thread, attributes, start, argument);
}

}  // extern "C"

namespace {
template <class... Rest>
void* fresh(void* (*real)(std::size_t, Rest...), std::size_t bytes, Rest... rest) {
  if (fails(kMemory)) throw std::bad_alloc();
  Inside here;
  return real(bytes, rest...);
}
}  // namespace

// A sanitizer's own allocations do not come from malloc.
void* operator new(std::size_t bytes) {
  using F = void* (*)(std::size_t);
  NEXT(_Znwm, F);
  return fresh(real, bytes);
}
void* operator new[](std::size_t bytes) {
  using F = void* (*)(std::size_t);
  NEXT(_Znam, F);
  return fresh(real, bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  using F = void* (*)(std::size_t, std::align_val_t);
  NEXT(_ZnwmSt11align_val_t, F);
  return fresh(real, bytes, alignment);
}
