// atomic.h: Atomic, a field that threads share without a lock. <atomic> takes 0.2 s to include.
#pragma once

namespace opgen {

// T is a number, an enumeration or a pointer. Each function's name contains its memory order. An
// Atomic is constant-initialised and as large as T.
template <class T>
class Atomic {
 public:
  constexpr Atomic() noexcept = default;
  constexpr Atomic(T value) noexcept : value_(value) {}  // NOLINT
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  // Uses the generic built-ins, because clang's __atomic_load_n does not accept enumerations.
  [[nodiscard]] T load_relaxed() const noexcept { return load<__ATOMIC_RELAXED>(); }
  [[nodiscard]] T load_acquire() const noexcept { return load<__ATOMIC_ACQUIRE>(); }
  void store_relaxed(T value) noexcept { __atomic_store(&value_, &value, __ATOMIC_RELAXED); }
  void store_release(T value) noexcept { __atomic_store(&value_, &value, __ATOMIC_RELEASE); }

  // These return the value from before.
  T add_relaxed(T value) noexcept { return __atomic_fetch_add(&value_, value, __ATOMIC_RELAXED); }
  T subtract_release(T value) noexcept {
    return __atomic_fetch_sub(&value_, value, __ATOMIC_RELEASE);
  }
  T subtract_acquire_release(T value) noexcept {
    return __atomic_fetch_sub(&value_, value, __ATOMIC_ACQ_REL);
  }

  // Stores `value` if the field is null or 0. Returns the previous value: null or 0 on success.
  T replace_null(T value) noexcept {
    T there{};
    __atomic_compare_exchange_n(&value_, &there, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return there;
  }

 private:
  template <int order>
  [[nodiscard]] T load() const noexcept {
    T value;
    __atomic_load(&value_, &value, order);
    return value;
  }

  T value_{};
};

}  // namespace opgen
