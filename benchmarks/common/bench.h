// bench.h: measure expressions, one per line, with Google Benchmark or by counting under callgrind.
//
//   BENCH("empty.2x3", at::empty({2, 3}));
//   BENCH_N("add.1M", 2, at::add_out(o, a, b));      // N is 2 instead of 1,000
//   int main(int argc, char** argv) { …; return bench::run(argc, argv); }
//
// With $BENCH_INSTRUCTIONS, under `valgrind --tool=callgrind --instr-atstart=no`, the program
// writes a dump for N and another for 2N calls of each expression. Their difference excludes the
// set-up of the loop and valgrind's own overhead.
#pragma once

#include <benchmark/benchmark.h>
#include <valgrind/callgrind.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Counted {
  std::string id;
  long calls;
  std::function<void(long)> loop;
};
inline std::vector<Counted>& counted() {
  static std::vector<Counted> all;
  return all;
}

// Prevent the compiler from merging the calls of a loop, and from removing unused results.
inline void clobber() {
  asm volatile("" ::: "memory");
}
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

struct NoScope {};

// `call` is one measured call, in a Scope. It captures the tensors that it uses by value, so that
// they live as long as the benchmark.
template <class Scope, class Call>
void add(const std::string& id, long calls, Call call) {
  benchmark::RegisterBenchmark(id.c_str(), [call](benchmark::State& state) mutable {
    [[maybe_unused]] Scope scope;
    call();  // warm up: a measurement may consist of a single call of a large operator
    for (auto _ : state) {
      call();
      clobber();
    }
  });
  counted().push_back({id, calls, [call](long n) mutable {
                         [[maybe_unused]] Scope scope;
                         for (long i = 0; i < n; ++i) {
                           call();
                           clobber();
                         }
                       }});
}

inline void count_instructions(const char* filter) {
  for (Counted& one : counted()) {
    if (one.id.find(filter) == std::string::npos) continue;
    one.loop(one.calls < 20 ? one.calls : 20);  // warm up caches, pools and other lazy set-up
    CALLGRIND_START_INSTRUMENTATION;
    one.loop(1);
    for (long times = 1; times <= 2; ++times) {
      CALLGRIND_ZERO_STATS;
      one.loop(times * one.calls);
      std::string tag = "bench " + one.id + " " + std::to_string(times * one.calls);
      CALLGRIND_DUMP_STATS_AT(tag.c_str());
    }
    CALLGRIND_STOP_INSTRUMENTATION;
  }
}

inline int run(int argc, char** argv) {
  if (const char* filter = std::getenv("BENCH_INSTRUCTIONS")) {
    count_instructions(filter);
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace bench

#define BENCH_IN(scope, id, ...) ::bench::add<scope>(id, 1000, [=]() mutable { __VA_ARGS__; })
#define BENCH_N(id, calls, ...) \
  ::bench::add<::bench::NoScope>(id, calls, [=]() mutable { __VA_ARGS__; })
#define BENCH(id, ...) BENCH_N(id, 1000, __VA_ARGS__)
#define BENCH_RESULT(id, ...) BENCH(id, auto result_ = __VA_ARGS__; ::bench::keep(result_))
