// cpu_generator.h: random numbers for kernels on the CPU, drawn by PyTorch.
#pragma once

#include <cstdint>
#include <optional>

#include "opgen/device/generator.h"

namespace opgen {

// Draws bits with PyTorch's operator random_, a block at a time. They depend on the state of the
// generator and advance it, but they are not the numbers of PyTorch's own engine: its C functions
// do not give access to that.
class OPGEN_API CPUGeneratorImpl {
 public:
  // Forgets drawn numbers; the next ones come from `generator`, or from the default one.
  void reset(const std::optional<Generator>& generator);

  std::uint32_t random() {
    if (OPGEN_UNLIKELY(next_ == kWords)) refill();
    return words_[next_++];
  }
  std::uint64_t random64() {
    const std::uint64_t upper = random();
    return upper << 32 | random();
  }

 private:
  static constexpr std::uint32_t kWords = 64;
  void refill();

  std::optional<Generator> generator_;
  std::uint32_t next_ = kWords;
  std::uint32_t words_[kWords];
};

// For the same sources as the runtime: PyTorch locks the generator itself.
class GeneratorLock {
 public:
  template <class Engine>
  explicit GeneratorLock(const Engine*) noexcept {}
};

namespace tensor_functions {

// Returns the engine of this thread, set to a `Generator?` argument; valid until the next call.
// Throws Error if it is not a CPU generator.
[[nodiscard]] OPGEN_API CPUGeneratorImpl* cpu_generator(const std::optional<Generator>& generator);

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)

}  // namespace opgen
