// storage.h: Storage, the bytes that a tensor and its views share, which belong to PyTorch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/device/device.h"

namespace opgen {

// Stands for the address of a storage's first byte, by which storages are compared.
struct StorageImpl;

// What can be asked about a storage. It keeps nothing alive: the tensor must outlive it.
class Storage {
 public:
  Storage() noexcept = default;
  Storage(const StorageImpl* bytes, std::size_t size, Device device) noexcept
      : bytes_(bytes), size_(size), device_(device) {}

  explicit operator bool() const noexcept { return bytes_ != nullptr; }
  [[nodiscard]] const void* data() const noexcept { return bytes_; }
  [[nodiscard]] void* mutable_data() const noexcept { return const_cast<StorageImpl*>(bytes_); }
  [[nodiscard]] std::size_t nbytes() const noexcept { return size_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] bool is_alias_of(const Storage& other) const noexcept {
    return bytes_ != nullptr && bytes_ == other.bytes_;
  }

 private:
  const StorageImpl* bytes_ = nullptr;
  std::size_t size_ = 0;
  Device device_;
};

}  // namespace opgen
