// dispatch_stub.cpp: detects the processor's instruction sets, and chooses the function for them.
#include "opgen/registration/dispatch_stub.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "opgen/core/error.h"
#include "opgen/cpu/has_f16c.h"
#include "opgen/registration/loading.h"

namespace opgen {

namespace {

CPUCapability processor_capability() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return CPUCapability::AVX512;
  }
  // All processors with AVX2 except a few have the other two, and loops for AVX2 use them.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && detail::has_f16c()) {
    return CPUCapability::AVX2;
  }
#endif
  return CPUCapability::DEFAULT;
}

CPUCapability choose_capability() noexcept {
  CPUCapability best = processor_capability();
  const char* wanted = std::getenv("OPGEN_CPU_CAPABILITY");
  if (wanted == nullptr) return best;
  CPUCapability limit = best;
  if (std::strcmp(wanted, "default") == 0) {
    limit = CPUCapability::DEFAULT;
  } else if (std::strcmp(wanted, "avx2") == 0) {
    limit = CPUCapability::AVX2;
  } else if (std::strcmp(wanted, "avx512") != 0) {
    const LoadingScope no_exceptions;
    OPGEN_WARN("OPGEN_CPU_CAPABILITY is '", wanted, "', expected default, avx2 or avx512");
  }
  return limit < best ? limit : best;
}

}  // namespace

namespace detail {

constinit Atomic<std::uint8_t> cpu_capability = kUnknownCapability;

CPUCapability find_cpu_capability() noexcept {
  CPUCapability chosen = choose_capability();
  cpu_capability.store_relaxed(static_cast<std::uint8_t>(chosen));
  return chosen;
}

}  // namespace detail

const char* toString(CPUCapability capability) noexcept {
  constexpr const char* names[] = {"default", "avx2", "avx512"};
  return names[static_cast<int>(capability)];
}

namespace {

std::string registered_devices(const detail::DispatchTargets& targets) {
  std::string text;
  auto add = [&](DeviceType type) { text.append(text.empty() ? "" : ", ").append(toString(type)); };
  for (const Atomic<void*>& function : targets.cpu) {
    if (function.load_acquire() != nullptr && text.empty()) add(DeviceType::CPU);
  }
  for (int i = 0; i < kMaxDeviceTypes; ++i) {
    const bool registered = targets.devices[i].load_acquire() != nullptr;
    if (registered && !(i == 0 && !text.empty())) add(static_cast<DeviceType>(i));
  }
  return text.empty() ? "no device" : text;
}

}  // namespace

namespace detail {

void* choose_dispatch(const DispatchTargets& targets, DeviceType device) {
  void* function = targets.devices[static_cast<int>(device)].load_acquire();
  if (device == DeviceType::CPU && function == nullptr) {
    for (int i = static_cast<int>(get_cpu_capability()); i >= 0 && function == nullptr; --i) {
      function = targets.cpu[i].load_acquire();
    }
  }
  OPGEN_CHECK_NOT_IMPLEMENTED(function != nullptr, targets.name, " has no kernel for ", device,
                              "; kernels are registered for ", registered_devices(targets));
  return function;
}

}  // namespace detail
}  // namespace opgen
