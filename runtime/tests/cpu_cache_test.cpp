// cpu_cache_test.cpp: freed memory is kept up to the limit, reused, and released on request.
#include "opgen/device/cpu_cache.h"

#include "check.h"
#include "tensors.h"

using namespace tensors;

namespace {

constexpr std::size_t kMiB = std::size_t(1) << 20;

struct Limit {
  explicit Limit(std::size_t bytes) { set_cpu_cache_limit(bytes); }
  ~Limit() { set_cpu_cache_limit(0); }
};

Tensor megabytes(std::int64_t n) {
  return empty({n << 20}, kByte);
}

}  // namespace

TEST(nothing_is_kept_at_first) {
  CHECK_EQ(cpu_cache_limit(), std::size_t(0));
  { Tensor a = megabytes(4); }
  CHECK_EQ(cpu_cached_bytes(), std::size_t(0));
}

TEST(a_block_is_used_again) {
  Limit limit(64 * kMiB);
  void* first = nullptr;
  {
    Tensor a = megabytes(4);
    first = a.data_ptr();
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, std::uintptr_t(0));
  }
  CHECK_EQ(cpu_cached_bytes(), 4 * kMiB);
  {
    Tensor b = empty({4 * 1024 * 1024 - 100}, kByte);  // rounded up to the same size
    CHECK(b.data_ptr() == first);
    CHECK_EQ(cpu_cached_bytes(), std::size_t(0));
    Tensor c = megabytes(4);
    CHECK(c.data_ptr() != first);
  }
  // A small tensor does not take a large block.
  Tensor small = megabytes(2);
  CHECK_EQ(cpu_cached_bytes(), 8 * kMiB);
  empty_cache();
  CHECK_EQ(cpu_cached_bytes(), std::size_t(0));
}

TEST(the_limit_is_kept) {
  Limit limit(8 * kMiB);
  {
    Tensor a = megabytes(3), b = megabytes(4), c = megabytes(5), d = megabytes(9);
    CHECK_EQ(cpu_cached_bytes(), std::size_t(0));
  }
  CHECK(cpu_cached_bytes() <= 8 * kMiB);
  CHECK(cpu_cached_bytes() > 0);
  set_cpu_cache_limit(kMiB);
  CHECK(cpu_cached_bytes() <= kMiB);
}

TEST(tensors_outlive_the_cache) {
  Tensor a;
  {
    Limit limit(8 * kMiB);
    a = megabytes(2);
  }
  a = Tensor();  // freed while the cache is off
  CHECK_EQ(cpu_cached_bytes(), std::size_t(0));
}
