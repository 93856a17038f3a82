// has_f16c.h: whether the processor converts float16. clang++ before 15 does not accept "f16c" in
// __builtin_cpu_supports.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

namespace opgen::detail {

[[nodiscard]] inline bool has_f16c() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace opgen::detail
#endif
