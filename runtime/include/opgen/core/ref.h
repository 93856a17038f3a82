// ref.h: RefCounted and Ref, intrusive reference counting without <atomic> (0.2 s to include).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "opgen/core/atomic.h"
#include "opgen/core/macros.h"

namespace opgen {

// Counts owners. drop() first checks for a count of one with a plain load, so the last owner
// executes no locked instruction. That is safe because only an owner can add owners: with one left,
// no other thread can raise the count.
class RefCounted {
 public:
  void retain() const noexcept { count_.add_relaxed(1); }
  // Gives up one share. Returns true if the caller was the last owner and must destroy the object;
  // the count is then still 1, or 0. tensor_pool.h reuses only records whose count is still 1.
  [[nodiscard]] bool drop() const noexcept {
    return count_.load_acquire() == 1 || count_.subtract_acquire_release(1) == 1;
  }
  // A thread that owns a share and reads 1 is the only owner; other values may be out of date.
  [[nodiscard]] std::int32_t use_count() const noexcept { return count_.load_acquire(); }

 protected:
  constexpr RefCounted() noexcept = default;
  constexpr explicit RefCounted(std::int32_t count) noexcept : count_(count) {}
  // A copy of the object is a new object.
  constexpr RefCounted(const RefCounted&) noexcept {}
  constexpr RefCounted& operator=(const RefCounted&) noexcept { return *this; }
  ~RefCounted() = default;

 private:
  mutable Atomic<std::int32_t> count_ = 1;
};

// Owns a share of a T, or nothing. T has retain(), drop() and a static destroy(T*).
template <class T>
class Ref {
 public:
  constexpr Ref() noexcept = default;
  constexpr Ref(std::nullptr_t) noexcept {}  // NOLINT
  // Takes over the share with which `object` was created.
  static Ref adopt(T* object) noexcept { return Ref(object); }
  static Ref share(T* object) noexcept {
    if (object != nullptr) object->retain();
    return Ref(object);
  }
  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) object_->retain();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  // Converts from a Ref to a derived class.
  template <class U>
  requires std::is_convertible_v<U*, T*> Ref(Ref<U> other)
  noexcept  // NOLINT
      : object_(other.release()) {}
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
