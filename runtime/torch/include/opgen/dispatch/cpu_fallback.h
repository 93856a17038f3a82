// cpu_fallback.h: runs operators for which a backend has no kernel on the CPU: arguments are copied
// to the CPU, and results back. Fallbacks are counted, because they make a program slow without any
// visible sign.
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

// Returns the operators that ran on the CPU since the last call, each with the number of its
// calls.
inline std::map<std::string, std::int64_t> take_cpu_fallbacks() {
  const std::lock_guard lock(detail::cpu_fallbacks().mutex);
  return std::exchange(detail::cpu_fallbacks().calls, {});
}

}  // namespace opgen
