// fork_test.cpp: a child process works, whatever other threads did while it was copied.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "check.h"
#include "operators.h"
#include "opgen/core/parallel.h"
#include "opgen/device/cpu_cache.h"

using namespace opgen;
using tensors::arange;

namespace {

void fail_once() {
  try {
    ops::add(arange({2}), arange({3}));
  } catch (const Error&) {
    return;
  }
}
// A child may have a copy of the registration that the parent was making.
void register_once() {
  Library m(Library::Kind::Fragment, "f", DispatchKey::Undefined, "x.cpp", 1);
  m.def("of_" + std::to_string(getpid()) + "(Tensor(a) self) -> Tensor(a)",
        [](const Tensor& self) { return self; });
}
void use_memory() {
  static_cast<void>(tensors::empty({1 << 20}));
}

// Does all of it in the child, and ends it.
[[noreturn]] void live_as_child() {
  alarm(10);
  fail_once();
  register_once();
  use_memory();
  ops::add(arange({2}), arange({2}));
  parallel_for(0, 4, 1, [](std::int64_t, std::int64_t) {});
  _exit(Dispatcher::singleton().findSchema("t::add", "").has_value() ? 0 : 1);
}

}  // namespace

TEST(no_child_hangs) {
  set_num_threads(2);
  set_cpu_cache_limit(std::size_t(1) << 24);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (auto* work : {&fail_once, &register_once, &use_memory}) {
    threads.emplace_back([&stop, work] {
      while (!stop) work();
    });
  }
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) live_as_child();
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}
