// atomic_test.cpp: fields that threads share without a lock.
#include "opgen/core/atomic.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "check.h"

using namespace opgen;

namespace {

enum class Form : std::uint8_t { First, Second };
constinit Atomic<const char*> at_start = "constant-initialised";
static_assert(sizeof(Atomic<Form>) == 1 && sizeof(Atomic<void*>) == sizeof(void*));

}  // namespace

TEST(atomics_of_every_kind_of_value) {
  CHECK_EQ(std::string(at_start.load_acquire()), "constant-initialised");
  Atomic<Form> form = Form::First;
  form.store_release(Form::Second);
  CHECK(form.load_acquire() == Form::Second && form.load_relaxed() == Form::Second);
  Atomic<bool> flag;
  CHECK(!flag.load_relaxed());
  flag.store_relaxed(true);
  CHECK(flag.load_relaxed());
}

TEST(arithmetic_returns_the_previous_value) {
  Atomic<std::int32_t> count = 5;
  CHECK_EQ(count.add_relaxed(2), 5);
  CHECK_EQ(count.subtract_release(3), 7);
  CHECK_EQ(count.subtract_acquire_release(4), 4);
  CHECK_EQ(count.load_acquire(), 0);
}

TEST(no_addition_is_lost) {
  Atomic<std::int64_t> count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) count.add_relaxed(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(count.load_acquire(), 40000);
}

TEST(the_first_of_several_threads_replaces_null) {
  Atomic<int*> place;
  int values[8] = {};
  Atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int& value : values) {
    threads.emplace_back([&] {
      int* there = place.replace_null(&value);
      if (there == nullptr) winners.add_relaxed(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(winners.load_acquire(), 1);
  int* winner = place.load_acquire();
  CHECK(winner >= values && winner < values + 8);
  CHECK(place.replace_null(nullptr) == winner);
}
