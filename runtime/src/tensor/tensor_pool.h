// tensor_pool.h: creates and frees tensors and storages in a few dozen instructions. Internal.
#pragma once

#include <cstdlib>
#include <new>

#include "core/pool.h"
#include "opgen/core/atomic.h"
#include "opgen/tensor/tensor_impl.h"
#include "tensor/tensor_parts.h"

namespace opgen {

namespace detail {

// Whether the allocator of the CPU or of Meta was replaced.
OPGEN_HIDDEN extern Atomic<bool> allocators_replaced;
[[nodiscard]] inline bool has_own_allocators() noexcept {
  return allocators_replaced.load_acquire();
}

}  // namespace detail

struct StoragePool {
  // Creates a storage whose CPU bytes are inside the record. `bytes` is at most
  // kInlineStorageBytes.
  static StorageImpl* create_inline(std::size_t bytes) {
    StorageImpl* storage = ::new (detail::pool_allocate(sizeof(StorageImpl))) StorageImpl;
    storage->device_ = Device(kCPU);
    storage->data_ = storage->inline_;
    storage->nbytes_ = bytes;
    return storage;
  }
  // Creates a storage without bytes; only records their number.
  static StorageImpl* create_meta(std::size_t bytes, Device device) {
    StorageImpl* storage = ::new (detail::pool_allocate(sizeof(StorageImpl))) StorageImpl;
    storage->kind_ = StorageImpl::Kind::External;
    storage->device_ = device;
    storage->nbytes_ = bytes;
    return storage;
  }
  // Returns whether the storage can be reused unchanged: nothing else refers to it, and its bytes
  // are inline.
  [[nodiscard]] static bool is_reusable(const StorageImpl* storage) noexcept {
    return storage->kind_ == StorageImpl::Kind::Inline && storage->use_count() == 1;
  }
  static void renew(StorageImpl* storage, std::size_t bytes) noexcept {
    storage->nbytes_ = bytes;
    storage->version_.store_relaxed(0);
  }
  static void drop(StorageImpl* storage) noexcept {
    if (storage != nullptr && storage->drop()) free(storage);
  }
  static void free(StorageImpl* storage) noexcept {
    if (OPGEN_UNLIKELY(storage->kind_ != StorageImpl::Kind::Inline)) storage->release_data();
    detail::pool_free(storage, sizeof(StorageImpl));
  }
};

struct TensorPool {
  OPGEN_ALWAYS_INLINE static TensorImpl* create(StorageImpl* storage, DispatchKeySet keys,
                                                ScalarType dtype, Device device, Layout layout) {
    TensorImpl* impl = ::new (detail::pool_allocate(sizeof(TensorImpl))) TensorImpl;
    impl->dtype_ = dtype;
    impl->itemsize_ = static_cast<std::uint8_t>(elementSize(dtype));
    impl->device_ = device;
    impl->layout_ = layout;
    impl->keys_ = keys;
    impl->storage_ = storage;
    return impl;
  }
  static void set_storage(TensorImpl* impl, StorageImpl* storage) noexcept {
    impl->storage_ = storage;
  }
  // Creates a small CPU tensor, whose sizes the caller sets next. Usually reuses a freed one, in
  // which half of the fields already have the right values.
  static TensorImpl* create_small(std::size_t bytes, DispatchKeySet keys, ScalarType dtype,
                                  Device device) {
    detail::SmallTensors& small = detail::thread_cache->small;
    TensorImpl* impl = small.head;
    if (OPGEN_UNLIKELY(impl == nullptr)) return create_first_small(bytes, keys, dtype, device);
    small.head = next_small(impl);
    --small.count;
    impl->dtype_ = dtype;
    impl->itemsize_ = static_cast<std::uint8_t>(elementSize(dtype));
    impl->device_ = device;
    impl->keys_ = keys;
    impl->storage_offset_ = 0;
    impl->layout_ = kStrided;
    impl->contiguous_ = true;
    impl->wrapped_number_ = false;
    StoragePool::renew(impl->storage_, bytes);
    return impl;
  }
  // Called at the end of a thread.
  static void free_small() noexcept {
    detail::SmallTensors& small = detail::thread_cache->small;
    while (small.head != nullptr) {
      TensorImpl* impl = small.head;
      small.head = next_small(impl);
      destroy_parts(impl);
    }
    small.count = 0;
  }
  static void destroy(TensorImpl* impl) noexcept {
    StorageImpl* storage = impl->storage_;
    detail::SmallTensors& small = detail::thread_cache->small;
    if (OPGEN_LIKELY(storage != nullptr && StoragePool::is_reusable(storage) &&
                     small.count < small.limit && impl->use_count() == 1 &&
                     impl->parts() == nullptr && !impl->heap_dims_)) {
      impl->storage_offset_ = reinterpret_cast<std::intptr_t>(small.head);
      small.head = impl;
      ++small.count;
      return;
    }
    destroy_parts(impl);
  }
  // Returns the number of elements; -1 if the sizes need the full check: negative or zero, too
  // many, or so large that their product might overflow.
  static std::int64_t small_numel(IntArrayRef sizes) noexcept {
    if (OPGEN_UNLIKELY(sizes.size() > TensorImpl::kInlineDims)) return -1;
    std::uint64_t numel = 1;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::uint64_t size = static_cast<std::uint64_t>(sizes[i]);
      numel *= size;
      seen |= size - 1;
    }
    // The product of five sizes from 1 to 2,048 cannot overflow.
    return OPGEN_LIKELY(seen < 2048) ? static_cast<std::int64_t>(numel) : -1;
  }
  // Sets row-major sizes and strides of a record whose sizes are inline. `numel` is the product of
  // the sizes.
  static void set_small(TensorImpl* impl, IntArrayRef sizes, std::int64_t numel) noexcept {
    std::int64_t stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      std::int64_t size = sizes[i];
      impl->inline_[i] = size;
      impl->inline_[TensorImpl::kInlineDims + i] = stride;
      stride *= size;
    }
    impl->ndim_ = static_cast<std::int32_t>(sizes.size());
    impl->numel_ = numel;
  }
  // Sets row-major sizes and strides of a fresh record. Returns false, without doing anything, if
  // the sizes need the full check: negative, too many, or more elements than fit.
  static bool set_contiguous(TensorImpl* impl, IntArrayRef sizes) noexcept {
    std::size_t ndim = sizes.size();
    if (OPGEN_UNLIKELY(ndim > TensorImpl::kInlineDims)) return false;
    std::int64_t numel = small_numel(sizes);
    if (OPGEN_UNLIKELY(numel < 0)) return set_contiguous_checked(impl, sizes);
    set_small(impl, sizes, numel);
    return true;
  }

 private:
  // The links of the free list use a field that a freed tensor does not need.
  static TensorImpl* next_small(const TensorImpl* impl) noexcept {
    return reinterpret_cast<TensorImpl*>(static_cast<std::intptr_t>(impl->storage_offset_));
  }
  OPGEN_NOINLINE static TensorImpl* create_first_small(std::size_t bytes, DispatchKeySet keys,
                                                       ScalarType dtype, Device device) {
    StorageImpl* storage = StoragePool::create_inline(bytes);
    try {
      return create(storage, keys, dtype, device, kStrided);
    } catch (...) {
      StoragePool::free(storage);
      throw;
    }
  }
  OPGEN_NOINLINE static void destroy_parts(TensorImpl* impl) noexcept {
    StoragePool::drop(impl->storage_);
    if (OPGEN_UNLIKELY(impl->parts() != nullptr)) delete impl->parts();
    if (OPGEN_UNLIKELY(impl->heap_dims_)) std::free(impl->sizes_);
    detail::pool_free(impl, sizeof(TensorImpl));
  }
  OPGEN_NOINLINE static bool set_contiguous_checked(TensorImpl* impl, IntArrayRef sizes) noexcept {
    std::size_t ndim = sizes.size();
    std::int64_t stride = 1;
    bool unusual = false;
    bool empty = false;
    for (std::size_t i = ndim; i-- > 0;) {
      std::int64_t size = sizes[i];
      impl->sizes_[i] = size;
      impl->strides_[i] = stride;
      unusual |= size < 0;
      empty |= size == 0;
      unusual |= __builtin_mul_overflow(stride, size > 1 ? size : 1, &stride);
    }
    // An element has at most 16 bytes.
    if (OPGEN_UNLIKELY(unusual || stride >= std::int64_t(1) << 58)) return false;
    impl->ndim_ = static_cast<std::int32_t>(ndim);
    impl->numel_ = empty ? 0 : stride;
    return true;
  }
};

}  // namespace opgen
