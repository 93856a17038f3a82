// generator.h: Generator, a handle to a source of random numbers; engines derive from its Impl.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/dispatch_key_set.h"
#include "opgen/core/ref.h"
#include "opgen/device/device.h"

namespace opgen {

class OPGEN_API GeneratorImpl : public RefCounted {
 public:
  GeneratorImpl(Device device, DispatchKeySet key_set) noexcept
      : device_(device), key_set_(key_set) {}
  virtual ~GeneratorImpl();

  virtual void set_current_seed(std::uint64_t seed) = 0;
  [[nodiscard]] virtual std::uint64_t current_seed() const = 0;
  // Takes a seed from the system and returns it.
  virtual std::uint64_t seed() = 0;
  // Saves and restores the state as state_size() opaque bytes.
  [[nodiscard]] virtual std::size_t state_size() const = 0;
  virtual void get_state(void* bytes) const = 0;
  virtual void set_state(const void* bytes, std::size_t size) = 0;
  [[nodiscard]] virtual GeneratorImpl* clone() const = 0;

  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] DispatchKeySet key_set() const noexcept { return key_set_; }

  // Hold the lock while drawing, with GeneratorLock. A thread that waits for it releases Python's
  // GIL (blocking.h).
  void lock() noexcept;
  void unlock() noexcept;

  static void destroy(GeneratorImpl* impl) noexcept;

 private:
  Device device_;
  DispatchKeySet key_set_;
  bool locked_ = false;
};

class Generator {
 public:
  Generator() noexcept = default;
  explicit Generator(Ref<GeneratorImpl> impl) noexcept
      : impl_(static_cast<Ref<GeneratorImpl>&&>(impl)) {}

  [[nodiscard]] bool defined() const noexcept { return static_cast<bool>(impl_); }
  [[nodiscard]] Device device() const noexcept { return impl_->device(); }
  [[nodiscard]] DispatchKeySet key_set() const noexcept {
    return impl_ ? impl_->key_set() : DispatchKeySet();
  }
  void set_current_seed(std::uint64_t seed) { impl_->set_current_seed(seed); }
  [[nodiscard]] std::uint64_t current_seed() const { return impl_->current_seed(); }
  std::uint64_t seed() { return impl_->seed(); }
  [[nodiscard]] Generator clone() const {
    return Generator(Ref<GeneratorImpl>::adopt(impl_->clone()));
  }
  [[nodiscard]] bool operator==(const Generator&) const noexcept = default;

  // Returns the engine, cast to a type that the caller knows it to be.
  template <class T>
  [[nodiscard]] T* get() const noexcept {
    return static_cast<T*>(impl_.get());
  }
  [[nodiscard]] GeneratorImpl* unsafeGetGeneratorImpl() const noexcept { return impl_.get(); }

 private:
  Ref<GeneratorImpl> impl_;
};

class GeneratorLock {
 public:
  explicit GeneratorLock(GeneratorImpl* impl) noexcept : impl_(impl) { impl_->lock(); }
  ~GeneratorLock() { impl_->unlock(); }
  GeneratorLock(const GeneratorLock&) = delete;
  GeneratorLock& operator=(const GeneratorLock&) = delete;

 private:
  GeneratorImpl* impl_;
};

}  // namespace opgen
