// dot_kernel.cpp: compiled once per instruction set.
#include "dot.h"

namespace {

#define SPELLED_(x) #x
#define SPELLED(x) SPELLED_(x)

const char* compiled_for() {
#if defined(__AVX512F__)
  return SPELLED(OPGEN_CPU_CAPABILITY) " with AVX-512";
#elif defined(__AVX2__)
  return SPELLED(OPGEN_CPU_CAPABILITY) " with AVX2";
#else
  return SPELLED(OPGEN_CPU_CAPABILITY);
#endif
}

// The product and the sum are each rounded, even where the processor has a fused instruction.
float dot(const float* a, const float* b, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

OPGEN_REGISTER_DISPATCH(dot_stub, &dot);
OPGEN_REGISTER_DISPATCH(name_stub, &compiled_for);
