// cpu_fallback.h: operators that a backend has no kernel for, run on the CPU: arguments are copied
// there, results back. What did so is counted, since a program that is slow for it does not show
// it.
#pragma once

#include <ATen/native/CPUFallback.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace opgen {

namespace detail {

struct CpuFallbacks {
  std::mutex mutex;
  std::map<std::string, std::int64_t> calls;
};
inline CpuFallbacks& cpu_fallbacks() {
  static CpuFallbacks all;
  return all;
}

}  // namespace detail

inline void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  {
    const std::lock_guard lock(detail::cpu_fallbacks().mutex);
    ++detail::cpu_fallbacks().calls[c10::toString(op.operator_name())];
  }
  at::native::cpu_fallback(op, stack);
}

// The operators that ran on the CPU since the last call, and how often.
inline std::map<std::string, std::int64_t> take_cpu_fallbacks() {
  const std::lock_guard lock(detail::cpu_fallbacks().mutex);
  return std::exchange(detail::cpu_fallbacks().calls, {});
}

}  // namespace opgen
