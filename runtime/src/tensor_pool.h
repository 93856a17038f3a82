// tensor_pool.h: tensors and storages made and freed in a few dozen instructions. Internal.
#pragma once

#include <cstdlib>
#include <new>

#include "opgen/tensor_extra.h"
#include "opgen/tensor_impl.h"
#include "pool.h"

namespace opgen {

namespace detail {

// Whether someone replaced the allocator of the CPU or of Meta.
OPGEN_HIDDEN extern bool allocators_replaced;
[[nodiscard]] inline bool has_own_allocators() noexcept {
  return __atomic_load_n(&allocators_replaced, __ATOMIC_ACQUIRE);
}

}  // namespace detail

struct StoragePool {
  // CPU bytes inside the record itself. `bytes` is at most kInlineStorageBytes.
  static StorageImpl* create_inline(std::size_t bytes) {
    StorageImpl* storage = ::new (detail::pool_allocate(sizeof(StorageImpl))) StorageImpl;
    storage->device_ = Device(kCPU);
    storage->data_ = storage->inline_;
    storage->nbytes_ = bytes;
    return storage;
  }
  // No bytes at all, however many are asked for.
  static StorageImpl* create_meta(std::size_t bytes, Device device) {
    StorageImpl* storage = ::new (detail::pool_allocate(sizeof(StorageImpl))) StorageImpl;
    storage->kind_ = StorageImpl::Kind::External;
    storage->device_ = device;
    storage->nbytes_ = bytes;
    return storage;
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
  static TensorImpl* create(StorageImpl* storage, DispatchKeySet keys, ScalarType dtype,
                            Device device, Layout layout) {
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
  static void destroy(TensorImpl* impl) noexcept {
    StoragePool::drop(impl->storage_);
    if (OPGEN_UNLIKELY(impl->extra_ != nullptr)) delete impl->extra_;
    if (OPGEN_UNLIKELY(impl->heap_dims_)) std::free(impl->sizes_);
    detail::pool_free(impl, sizeof(TensorImpl));
  }
  // Row-major sizes and strides for a fresh record; false, and nothing done, where the sizes need a
  // closer look: negative, too many, or more elements than fit.
  static bool set_contiguous(TensorImpl* impl, IntArrayRef sizes) noexcept {
    std::size_t ndim = sizes.size();
    if (OPGEN_UNLIKELY(ndim > TensorImpl::kInlineDims)) return false;
    std::int64_t stride = 1;
    std::uint64_t seen = 0;
    for (std::size_t i = ndim; i-- > 0;) {
      std::int64_t size = sizes[i];
      impl->inline_[i] = size;
      impl->inline_[TensorImpl::kInlineDims + i] = stride;
      seen |= static_cast<std::uint64_t>(size) - 1;
      stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                         static_cast<std::uint64_t>(size));
    }
    // Five sizes from 1 to 2,048: nothing can have overflowed.
    if (OPGEN_UNLIKELY(seen >= 2048)) return set_contiguous_checked(impl, sizes);
    impl->ndim_ = static_cast<std::int32_t>(ndim);
    impl->numel_ = stride;
    return true;
  }

 private:
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
