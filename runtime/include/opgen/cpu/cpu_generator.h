// cpu_generator.h: CPUGeneratorImpl, the Mersenne twister behind random operators on CPU.
#pragma once

#include <cstdint>
#include <optional>

#include "opgen/device/generator.h"

namespace opgen {

// Draw only while holding GeneratorLock.
class OPGEN_API CPUGeneratorImpl final : public GeneratorImpl {
 public:
  explicit CPUGeneratorImpl(std::uint64_t seed_value);
  ~CPUGeneratorImpl() override;

  void set_current_seed(std::uint64_t seed_value) override;
  [[nodiscard]] std::uint64_t current_seed() const override { return state_.seed; }
  std::uint64_t seed() override;
  [[nodiscard]] std::size_t state_size() const override { return sizeof(State); }
  void get_state(void* bytes) const override;
  void set_state(const void* bytes, std::size_t size) override;
  [[nodiscard]] GeneratorImpl* clone() const override;

  // Return 32 or 64 uniformly distributed random bits. The first word drawn becomes the upper half
  // of the 64 bits.
  std::uint32_t random() {
    if (state_.next == kWords) refill();
    return tempered(state_.words[state_.next++]);
  }
  // The next n numbers of random(), several at a time.
  void random(std::uint32_t* out, std::int64_t n);
  std::uint64_t random64() {
    std::uint64_t upper = random();
    return upper << 32 | random();
  }

 private:
  static constexpr std::uint32_t kWords = 624;
  struct State {
    std::uint64_t seed;
    std::uint32_t next;
    std::uint32_t words[kWords];
  };
  static std::uint32_t tempered(std::uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void refill();

  State state_;
};

// Reseeds the default generator.
OPGEN_API void manual_seed(std::uint64_t seed);

namespace tensor_functions {

// Returns the default generator, which starts with the same seed in every process.
[[nodiscard]] OPGEN_API const Generator& default_cpu_generator();
// Returns the engine of a `Generator?` argument, the default one if absent. Throws Error if it is
// not a CPU generator.
[[nodiscard]] OPGEN_API CPUGeneratorImpl* cpu_generator(const std::optional<Generator>& generator);

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)
}  // namespace opgen
