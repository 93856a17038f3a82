// generator.h: Generator, a handle to a random number generator of PyTorch.
#pragma once

#include <cstdint>

#include "opgen/core/macros.h"
#include "opgen/core/ref.h"
#include "opgen/device/device.h"

struct AtenGeneratorOpaque;
using AtenGeneratorHandle = AtenGeneratorOpaque*;

namespace opgen {

// The C functions for generators are in PyTorch 2.13 and later; before, no operator receives one.
class OPGEN_API GeneratorImpl final : public RefCounted {
 public:
  // Takes ownership of the handle.
  explicit GeneratorImpl(AtenGeneratorHandle handle) noexcept : handle_(handle) {}
  static void destroy(GeneratorImpl* impl) noexcept;
  [[nodiscard]] AtenGeneratorHandle handle() const noexcept { return handle_; }
  [[nodiscard]] Device device() const;

 private:
  AtenGeneratorHandle handle_;
};

class Generator {
 public:
  Generator() noexcept = default;
  explicit Generator(Ref<GeneratorImpl> impl) noexcept
      : impl_(static_cast<Ref<GeneratorImpl>&&>(impl)) {}

  [[nodiscard]] bool defined() const noexcept { return static_cast<bool>(impl_); }
  [[nodiscard]] Device device() const { return impl_->device(); }
  [[nodiscard]] bool operator==(const Generator&) const noexcept = default;
  [[nodiscard]] GeneratorImpl* unsafeGetGeneratorImpl() const noexcept { return impl_.get(); }

 private:
  Ref<GeneratorImpl> impl_;
};

}  // namespace opgen
