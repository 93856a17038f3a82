// cpu_fallback.h: operators that a backend has no kernel for, run on the CPU: arguments are copied
// there, results back.
#pragma once

#include <ATen/native/CPUFallback.h>

namespace opgen {

inline void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

}  // namespace opgen
