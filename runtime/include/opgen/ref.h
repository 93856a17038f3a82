// ref.h: RefCounted and Ref, intrusive reference counting without <atomic> (0.2 s to include).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "opgen/macros.h"

namespace opgen {

// Counts owners. A count of one is found by a plain load: the last owner never pays for a locked
// instruction.
class RefCounted {
 public:
  void retain() const noexcept { __atomic_fetch_add(&count_, 1, __ATOMIC_RELAXED); }
  // True if the caller was the last owner and must destroy the object.
  [[nodiscard]] bool drop() const noexcept {
    return __atomic_load_n(&count_, __ATOMIC_ACQUIRE) == 1 ||
           __atomic_fetch_sub(&count_, 1, __ATOMIC_ACQ_REL) == 1;
  }
  [[nodiscard]] std::int32_t use_count() const noexcept {
    return __atomic_load_n(&count_, __ATOMIC_ACQUIRE);
  }

 protected:
  constexpr RefCounted() noexcept = default;
  constexpr explicit RefCounted(std::int32_t count) noexcept : count_(count) {}
  // A copy of the object is a new object.
  constexpr RefCounted(const RefCounted&) noexcept {}
  constexpr RefCounted& operator=(const RefCounted&) noexcept { return *this; }
  ~RefCounted() = default;

 private:
  mutable std::int32_t count_ = 1;
};

// Owns a share of a T or nothing. T has retain(), drop() and a static destroy(T*).
template <class T>
class Ref {
 public:
  constexpr Ref() noexcept = default;
  constexpr Ref(std::nullptr_t) noexcept {}  // NOLINT
  // Takes over the share that `object` was created with.
  static Ref adopt(T* object) noexcept { return Ref(object); }
  static Ref share(T* object) noexcept {
    if (object != nullptr) object->retain();
    return Ref(object);
  }
  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) object_->retain();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && object_->drop()) T::destroy(object_);
  }

  [[nodiscard]] T* get() const noexcept { return object_; }
  [[nodiscard]] T* operator->() const noexcept { return object_; }
  [[nodiscard]] T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }
  [[nodiscard]] bool operator==(const Ref& other) const noexcept {
    return object_ == other.object_;
  }

 private:
  constexpr explicit Ref(T* object) noexcept : object_(object) {}
  T* object_ = nullptr;
};

}  // namespace opgen
