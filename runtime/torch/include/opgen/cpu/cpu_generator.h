// cpu_generator.h: ATen's CPU generator under the runtime's names.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <mutex>
#include <optional>

#include "opgen/tensor/tensor.h"

namespace opgen {

using at::CPUGeneratorImpl;
using c10::GeneratorImpl;

// Locks a generator. Hold it while drawing numbers.
class GeneratorLock {
 public:
  explicit GeneratorLock(GeneratorImpl* impl) : lock_(impl->mutex_) {}

 private:
  std::lock_guard<std::mutex> lock_;
};

[[nodiscard]] inline const Generator& default_cpu_generator() {
  return at::detail::getDefaultCPUGenerator();
}
// Returns the engine of a `Generator?` argument, the default one if absent. Throws Error if it is
// not a CPU generator.
[[nodiscard]] inline CPUGeneratorImpl* cpu_generator(const std::optional<Generator>& generator) {
  return at::get_generator_or_default<CPUGeneratorImpl>(generator, default_cpu_generator());
}
// Reseeds the default generator.
inline void manual_seed(std::uint64_t seed) {
  CPUGeneratorImpl* engine = cpu_generator(std::nullopt);
  const GeneratorLock lock(engine);
  engine->set_current_seed(seed);
}

}  // namespace opgen
