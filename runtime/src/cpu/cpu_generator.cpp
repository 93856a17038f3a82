// cpu_generator.cpp: seeding and state of the Mersenne twister (Matsumoto and Nishimura, 1998).
#include "opgen/cpu/cpu_generator.h"

#include <cstring>
#include <random>

namespace opgen {

namespace {
// The seed of PyTorch's default generator, so that first draws can be compared.
constexpr std::uint64_t kDefaultSeed = 67280421310721;
constexpr std::uint32_t kShift = 397;
}  // namespace

CPUGeneratorImpl::CPUGeneratorImpl(std::uint64_t seed_value)
    : GeneratorImpl(Device(kCPU), DispatchKeySet(DispatchKey::CPU)) {
  CPUGeneratorImpl::set_current_seed(seed_value);
}
CPUGeneratorImpl::~CPUGeneratorImpl() = default;

void CPUGeneratorImpl::set_current_seed(std::uint64_t seed_value) {
  state_.seed = seed_value;
  state_.words[0] = static_cast<std::uint32_t>(seed_value);
  for (std::uint32_t i = 1; i < kWords; ++i) {
    std::uint32_t before = state_.words[i - 1];
    state_.words[i] = 1812433253u * (before ^ (before >> 30)) + i;
  }
  state_.next = kWords;
}

std::uint64_t CPUGeneratorImpl::seed() {
  std::random_device device;
  std::uint64_t fresh = static_cast<std::uint64_t>(device()) << 32 | device();
  set_current_seed(fresh);
  return fresh;
}

namespace {

std::uint32_t mixed(std::uint32_t word, std::uint32_t next, std::uint32_t shifted) {
  std::uint32_t y = (word & 0x80000000u) | (next & 0x7fffffffu);
  return shifted ^ (y >> 1) ^ (-(y & 1u) & 0x9908b0dfu);
}

}  // namespace

// Three loops instead of indices modulo the number of words: the compiler vectorises the first two.
void CPUGeneratorImpl::refill() {
  std::uint32_t* words = state_.words;
  constexpr std::uint32_t first = kWords - kShift;
  for (std::uint32_t i = 0; i < first; ++i) {
    words[i] = mixed(words[i], words[i + 1], words[i + kShift]);
  }
  for (std::uint32_t i = first; i < kWords - 1; ++i) {
    words[i] = mixed(words[i], words[i + 1], words[i - first]);
  }
  words[kWords - 1] = mixed(words[kWords - 1], words[0], words[kShift - 1]);
  state_.next = 0;
}

void CPUGeneratorImpl::random(std::uint32_t* out, std::int64_t n) {
  while (n > 0) {
    if (state_.next == kWords) refill();
    const std::int64_t left = kWords - state_.next;
    const std::int64_t count = n < left ? n : left;
    const std::uint32_t* words = state_.words + state_.next;
    for (std::int64_t i = 0; i < count; ++i) out[i] = tempered(words[i]);
    state_.next += static_cast<std::uint32_t>(count);
    out += count;
    n -= count;
  }
}

void CPUGeneratorImpl::get_state(void* bytes) const {
  std::memcpy(bytes, &state_, sizeof state_);
}
void CPUGeneratorImpl::set_state(const void* bytes, std::size_t size) {
  OPGEN_CHECK_VALUE(size == sizeof state_, "a CPU generator's state has ", sizeof state_,
                    " bytes, not ", size);
  State fresh;
  std::memcpy(&fresh, bytes, sizeof fresh);
  OPGEN_CHECK_VALUE(fresh.next <= kWords, "not the state of a CPU generator");
  state_ = fresh;
}
GeneratorImpl* CPUGeneratorImpl::clone() const {
  CPUGeneratorImpl* copy = new CPUGeneratorImpl(0);
  copy->state_ = state_;
  return copy;
}

namespace tensor_functions {

const Generator& default_cpu_generator() {
  static const Generator* generator =
      new Generator(Ref<GeneratorImpl>::adopt(new CPUGeneratorImpl(kDefaultSeed)));
  return *generator;
}

CPUGeneratorImpl* cpu_generator(const std::optional<Generator>& generator) {
  const Generator& chosen =
      generator.has_value() && generator->defined() ? *generator : default_cpu_generator();
  OPGEN_CHECK(chosen.device().is_cpu(), "expected a generator on cpu, got one on ",
              chosen.device());
  return chosen.get<CPUGeneratorImpl>();
}

}  // namespace tensor_functions
}  // namespace opgen
