// calls.h: call operators of two libraries alternately from C++, through the dispatcher.
//
//   program GENERATED.so BY_HAND.so MODE
//     prints one line per call: nanoseconds (median, minimum, maximum)
//   program GENERATED.so BY_HAND.so MODE count
//     writes callgrind dumps for N and for 2N calls of each
//
// MODE: `inference` (inference mode) or `usual` (gradients are recorded, but no tensor requires
// one).
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace calls {

constexpr int kRounds = 41, kCalls = 20'000, kCounted = 1'000;

struct Call {
  std::string name;
  std::function<void(int)> run;
  std::vector<double> times;
};

template <class Signature>
auto handle(const std::string& name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload).typed<Signature>();
}

template <class F>
Call call(std::string name, F once) {
  auto many = [once](int n) mutable {
    for (int i = 0; i < n; ++i) {
      once();
      asm volatile("" ::: "memory");
    }
  };
  return {std::move(name), many, {}};
}

inline void measure(Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call.run(kCalls);
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  call.times.push_back(taken.count() / kCalls);
}

inline void count(Call& call) {
  for (const int n : {kCounted, 2 * kCounted}) {
    // callgrind reads this name after the statement that sets it.
    const std::string named = call.name + " " + std::to_string(n);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    call.run(n);
    CALLGRIND_DUMP_STATS_AT(named.c_str());
    CALLGRIND_STOP_INSTRUMENTATION;
  }
}

// `add` registers the calls after the libraries are loaded.
inline int run(int given, char** arguments, void (*add)(std::vector<Call>&)) {
  if (given < 4) return std::fprintf(stderr, "GENERATED.so BY_HAND.so MODE\n"), 2;
  for (int i = 1; i <= 2; ++i) {
    if (dlopen(arguments[i], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      return std::fprintf(stderr, "%s\n", dlerror()), 1;
    }
  }
  const c10::InferenceMode guard(std::string_view(arguments[3]) == "inference");
  std::vector<Call> all;
  add(all);
  for (Call& one : all) one.run(1'000);
  if (given == 5) {
    for (Call& one : all) count(one);
    return 0;
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Call& one : all) measure(one);
  }
  for (Call& one : all) {
    std::sort(one.times.begin(), one.times.end());
    std::printf("%s %.1f %.1f %.1f\n", one.name.c_str(), one.times[kRounds / 2], one.times.front(),
                one.times.back());
  }
  return 0;
}

}  // namespace calls
