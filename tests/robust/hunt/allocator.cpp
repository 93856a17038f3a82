// allocator.cpp: allocators for the CPU that detect reads and writes outside of a storage. With a
// sanitizer, each storage is a block of exactly its size; without one, it has its own pages, ends
// where they end, and its pages are never reused.
#include "opgen/device/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "opgen/core/error.h"

namespace {

class ExactAllocator final : public opgen::Allocator {
 public:
  opgen::DataPtr allocate(std::size_t bytes, opgen::Device device) override {
    void* data = nullptr;
    OPGEN_CHECK_KIND(OutOfMemory, posix_memalign(&data, 64, bytes) == 0, "cannot allocate ", bytes,
                     " bytes of memory");
    return {data, data, &std::free, device};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

// A storage on its own pages. In front of it, and behind it up to the alignment, all bytes are
// kMark.
struct Pages {
  unsigned char* start;
  std::size_t readable;
  std::size_t reserved;
  unsigned char* data;
  std::size_t bytes;
};
constexpr unsigned char kMark = 0xA5;
// The alignment of the end is that of the widest element, which is enough for instructions that
// read rows.
constexpr std::size_t kAlignment = 16;
constexpr std::size_t kLargestGuarded = std::size_t(1) << 31;

void check(const Pages& pages) noexcept {
  const unsigned char* end = pages.data + pages.bytes;
  auto is_marked = [](const unsigned char* from, const unsigned char* to) {
    for (; from != to; ++from) {
      if (*from != kMark) return false;
    }
    return true;
  };
  if (!is_marked(pages.start, pages.data) || !is_marked(end, pages.start + pages.readable)) {
    std::fprintf(stderr, "ERROR: AddressSanitizer: write-outside-of-storage of %zu bytes\n",
                 pages.bytes);
    std::abort();
  }
}
void release(void* context) noexcept {
  auto* pages = static_cast<Pages*>(context);
  check(*pages);
  // The pages are not unmapped at once, so that later uses of an address are detected.
  constexpr int kKept = 4096;
  static Pages kept[kKept];
  static int next = 0;
  mprotect(pages->start, pages->readable, PROT_NONE);
  Pages& oldest = kept[next];
  if (oldest.start != nullptr) munmap(oldest.start, oldest.reserved);
  oldest = *pages;
  next = (next + 1) % kKept;
  delete pages;
}

class GuardedAllocator final : public opgen::Allocator {
 public:
  opgen::DataPtr allocate(std::size_t bytes, opgen::Device device) override {
    const auto page = static_cast<std::size_t>(getpagesize());
    OPGEN_CHECK_KIND(OutOfMemory, bytes < kLargestGuarded, "cannot allocate ", bytes,
                     " bytes of memory");
    const std::size_t aligned = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::size_t readable = aligned == 0 ? page : (aligned + page - 1) / page * page;
    void* start = mmap(nullptr, readable + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    OPGEN_CHECK_KIND(OutOfMemory, start != MAP_FAILED, "cannot allocate ", bytes,
                     " bytes of memory");
    auto* first = static_cast<unsigned char*>(start);
    mprotect(first + readable, page, PROT_NONE);
    auto* pages = new Pages{first, readable, readable + page, first + readable - aligned, bytes};
    std::memset(first, kMark, readable - aligned);
    std::memset(pages->data + bytes, kMark, aligned - bytes);
    return {pages->data, pages, &release, device};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace

extern "C" void hunt_install(int guarded) {
  opgen::Allocator* allocator = new ExactAllocator;
  if (guarded != 0) allocator = new GuardedAllocator;
  opgen::set_allocator(opgen::DeviceType::CPU, allocator);
}
