// storage_lifetime_test.cpp: bytes live as long as anything refers to them. Under AddressSanitizer,
// which sees every freed block, this test would fail if it read freed bytes.
#include <memory>
#include <thread>

#include "check.h"
#include "opgen/device/cpu_cache.h"
#include "opgen/tensor/resize.h"
#include "opgen/transforms/held_storage.h"
#include "tensors.h"

using namespace tensors;

namespace {

// Numbers of elements for which the bytes are in the storage's record, from a free list, from the
// system, and in huge pages.
constexpr std::int64_t kCounts[] = {8, 100, 100'000, 16 << 20};

Tensor tail(const Tensor& base, std::int64_t first) {
  return detail::alias_with_sizes_and_strides(base, {base.numel() - first}, {1}, first);
}

double sum(const Tensor& t) {
  double total = 0;
  const std::uint8_t* data = t.const_data_ptr<std::uint8_t>();
  for (std::int64_t i = 0; i < t.numel(); ++i) total += data[i];
  return total;
}

Tensor ones(std::int64_t n) {
  return full({n}, 1, kByte);
}

}  // namespace

TEST(views_outlive_their_base) {
  for (std::int64_t n : kCounts) {
    Tensor view;
    {
      Tensor base = ones(n);
      view = tail(tail(base, 1), 1);
    }
    Tensor other = ones(n);  // reuses freed memory, if there is any
    CHECK_EQ(sum(view), double(n - 2));
  }
}

TEST(views_outlive_the_thread_that_made_them) {
  for (std::int64_t n : kCounts) {
    Tensor view;
    std::thread([&] { view = tail(ones(n), 3); }).join();
    CHECK_EQ(sum(view), double(n - 3));
  }
}

TEST(views_follow_a_storage_that_moves) {
  for (std::int64_t n : kCounts) {
    Tensor base = ones(n);
    Tensor view = tail(base, 2);
    opgen::resize_(base, {4 * n});
    CHECK_EQ(sum(view), double(n - 2));
    CHECK(view.is_alias_of(base));
    CHECK_EQ(static_cast<const void*>(base.const_data_ptr<std::uint8_t>() + 2),
             static_cast<const void*>(view.const_data_ptr<std::uint8_t>()));
    // Shrinking keeps the bytes, which views may use.
    opgen::resize_(base, {1});
    CHECK_EQ(sum(view), double(n - 2));
  }
}

TEST(views_keep_the_first_storage_of_a_tensor_that_gets_another) {
  for (std::int64_t n : kCounts) {
    Tensor base = ones(n);
    Tensor view = tail(base, 0);
    base.unsafeGetTensorImpl()->set_storage(Storage(std::size_t(n), Device(kCPU)));
    CHECK(!view.is_alias_of(base));
    CHECK_EQ(sum(view), double(n));
  }
}

TEST(borrowed_memory_is_released_after_the_last_view) {
  int given_back = 0;
  std::uint8_t bytes[4] = {1, 1, 1, 1};
  Tensor view;
  {
    Tensor base = detail::from_blob(bytes, {4}, {1}, TensorOptions().dtype(kByte), &given_back,
                                    [](void* count) { ++*static_cast<int*>(count); });
    view = tail(base, 1);
  }
  CHECK_EQ(given_back, 0);
  CHECK_EQ(sum(view), 3.0);
  view = Tensor();
  CHECK_EQ(given_back, 1);
}

TEST(the_cache_does_not_reuse_a_block_that_a_view_uses) {
  set_cpu_cache_limit(std::size_t(256) << 20);
  Tensor view;
  {
    Tensor base = ones(8 << 20);
    view = tail(base, 1);
  }
  CHECK_EQ(cpu_cached_bytes(), std::size_t(0));
  empty_cache();
  Tensor other = full({8 << 20}, 7, kByte);
  CHECK_EQ(sum(view), double((8 << 20) - 1));
  view = Tensor();
  CHECK(cpu_cached_bytes() >= std::size_t(8) << 20);
  set_cpu_cache_limit(0);
}

// Holds the bytes of a tensor in the same way as the buffer protocol, NumPy and DLPack.
TEST(held_bytes_do_not_move) {
  for (std::int64_t n : kCounts) {
    Tensor t = ones(n);
    {
      HeldStorage held(t.storage());
      HeldStorage again(t.storage());
      const void* bytes = t.const_data_ptr();
      CHECK_THROWS(Error, "while other objects use them", opgen::resize_(t, {2 * n}));
      CHECK(t.numel() == n && t.const_data_ptr() == bytes && sum(t) == static_cast<double>(n));
      opgen::resize_(t, {n / 2});  // does not move the bytes
      opgen::resize_(t, {n});
      CHECK(t.const_data_ptr() == bytes);
      t.unsafeGetTensorImpl()->set_storage(Storage(static_cast<std::size_t>(n), Device(kCPU)));
      CHECK_EQ(static_cast<const std::uint8_t*>(held.storage().data())[n - 1], 1);
      opgen::resize_(t, {2 * n});  // the new bytes are not held
    }
    CHECK(!t.storage().unsafeGetStorageImpl()->is_held());
  }
}

TEST(a_hold_may_end_in_any_thread) {
  Tensor t = ones(100);
  auto held = std::make_unique<HeldStorage>(t.storage());
  CHECK(t.storage().unsafeGetStorageImpl()->is_held());
  std::thread([&] { held.reset(); }).join();
  opgen::resize_(t, {200});
  CHECK_EQ(t.numel(), 200);
}
