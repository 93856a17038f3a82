// flags.cpp: prints the largest relative error of kernels of vectors; compiled with flags that
// authors use. Functions that are not inlined are compiled for other instructions than their
// callers.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "opgen/cpu/loops.h"
#include "opgen/cpu/vec_functions.h"

using namespace opgen;

namespace {

template <int bytes>
OPGEN_NOINLINE Vec<float, bytes> apart(Vec<float, bytes> x) {
  return vec::exp(x);
}

OPGEN_NOINLINE void loop(const float* x, float* y) {
  apart(Vec<float>::load(x)).store(y);
}
#if defined(__x86_64__)
OPGEN_NOINLINE __attribute__((target("avx2,fma"))) void loop_of_author(const float* x, float* y) {
  vec::exp(Vec<float>::load(x)).store(y);
}
OPGEN_NOINLINE __attribute__((target("avx2,fma"))) void loop_across(const float* x, float* y) {
  apart(Vec<float>::load(x)).store(y);
}
#endif

}  // namespace

int main() {
  constexpr int count = 40;
  float x[count], y[count];
  double worst = 0;
  const auto check = [&](double plus) {
    for (int i = 0; i < count; ++i) {
      const double exact = std::exp(static_cast<double>(x[i])) + plus;
      worst = std::max(worst, std::abs(static_cast<double>(y[i]) - exact) / exact);
      y[i] = 0;
    }
  };
  for (int i = 0; i < count; ++i) x[i] = static_cast<float>(i) / 2 - 10;
  vector_loop([](auto v) { return vec::exp(v); }, count, y, x);
  check(0);
  vector_loop([](auto v) { return apart(v) + decltype(v)(1.0f); }, count, y, x);
  check(1);
  auto* across = &loop;
  auto* author = &loop;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    across = &loop_across;
    author = &loop_of_author;
  }
#endif
  for (auto* one : {&loop, across, author}) {
    for (int i = 0; i < count; i += 8) one(x + i, y + i);
    check(0);
  }
  std::printf("%g\n", worst);
}
