// allocator.cpp: an allocator for the CPU that gives every storage a block of exactly its size, so that a sanitizer
// sees one byte beyond it, and that can refuse the n-th request.
#include "opgen/allocator.h"

#include <atomic>
#include <cstdlib>

#include "opgen/error.h"

namespace {

std::atomic<long> fail_at{-1};
std::atomic<long> asked{0};

class ExactAllocator final : public opgen::Allocator {
 public:
  opgen::DataPtr allocate(std::size_t bytes, opgen::Device device) override {
    const long number = asked.fetch_add(1);
    void* data = nullptr;
    const bool refused = number == fail_at.load() || posix_memalign(&data, 64, bytes) != 0;
    OPGEN_CHECK_KIND(OutOfMemory, !refused, "cannot allocate ", bytes, " bytes of memory");
    return {data, data, &std::free, device};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    __builtin_memcpy(to, from, bytes);
  }
};

}  // namespace

extern "C" {
void hunt_install() {
  opgen::set_allocator(opgen::DeviceType::CPU, new ExactAllocator);
}
// The n-th request from now on is refused; -1: none. Returns how many there were since the last call.
long hunt_refuse_at(long n) {
  const long before = asked.exchange(0);
  fail_at = n;
  return before;
}
}
