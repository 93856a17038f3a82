// profiler_test.cpp: observers see every call of the process while they are registered, and cost
// nothing afterwards.
#include "opgen/transforms/profiler.h"

#include <atomic>
#include <thread>

#include "check.h"
#include "operators.h"

using namespace opgen;
using tensors::arange;
using tensors::values;

namespace {

const Profiler::Row* find(const std::vector<Profiler::Row>& rows, const std::string& op) {
  for (const Profiler::Row& row : rows) {
    if (row.op == op) return &row;
  }
  return nullptr;
}
std::string table_of_add() {
  return ops::op<ops::Binary>("t::add").dump_computed_table();
}

}  // namespace

TEST(counts_and_times) {
  Profiler profiler;
  for (int i = 0; i < 3; ++i) ops::add(arange({2}), arange({2}));
  ops::add_all({arange({2}), arange({2})}, std::nullopt);
  CHECK_THROWS(Error, "broadcast", ops::add(arange({2}), arange({3})));
  profiler.stop();
  ops::add(arange({2}), arange({2}));
  std::vector<Profiler::Row> rows = profiler.rows();
  CHECK_EQ(rows.size(), 2u);
  const Profiler::Row *add = find(rows, "t::add"), *all = find(rows, "t::add_all");
  CHECK(add->calls == 5 && all->calls == 1);
  CHECK(add->total == add->own && add->own > 0);
  // The time of the operators that add_all calls is not its own time.
  CHECK(all->own >= 0 && all->own < all->total);
  CHECK(profiler.table().find("t::add_all") != std::string::npos);
}

TEST(leaves_no_fallback_when_off) {
  std::string before = table_of_add();
  {
    Profiler outer;
    CHECK(table_of_add().find("PythonDispatcher: fallback") != std::string::npos);
    {
      Profiler inner;
      ops::add(arange({2}), arange({2}));
      CHECK_EQ(inner.rows().size(), 1u);
    }
    ops::add(arange({2}), arange({2}));
    CHECK_EQ(outer.rows()[0].calls, 2);
  }
  CHECK_EQ(table_of_add(), before);
}

TEST(in_place_results_are_the_arguments) {
  Profiler profiler;
  Tensor a = arange({2});
  CHECK_EQ(&ops::add_(a, a), &a);
  CHECK(a._version() == 1 && ops::rows(arange({2, 2})).size() == 2);
}

TEST(switched_while_other_threads_call) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done) CHECK_EQ(values(ops::add(arange({2}), arange({2})))[1], 2);
    });
  }
  for (int i = 0; i < 50; ++i) {
    Profiler profiler;
    std::this_thread::yield();
    ops::add(arange({2}), arange({2}));
    CHECK(find(profiler.rows(), "t::add")->calls >= 1);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}
