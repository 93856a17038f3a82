// calls.cpp: one call of a generated operator, of the same one written by hand, and of at::add, in
// turn; through the dispatcher, from C++.
//
//   calls FIVE.so HAND.so                  one line per call: nanoseconds, median (min-max)
//   calls FIVE.so HAND.so count            a dump of callgrind's for N and for 2N calls of each
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using at::Tensor;

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

// The calls into one of the two libraries.
void add_calls(std::vector<Call>& calls, const std::string& library) {
  const Tensor a = at::ones({4, 4}), b = at::ones({4, 4}), v = at::ones({8});
  const auto axpy =
      handle<Tensor(const Tensor&, const Tensor&, const at::Scalar&)>(library + "::axpy");
  const auto axpy_out = handle<Tensor&(const Tensor&, const Tensor&, const at::Scalar&, Tensor&)>(
      library + "::axpy", "out");
  const auto axpy_ =
      handle<Tensor&(Tensor&, const Tensor&, const at::Scalar&)>(library + "::axpy_");
  const auto span = handle<Tensor(const Tensor&, int64_t)>(library + "::span");
  const auto ends = handle<std::tuple<Tensor, Tensor>(const Tensor&)>(library + "::ends");
  const auto name = [&](const char* op) { return library + "::" + op; };
  const at::Scalar one(1);
  calls.push_back(call(name("axpy"), [=] { axpy.call(a, b, one); }));
  calls.push_back(call(name("axpy.out"),
                       [=, out = at::empty({4, 4})]() mutable { axpy_out.call(a, b, one, out); }));
  calls.push_back(
      call(name("axpy_"), [=, x = at::ones({4, 4})]() mutable { axpy_.call(x, b, one); }));
  calls.push_back(call(name("span"), [=] { span.call(a, 1); }));
  calls.push_back(call(name("ends"), [=] { ends.call(v); }));
}

void add_reference(std::vector<Call>& calls) {
  const Tensor a = at::ones({4, 4}), b = at::ones({4, 4});
  calls.push_back(call("at::add", [=] { at::add(a, b); }));
  calls.push_back(
      call("at::add.out", [=, out = at::empty({4, 4})]() mutable { at::add_out(out, a, b); }));
  calls.push_back(call("at::add_", [=, x = at::ones({4, 4})]() mutable { x.add_(b); }));
}

void measure(Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call.run(kCalls);
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  call.times.push_back(taken.count() / kCalls);
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i <= 2; ++i) {
    if (dlopen(arguments[i], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      return std::fprintf(stderr, "%s\n", dlerror()), 1;
    }
  }
  c10::InferenceMode guard;
  std::vector<Call> calls;
  for (const char* library : {"five", "hand"}) add_calls(calls, library);
  add_reference(calls);
  for (Call& one : calls) one.run(1'000);
  if (count == 4) {
    for (Call& one : calls) {
      for (const int n : {kCounted, 2 * kCounted}) {
        // Read by callgrind after the statement that names it.
        const std::string named = one.name + " " + std::to_string(n);
        CALLGRIND_START_INSTRUMENTATION;
        CALLGRIND_ZERO_STATS;
        one.run(n);
        CALLGRIND_DUMP_STATS_AT(named.c_str());
        CALLGRIND_STOP_INSTRUMENTATION;
      }
    }
    return 0;
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Call& one : calls) measure(one);
  }
  for (Call& one : calls) {
    std::sort(one.times.begin(), one.times.end());
    std::printf("%s %.1f %.1f %.1f\n", one.name.c_str(), one.times[kRounds / 2], one.times.front(),
                one.times.back());
  }
  return 0;
}
