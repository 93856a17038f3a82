// storage.cpp: allocators of the built-in devices, and storages on them.
#include "opgen/tensor/storage.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "device/cpu_cache_impl.h"
#include "tensor/tensor_pool.h"

namespace opgen {

Allocator::~Allocator() = default;
void Allocator::copy_data(void*, const void*, std::size_t) const {
  OPGEN_CHECK_NOT_IMPLEMENTED(false,
                              "a storage with data cannot be resized, because its allocator does "
                              "not implement copy_data()");
}
void Allocator::record_stream(void*, Stream) {}

namespace {

constinit std::atomic<BlockProvider> block_provider = nullptr;

class CPUAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t bytes, Device device) override {
    DataPtr block{nullptr, nullptr, nullptr, device};
    const BlockProvider provide = block_provider.load(std::memory_order_relaxed);
    if (provide != nullptr && provide(bytes, block)) return block;
    if (bytes >= detail::kSmallestCached && detail::cpu_cache_is_on()) {
      return detail::allocate_cached(bytes, device);
    }
    void* data = detail::allocate_block(bytes);
    OPGEN_CHECK_KIND(OutOfMemory, data != nullptr || bytes == 0, "cannot allocate ", bytes,
                     " bytes of memory");
    return {data, data, &std::free, device};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

// Allocates no bytes, because a Meta tensor has only sizes.
class MetaAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t, Device device) override {
    return {nullptr, nullptr, nullptr, device};
  }
};

// Never destroyed: tensors of other static objects may outlive this file's.
alignas(CPUAllocator) unsigned char cpu_bytes[sizeof(CPUAllocator)];
alignas(MetaAllocator) unsigned char meta_bytes[sizeof(MetaAllocator)];

Allocator* cpu_allocator() noexcept {
  static Allocator* allocator = ::new (cpu_bytes) CPUAllocator;
  return allocator;
}
Allocator* meta_allocator() noexcept {
  static Allocator* allocator = ::new (meta_bytes) MetaAllocator;
  return allocator;
}

constinit std::atomic<Allocator*> allocators[kMaxDeviceTypes] = {};

}  // namespace

BlockProvider exchange_block_provider(BlockProvider provider) noexcept {
  return block_provider.exchange(provider);
}

void set_allocator(DeviceType type, Allocator* allocator) noexcept {
  allocators[static_cast<int>(type)].store(allocator, std::memory_order_release);
  auto replaced = [](DeviceType t) { return allocators[static_cast<int>(t)].load() != nullptr; };
  detail::allocators_replaced.store_release(replaced(DeviceType::CPU) ||
                                            replaced(DeviceType::Meta));
}
Allocator* find_allocator(DeviceType type) noexcept {
  Allocator* allocator = allocators[static_cast<int>(type)].load(std::memory_order_acquire);
  if (allocator != nullptr) return allocator;
  if (type == DeviceType::CPU) return cpu_allocator();
  if (type == DeviceType::Meta) return meta_allocator();
  return nullptr;
}
Allocator* get_allocator(DeviceType type) {
  Allocator* allocator = find_allocator(type);
  OPGEN_CHECK(allocator != nullptr, "no allocator is registered for device type ", type,
              "; a backend registers one with opgen::set_allocator");
  return allocator;
}

namespace detail {
constinit Atomic<bool> allocators_replaced = false;
}  // namespace detail

void StorageImpl::acquire(std::size_t bytes) {
  if (OPGEN_LIKELY(device_.is_cpu() && bytes <= detail::kLargestPooled &&
                   !detail::has_own_allocators())) {
    if (bytes <= kInlineStorageBytes) {
      kind_ = Kind::Inline;
      data_ = inline_;
    } else {
      data_ = detail::pool_allocate(bytes);
      kind_ = Kind::Pooled;
    }
  } else {
    DataPtr fresh = get_allocator(device_.type())->allocate(bytes, device_);
    kind_ = Kind::External;
    data_ = fresh.data;
    context_ = fresh.context;
    deleter_ = fresh.deleter;
  }
  nbytes_ = bytes;
}

void StorageImpl::release_data() noexcept {
  if (kind_ == Kind::Pooled) {
    detail::pool_free(data_, nbytes_);
  } else if (kind_ == Kind::External && deleter_ != nullptr) {
    deleter_(context_);
  }
}

StorageImpl* StorageImpl::create(std::size_t bytes, Device device) {
  if (OPGEN_LIKELY(!detail::has_own_allocators())) {
    if (device.is_meta()) return StoragePool::create_meta(bytes, device);
    if (device.is_cpu() && bytes <= kInlineStorageBytes) return StoragePool::create_inline(bytes);
  }
  void* block = detail::pool_allocate(sizeof(StorageImpl));
  StorageImpl* storage = ::new (block) StorageImpl;
  storage->device_ = device;
  try {
    storage->acquire(bytes);
  } catch (...) {
    detail::pool_free(block, sizeof(StorageImpl));
    throw;
  }
  return storage;
}

StorageImpl* StorageImpl::adopt(DataPtr bytes, std::size_t size, bool resizable) {
  void* place = nullptr;
  try {
    place = detail::pool_allocate(sizeof(StorageImpl));
  } catch (...) {
    if (bytes.deleter != nullptr) bytes.deleter(bytes.context);
    throw;
  }
  StorageImpl* storage = ::new (place) StorageImpl;
  storage->kind_ = Kind::External;
  storage->resizable_ = resizable;
  storage->device_ = bytes.device;
  storage->data_ = bytes.data;
  storage->nbytes_ = size;
  storage->context_ = bytes.context;
  storage->deleter_ = bytes.deleter;
  return storage;
}

void StorageImpl::destroy(StorageImpl* storage) noexcept {
  StoragePool::free(storage);
}

void StorageImpl::check_resizable(std::size_t bytes) const {
  OPGEN_CHECK(resizable_, "a tensor on memory of ", nbytes_,
              " bytes that the runtime does not own cannot be resized to ", bytes, " bytes");
  OPGEN_CHECK(!is_held(), "the ", nbytes_, " bytes of a tensor cannot be resized to ", bytes,
              " while other objects use them (a memoryview, a NumPy array, a DLPack capsule): "
              "release these first, or resize a clone()");
}

void StorageImpl::resize(std::size_t bytes) {
  check_resizable(bytes);
  Kind old_kind = kind_;
  void* old_data = data_;
  std::size_t old_bytes = nbytes_;
  void* old_context = context_;
  void (*old_deleter)(void*) = deleter_;
  // Inline bytes stay inline, so there is nothing to move.
  if (old_kind == Kind::Inline && bytes <= kInlineStorageBytes) {
    nbytes_ = bytes;
    return;
  }
  acquire(bytes);
  std::size_t kept = old_data == nullptr || data_ == nullptr ? 0 : std::min(old_bytes, bytes);
  if (device_.is_cpu()) {
    if (kept != 0) std::memcpy(data_, old_data, kept);
  } else if (kept != 0) {
    try {
      get_allocator(device_.type())->copy_data(data_, old_data, kept);
    } catch (...) {
      release_data();
      kind_ = old_kind;
      data_ = old_data;
      nbytes_ = old_bytes;
      context_ = old_context;
      deleter_ = old_deleter;
      throw;
    }
  }
  if (old_kind == Kind::Pooled) {
    detail::pool_free(old_data, old_bytes);
  } else if (old_kind == Kind::External && old_deleter != nullptr) {
    old_deleter(old_context);
  }
}

}  // namespace opgen
