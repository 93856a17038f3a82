// random.cpp: seeding the default generator.
#include "opgen/random.h"

namespace opgen::detail {

void manual_seed(std::uint64_t seed) {
  GeneratorImpl* engine = default_cpu_generator().unsafeGetGeneratorImpl();
  GeneratorLock lock(engine);
  engine->set_current_seed(seed);
}

}  // namespace opgen::detail
