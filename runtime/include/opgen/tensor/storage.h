// storage.h: Storage, the bytes that a tensor and its views share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/atomic.h"
#include "opgen/core/ref.h"
#include "opgen/device/allocator.h"
#include "opgen/device/device.h"

namespace opgen {

// Up to this many bytes are in the StorageImpl itself, so a short vector needs one allocation.
inline constexpr std::size_t kInlineStorageBytes = 64;

class StorageImpl final : public RefCounted {
 public:
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t nbytes() const noexcept { return nbytes_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] bool resizable() const noexcept { return resizable_; }

  // Returns the number of in-place changes of the bytes.
  [[nodiscard]] std::uint32_t version() const noexcept { return version_.load_relaxed(); }
  void bump_version() noexcept {
    // A load and a store are enough, without an atomic increment: two threads that write to one
    // tensor race anyway.
    version_.store_relaxed(version() + 1);
  }

  // Whether another library has the address of the bytes, which then must not move: held_storage.h.
  [[nodiscard]] bool is_held() const noexcept { return holders_.load_acquire() != 0; }
  void hold() noexcept { holders_.add_relaxed(1); }
  void unhold() noexcept { holders_.subtract_release(1); }

  // Throws Error if the storage does not own the bytes, or if they are held.
  OPGEN_API void check_resizable(std::size_t bytes) const;
  // Replaces the bytes, for all tensors on this storage, and copies the first min(old, new).
  OPGEN_API void resize(std::size_t bytes);

  OPGEN_API static StorageImpl* create(std::size_t bytes, Device device);
  // Takes ownership: the deleter runs once, when the last handle is destroyed or if this function
  // throws.
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
  Atomic<std::uint32_t> version_ = 0;
  Atomic<std::uint32_t> holders_ = 0;
  void* data_ = nullptr;
  std::size_t nbytes_ = 0;
  void* context_ = nullptr;
  void (*deleter_)(void*) = nullptr;
  alignas(64) unsigned char inline_[kInlineStorageBytes];

  friend struct StoragePool;
};

// A counted handle. An empty handle has no bytes and no device.
class Storage {
 public:
  Storage() noexcept = default;
  explicit Storage(Ref<StorageImpl> impl) noexcept : impl_(static_cast<Ref<StorageImpl>&&>(impl)) {}
  // Allocates uninitialised bytes.
  Storage(std::size_t bytes, Device device)
      : impl_(Ref<StorageImpl>::adopt(StorageImpl::create(bytes, device))) {}
  // Takes ownership of existing bytes.
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

}  // namespace opgen
