// fork_test.cpp: a child process works, whatever other threads did while it was copied.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "check.h"
#include "operators.h"
#include "opgen/core/parallel.h"
#include "opgen/device/cpu_cache.h"
#include "opgen/structured.h"

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

// Its kernel asks for more than iterators usually keep.
struct shape_cpu : TensorIteratorBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor& self) { build_borrowing_unary_op(maybe_get_output(), self); }
  void impl(const Tensor&, const Tensor&) { static_cast<void>(shape()); }
};
struct shape_op {
  static constexpr const char* name = "t::shape";
  using schema = Tensor(const Tensor&);
};
void use_iterator() {
  Functional<DispatchKey::CPU, shape_cpu, shape_op>::call(arange({2}));
}

// AddressSanitizer of GCC 12 does not hold the locks of its allocator during fork(): a child would
// wait for a thread of its parent that was allocating.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAllocatorSurvivesFork = false;
#else
constexpr bool kAllocatorSurvivesFork = true;
#endif

// Threads that do one thing each, again and again.
class Others {
 public:
  Others() {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      threads_[i] = std::thread([this, work = kWorks[i]] {
        while (!stop_) work();
      });
    }
  }
  ~Others() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  static constexpr std::array kWorks = {&fail_once, &register_once, &use_memory, &use_iterator};
  std::atomic<bool> stop_ = false;
  std::array<std::thread, kWorks.size()> threads_;
};

// Does all of it in the child, and ends it.
[[noreturn]] void live_as_child() {
  alarm(10);
  fail_once();
  register_once();
  use_memory();
  use_iterator();
  ops::add(arange({2}), arange({2}));
  parallel_for(0, 4, 1, [](std::int64_t, std::int64_t) {});
  _exit(Dispatcher::singleton().findSchema("t::add", "").has_value() ? 0 : 1);
}

}  // namespace

TEST(no_child_hangs) {
  set_num_threads(2);
  set_cpu_cache_limit(std::size_t(1) << 24);
  // A static object that another thread is constructing stays half made in a child.
  for (auto* work : {&fail_once, &use_memory, &use_iterator}) work();
  std::optional<Others> others;
  for (int i = 0; i < 40; ++i) {
    if (!others.has_value()) others.emplace();
    if (!kAllocatorSurvivesFork) others.reset();
    const pid_t child = fork();
    if (child == 0) live_as_child();
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}
