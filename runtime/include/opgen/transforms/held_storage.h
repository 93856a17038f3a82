// held_storage.h: HeldStorage, the bytes of a tensor for a user that keeps their address: the
// buffer protocol, NumPy or DLPack.
#pragma once

#include <utility>

#include "opgen/tensor/storage.h"

namespace opgen {

// As long as a HeldStorage exists, the bytes are neither resized nor freed, even if the
// tensor gets another storage. May be destroyed on any thread.
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
