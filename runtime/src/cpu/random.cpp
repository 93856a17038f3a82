// random.cpp: seeding the default generator.
#include "opgen/cpu/random.h"

namespace opgen {

void manual_seed(std::uint64_t seed) {
  GeneratorImpl* engine = default_cpu_generator().unsafeGetGeneratorImpl();
  GeneratorLock lock(engine);
  engine->set_current_seed(seed);
}

}  // namespace opgen
