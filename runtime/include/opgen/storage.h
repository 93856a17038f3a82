// storage.h: Storage, the bytes that a tensor and its views share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "opgen/allocator.h"
#include "opgen/device.h"
#include "opgen/ref.h"

namespace opgen {

// Up to this many bytes lie in the StorageImpl itself: a scalar or a short vector is one
// allocation.
inline constexpr std::size_t kInlineStorageBytes = 64;

class StorageImpl final : public RefCounted {
 public:
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t nbytes() const noexcept { return nbytes_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] bool resizable() const noexcept { return resizable_; }

  // Counts in-place changes of the bytes; views share it because they share the storage.
  [[nodiscard]] std::uint32_t version() const noexcept {
    return __atomic_load_n(&version_, __ATOMIC_RELAXED);
  }
  void bump_version() noexcept {
    // A load and a store: two threads that write one tensor race in any case.
    __atomic_store_n(&version_, version() + 1, __ATOMIC_RELAXED);
  }

  // While somebody else has the address of the bytes, they stay where they are: see HeldStorage.
  [[nodiscard]] bool is_held() const noexcept {
    return __atomic_load_n(&holders_, __ATOMIC_ACQUIRE) != 0;
  }
  void hold() noexcept { __atomic_fetch_add(&holders_, 1, __ATOMIC_RELAXED); }
  void unhold() noexcept { __atomic_fetch_sub(&holders_, 1, __ATOMIC_RELEASE); }

  // Error if the bytes cannot be replaced by so many: they are someone else's, or held.
  OPGEN_API void check_resizable(std::size_t bytes) const;
  // Replaces the bytes, keeping the first min(old, new) of them. Every tensor on this storage
  // follows.
  OPGEN_API void resize(std::size_t bytes);

  OPGEN_API static StorageImpl* create(std::size_t bytes, Device device);
  // The deleter runs in any case: when the last handle is gone, or if this throws.
  OPGEN_API static StorageImpl* adopt(DataPtr bytes, std::size_t size, bool resizable);
  OPGEN_API static void destroy(StorageImpl* storage) noexcept;

 private:
  enum class Kind : std::uint8_t { Inline, Pooled, External };

  StorageImpl() noexcept = default;
  void acquire(std::size_t bytes);
  void release_data() noexcept;

  Kind kind_ = Kind::Inline;
  bool resizable_ = true;
  Device device_;
  std::uint32_t version_ = 0;
  std::uint32_t holders_ = 0;
  void* data_ = nullptr;
  std::size_t nbytes_ = 0;
  void* context_ = nullptr;
  void (*deleter_)(void*) = nullptr;
  alignas(64) unsigned char inline_[kInlineStorageBytes];

  friend struct StoragePool;
};

// A shared handle. An empty handle has no bytes and no device.
class Storage {
 public:
  Storage() noexcept = default;
  explicit Storage(Ref<StorageImpl> impl) noexcept : impl_(static_cast<Ref<StorageImpl>&&>(impl)) {}
  // Fresh, uninitialised bytes.
  Storage(std::size_t bytes, Device device)
      : impl_(Ref<StorageImpl>::adopt(StorageImpl::create(bytes, device))) {}
  // Bytes that someone else made.
  Storage(DataPtr bytes, std::size_t size, bool resizable = false)
      : impl_(Ref<StorageImpl>::adopt(StorageImpl::adopt(bytes, size, resizable))) {}

  explicit operator bool() const noexcept { return static_cast<bool>(impl_); }
  [[nodiscard]] const void* data() const noexcept { return impl_ ? impl_->data() : nullptr; }
  [[nodiscard]] void* mutable_data() const noexcept { return impl_ ? impl_->data() : nullptr; }
  [[nodiscard]] std::size_t nbytes() const noexcept { return impl_ ? impl_->nbytes() : 0; }
  [[nodiscard]] Device device() const noexcept { return impl_ ? impl_->device() : Device(); }
  [[nodiscard]] bool resizable() const noexcept { return impl_ && impl_->resizable(); }
  [[nodiscard]] std::size_t use_count() const noexcept {
    return impl_ ? static_cast<std::size_t>(impl_->use_count()) : 0;
  }
  [[nodiscard]] bool is_alias_of(const Storage& other) const noexcept {
    return impl_ == other.impl_;
  }
  [[nodiscard]] StorageImpl* unsafeGetStorageImpl() const noexcept { return impl_.get(); }
  [[nodiscard]] StorageImpl* unsafeReleaseStorageImpl() noexcept { return impl_.release(); }

 private:
  Ref<StorageImpl> impl_;
};

// The bytes of a storage in the hands of somebody who does not ask the tensor for their address:
// the buffer protocol, NumPy, DLPack. As long as one lives, in whatever thread, the bytes are
// neither resized nor freed, even if the tensor is set to others.
class HeldStorage {
 public:
  explicit HeldStorage(Storage storage) noexcept : storage_(std::move(storage)) {
    if (storage_) storage_.unsafeGetStorageImpl()->hold();
  }
  ~HeldStorage() {
    if (storage_) storage_.unsafeGetStorageImpl()->unhold();
  }
  HeldStorage(const HeldStorage&) = delete;
  HeldStorage& operator=(const HeldStorage&) = delete;

  [[nodiscard]] const Storage& storage() const noexcept { return storage_; }

 private:
  Storage storage_;
};

}  // namespace opgen
