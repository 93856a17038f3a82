// tensor_test.cpp: handles, sizes and strides, formats, storages, versions, undefined tensors, free
// lists.
#include <thread>
#include <vector>

#include "check.h"
#include "opgen/device/device_guard.h"
#include "opgen/tensor.h"
#include "opgen/tensor/empty.h"

using namespace opgen;

namespace {
TensorBase strided(IntArrayRef sizes, IntArrayRef strides) {
  return detail::empty_strided(sizes, strides);
}
}  // namespace

TEST(undefined_tensors) {
  TensorBase u;
  CHECK(!u.defined() && u.numel() == 0 && u.dim() == 1 && u.sizes().equals({0}));
  CHECK(u.key_set().empty() && u.use_count() == 0 && u.data_ptr() == nullptr &&
        u.scalar_type() == ScalarType::Undefined);
  TensorBase copy = u;
  CHECK(copy.is_same(u) && !copy.is_alias_of(u));
  CHECK_THROWS(Error, "undefined tensor has no device", u.device());
  CHECK_THROWS(Error, "undefined tensor", detail::alias_with_sizes_and_strides(u, {}, {}, 0));
}

TEST(handles_count) {
  TensorBase a = detail::empty({2, 3});
  CHECK_EQ(a.use_count(), 1u);
  TensorBase b = a;
  CHECK(a.use_count() == 2 && b.is_same(a));
  TensorBase c = std::move(b);
  CHECK(!b.defined() && a.use_count() == 2);  // NOLINT: moved-from handles are undefined
  c.reset();
  CHECK_EQ(a.use_count(), 1u);
  c = a;
  TensorBase& same = c;
  c = same;
  CHECK_EQ(a.use_count(), 2u);
}

TEST(sizes_and_strides) {
  TensorBase t = detail::empty({2, 3, 4}, kDouble);
  CHECK(t.dim() == 3 && t.numel() == 24 && t.strides().equals({12, 4, 1}) && t.nbytes() == 192 &&
        t.element_size() == 8);
  CHECK(t.size(-1) == 4 && t.stride(-3) == 12 && t.is_contiguous());
  CHECK_THROWS(IndexError, "dimension 3 is out of range: expected -3 to 2", t.size(3));
  CHECK_THROWS(IndexError, "without dimensions", detail::empty({}).size(0));
  CHECK_EQ(maybe_wrap_dim(-1, 0), 0);
  TensorBase long_shape = detail::empty({1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(long_shape.numel() == 16 && long_shape.stride(0) == 16 && long_shape.is_contiguous());
  long_shape.unsafeGetTensorImpl()->set_sizes_contiguous(long_shape.sizes().slice(3));
  CHECK(long_shape.sizes().equals({2, 1, 2, 1, 2}));
  long_shape.unsafeGetTensorImpl()->set_sizes_contiguous(long_shape.sizes().slice(1, 2));
  CHECK(long_shape.sizes().equals({1, 2}));
  TensorBase zero = detail::empty({3, 0, 2});
  CHECK(zero.numel() == 0 && zero.strides().equals({2, 2, 1}) && zero.is_contiguous());
  CHECK_THROWS(ValueError, "negative size: [2, -1]", detail::empty({2, -1}));
  CHECK_THROWS(Error, "do not fit into any memory",
               detail::empty({std::int64_t(1) << 40, std::int64_t(1) << 40}));
  CHECK_THROWS(Error, "do not fit into any memory", detail::empty({std::int64_t(1) << 62}));
  CHECK_EQ(detail::empty({std::int64_t(1) << 40, 0, std::int64_t(1) << 40}).numel(), 0);
}

TEST(contiguity) {
  CHECK(!strided({2, 3}, {1, 2}).is_contiguous());
  CHECK(strided({2, 3}, {1, 2}).is_non_overlapping_and_dense());
  CHECK(strided({2, 1, 3}, {3, 77, 1}).is_contiguous());
  CHECK(!strided({2, 3}, {6, 2}).is_non_overlapping_and_dense());
  CHECK(!strided({2, 3}, {0, 1}).is_non_overlapping_and_dense());
  CHECK(strided({0, 3}, {7, 9}).is_contiguous());
  CHECK(strided({}, {}).is_contiguous());
  CHECK(strided({4, 3, 2}, {3, 1, 12}).is_non_overlapping_and_dense());
}

TEST(memory_formats) {
  TensorBase cl = detail::empty({2, 3, 4, 5}, {}, MemoryFormat::ChannelsLast);
  CHECK(cl.strides().equals({60, 1, 15, 3}) && !cl.is_contiguous() &&
        cl.is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(cl.is_non_overlapping_and_dense() &&
        cl.suggest_memory_format() == MemoryFormat::ChannelsLast);
  TensorBase sliced = strided({2, 3, 4, 5}, {120, 1, 30, 6});
  CHECK(sliced.suggest_memory_format() == MemoryFormat::ChannelsLast &&
        sliced.suggest_memory_format(true) == MemoryFormat::Contiguous);
  CHECK(detail::empty({2, 3, 4, 5}).suggest_memory_format() == MemoryFormat::Contiguous);
  TensorBase one = detail::empty({2, 1, 1, 1});
  CHECK(one.is_contiguous() && one.is_contiguous(MemoryFormat::ChannelsLast) &&
        one.suggest_memory_format() == MemoryFormat::Contiguous);
  TensorBase cl3 = detail::empty({2, 3, 4, 5, 6}, {}, MemoryFormat::ChannelsLast3d);
  CHECK(cl3.strides().equals({360, 1, 90, 18, 3}) &&
        cl3.suggest_memory_format() == MemoryFormat::ChannelsLast3d);
  CHECK_THROWS(Error, "needs 4 dimensions", detail::empty({2, 3}, {}, MemoryFormat::ChannelsLast));
  CHECK(!strided({2, 3, 4, 5}, {0, 0, 0, 0}).is_contiguous(MemoryFormat::ChannelsLast));
}

TEST(data_and_views) {
  TensorBase t = detail::empty({2, 3}, kFloat);
  for (int i = 0; i < 6; ++i) t.data_ptr<float>()[i] = static_cast<float>(i);
  CHECK_THROWS(TypeError, "expected elements of type Long but the tensor has Float",
               t.data_ptr<std::int64_t>());
  TensorBase column = detail::alias_with_sizes_and_strides(t, {2}, {3}, 1);
  CHECK(column.is_alias_of(t) && *column.const_data_ptr<float>() == 1 &&
        column.storage_offset() == 1);
  CHECK_EQ((t.accessor<float, 2>()[1][2]), 5);
  CHECK_THROWS(Error, "accessor of 1 dimensions", t.accessor<float, 1>());
  CHECK_EQ(t._version(), 0);
  column.bump_version();
  CHECK(t._version() == 1 && column._version() == 1);
  CHECK(t.key_set() == (DispatchKeySet{DispatchKey::CPU, DispatchKey::AutogradFunctionality,
                                       DispatchKey::ADInplaceOrView}));
}

TEST(meta_tensors) {
  TensorBase t = detail::empty({1 << 20, 1 << 20}, TensorOptions(kMeta).dtype(kLong));
  CHECK(t.is_meta() && t.data_ptr() == nullptr && t.nbytes() == std::size_t(1) << 43);
  CHECK(t.key_set().has(DispatchKey::Meta));
  t.unsafeGetTensorImpl()->set_storage_offset(5);
  CHECK(t.data_ptr() == nullptr);
  CHECK_THROWS(Error, "no allocator is registered for device type cuda", detail::empty({2}, kCUDA));
}

TEST(storages) {
  for (std::size_t bytes : {0u, 1u, 64u, 65u, 1000u, 32768u, 32769u, 1u << 20}) {
    Storage storage(bytes, kCPU);
    CHECK(storage.nbytes() == bytes && reinterpret_cast<std::uintptr_t>(storage.data()) % 64 == 0);
    auto* first = static_cast<unsigned char*>(storage.mutable_data());
    for (std::size_t i = 0; i < bytes; ++i) first[i] = static_cast<unsigned char>(i);
    for (std::size_t larger : {bytes / 2, bytes * 2 + 3, std::size_t(10), std::size_t(70000)}) {
      std::size_t kept = std::min(storage.nbytes(), larger);
      storage.unsafeGetStorageImpl()->resize(larger);
      CHECK_EQ(storage.nbytes(), larger);
      bool same = true;
      const auto* now = static_cast<const unsigned char*>(storage.data());
      for (std::size_t i = 0; i < std::min(kept, std::min<std::size_t>(bytes / 2, 10)); ++i)
        same &= now[i] == static_cast<unsigned char>(i);
      CHECK(same);
    }
  }
  static int freed = 0;
  float data[4] = {1, 2, 3, 4};
  {
    TensorBase blob =
        detail::from_blob(data, {2, 2}, {2, 1}, kFloat, nullptr, [](void*) { ++freed; });
    CHECK(blob.data_ptr() == data);
    CHECK_THROWS(Error, "cannot be resized", blob.storage().unsafeGetStorageImpl()->resize(100));
  }
  CHECK_EQ(freed, 1);
  // from_blob takes ownership of the memory even if it throws.
  auto free = [](void*) { ++freed; };
  CHECK_THROWS(Error, "", detail::from_blob(data, {2, 2}, {2}, kFloat, nullptr, free));
  CHECK_THROWS(Error, "", detail::from_blob(data, {-1}, {1}, kFloat, nullptr, free));
  const std::int64_t huge = std::int64_t{1} << 62;
  CHECK_THROWS(Error, "", detail::from_blob(data, {huge}, {1}, kFloat, nullptr, free));
  CHECK_EQ(freed, 4);
  CHECK_THROWS(Error, "", detail::from_blob(data, {2, 2}, {2}, kFloat));
}

TEST(free_lists_across_threads) {
  std::vector<TensorBase> made(2000);
  std::thread maker([&] {
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = detail::empty({static_cast<std::int64_t>(i % 300)});
  });
  maker.join();
  made.clear();
  std::vector<std::thread> threads;
  TensorBase shared = detail::empty({3});
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 5000; ++j) {
        TensorBase copy = shared;
        TensorBase fresh = detail::empty({j % 50, 3});
        copy = fresh;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(shared.use_count(), 1u);
}

namespace {
struct FakeAllocator final : Allocator {
  DataPtr allocate(std::size_t bytes, Device device) override {
    return {std::malloc(bytes), nullptr, nullptr, device};
  }
};
struct FakeGuard final : DeviceGuardImpl {
  mutable DeviceIndex current = 0;
  Device device() const override { return {kPrivateUse1, current}; }
  Device exchange_device(Device d) const override {
    Device old = device();
    current = d.index();
    return old;
  }
  DeviceIndex device_count() const noexcept override { return 4; }
};
}  // namespace

TEST(device_guards) {
  static FakeGuard guard;
  set_device_guard_impl(kPrivateUse1, &guard);
  {
    OptionalDeviceGuard g;
    g.reset_device(Device(kPrivateUse1, 2));
    CHECK_EQ(guard.current, 2);
    g.reset_device(Device(kPrivateUse1, 3));
    CHECK_EQ(guard.current, 3);
    DeviceGuard inner(Device(kPrivateUse1, 1));
    CHECK_EQ(guard.current, 1);
  }
  CHECK_EQ(guard.current, 0);
  { DeviceGuard cpu{Device(kCPU)}; }
  set_device_guard_impl(kPrivateUse1, nullptr);
  CHECK(find_device_guard_impl(kCPU) != nullptr && find_device_guard_impl(kPrivateUse1) == nullptr);
}
