// parallel_test.cpp: parallel_for, dispatch stubs and random numbers.
#include <pthread.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "check.h"
#include "opgen/core/error.h"
#include "opgen/cpu/cpu_generator.h"
#include "opgen/cpu/parallel_reduce.h"
#include "opgen/cpu/random.h"
#include "opgen/device/blocking.h"
#include "opgen/registration/dispatch_stub.h"

using namespace opgen;

TEST(every_index_once) {
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    CHECK_EQ(get_num_threads(), threads);
    for (std::int64_t n : {0, 1, 7, 100, 1001}) {
      for (std::int64_t grain : {0, 1, 10, 5000}) {
        std::vector<int> seen(static_cast<std::size_t>(n), 0);
        parallel_for(0, n, grain, [&](std::int64_t begin, std::int64_t end) {
          CHECK(begin < end && (end == n || 2 * (end - begin) > grain));
          for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        for (int count : seen) CHECK_EQ(count, 1);
      }
    }
  }
  set_num_threads(1);
}

TEST(regions) {
  set_num_threads(4);
  CHECK(!in_parallel_region());
  std::atomic<int> nested{0};
  std::atomic<int> pieces{0};
  parallel_for(0, 4, 1, [&](std::int64_t, std::int64_t) {
    ++pieces;
    CHECK(in_parallel_region());
    CHECK(get_thread_num() < 4);
    parallel_for(0, 100, 1, [&](std::int64_t begin, std::int64_t end) {
      CHECK_EQ(end - begin, 100);
      ++nested;
    });
  });
  CHECK_EQ(pieces.load(), 4);
  CHECK_EQ(nested.load(), 4);
  CHECK(!in_parallel_region());
  set_num_threads(1);
}

TEST(the_first_error_wins) {
  set_num_threads(4);
  for (int round = 0; round < 20; ++round) {
    CHECK_THROWS(Error, "piece at 25",
                 parallel_for(0, 100, 25, [](std::int64_t begin, std::int64_t) {
                   OPGEN_CHECK(begin < 25, "piece at ", begin);
                 }));
  }
  set_num_threads(1);
}

TEST(regions_in_several_threads) {
  set_num_threads(3);
  std::atomic<std::int64_t> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        parallel_for(0, 300, 10,
                     [&](std::int64_t begin, std::int64_t end) { total += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK_EQ(total.load(), 4 * 50 * 300);
  set_num_threads(1);
}

TEST(reduce_in_order) {
  for (int threads : {1, 4}) {
    set_num_threads(threads);
    std::vector<std::int64_t> order = parallel_reduce(
        0, 100, 10, std::vector<std::int64_t>(),
        [](std::int64_t begin, std::int64_t, std::vector<std::int64_t> acc) {
          acc.push_back(begin);
          return acc;
        },
        [](std::vector<std::int64_t> a, const std::vector<std::int64_t>& b) {
          a.insert(a.end(), b.begin(), b.end());
          return a;
        });
    CHECK_EQ(order, (std::vector<std::int64_t>{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}));
  }
  set_num_threads(1);
}

TEST(number_of_threads) {
  CHECK_THROWS(ValueError, "positive", set_num_threads(0));
}

namespace {

using twice_fn = int (*)(int);
OPGEN_DECLARE_DISPATCH(twice_fn, twice_stub);
OPGEN_DEFINE_DISPATCH(twice_stub);
OPGEN_DECLARE_DISPATCH(twice_fn, nobody_stub);
OPGEN_DEFINE_DISPATCH(nobody_stub);
int twice(int x) {
  return 2 * x;
}
int twice_wide(int x) {
  return 2 * x + 1000;
}
int twice_elsewhere(int x) {
  return -2 * x;
}
OPGEN_REGISTER_DISPATCH(twice_stub, &twice);
OPGEN_REGISTER_DEVICE_DISPATCH(PrivateUse1, twice_stub, &twice_elsewhere);

}  // namespace

TEST(stubs_by_device_and_capability) {
  CHECK_EQ(twice_stub(kCPU, 4), 8);
  CHECK_EQ(twice_stub(kPrivateUse1, 4), -8);
  CHECK_THROWS(NotImplementedError,
               "twice_stub has no kernel for cuda; kernels are registered for cpu",
               twice_stub(kCUDA, 4));
  CHECK_THROWS(NotImplementedError, "nobody_stub", nobody_stub(kCPU, 4));
  twice_stub.set(CPUCapability::AVX2, &twice_wide);
  CHECK_EQ(twice_stub(kCPU, 4), get_cpu_capability() >= CPUCapability::AVX2 ? 1008 : 8);
}

TEST(seeded_numbers_repeat) {
  CPUGeneratorImpl a(7);
  CPUGeneratorImpl b(7);
  for (int i = 0; i < 1000; ++i) {
    float x = opgen::draw_uniform<float>(a);
    CHECK_EQ(x, opgen::draw_uniform<float>(b));
    CHECK(x >= 0 && x < 1);
  }
  CHECK_EQ(opgen::draw_below(a, 10), opgen::draw_below(b, 10));
  opgen::manual_seed(3);
  CPUGeneratorImpl* engine = opgen::cpu_generator(std::nullopt);
  std::uint64_t first = engine->random64();
  opgen::manual_seed(3);
  CHECK_EQ(engine->random64(), first);
}

TEST(moments) {
  CPUGeneratorImpl engine(1);
  opgen::NormalDraws normal(engine, 3, 2);
  constexpr int n = 200000;
  double sum = 0;
  double squares = 0;
  int heads = 0;
  for (int i = 0; i < n; ++i) {
    double x = normal();
    sum += x;
    squares += (x - 3) * (x - 3);
    heads += opgen::draw_bernoulli(engine, 0.25) ? 1 : 0;
  }
  CHECK(std::fabs(sum / n - 3) < 0.03);
  CHECK(std::fabs(squares / n - 4) < 0.08);
  CHECK(std::fabs(static_cast<double>(heads) / n - 0.25) < 0.01);
  CHECK_THROWS(ValueError, "probability", static_cast<void>(opgen::draw_bernoulli(engine, 1.5)));
  CHECK_THROWS(ValueError, "not be negative", opgen::NormalDraws(engine, 0, -1));
}

namespace {

// During its lifetime, no further thread can start.
struct NoMoreThreads {
  NoMoreThreads() {
    pthread_getattr_default_np(&before);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
    pthread_setattr_default_np(&huge);
  }
  ~NoMoreThreads() { pthread_setattr_default_np(&before); }
  pthread_attr_t before;
};

void check_every_index_once() {
  for (int repetition = 0; repetition < 80; ++repetition) {
    std::vector<int> seen(100, 0);
    parallel_for(0, 100, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    for (int count : seen) CHECK_EQ(count, 1);
  }
}

}  // namespace

TEST(threads_that_cannot_be_started) {
  // This is more than any earlier test has started.
  set_num_threads(12);
  {
    NoMoreThreads none;
    bool refused = false;
    try {
      std::thread([] {}).join();
    } catch (const std::system_error&) {
      refused = true;
    }
    CHECK(refused);
    check_every_index_once();
    CHECK_THROWS(Error, "piece", parallel_for(0, 12, 1, [](std::int64_t begin, std::int64_t) {
                   OPGEN_CHECK(begin != 11, "piece");
                 }));
  }
  check_every_index_once();
  set_num_threads(1);
}

TEST(stubs_are_set_while_others_call) {
  static constinit DispatchStub<int (*)()> stub{"stub"};
  stub.set(
      DeviceType::CPU, +[] { return 1; });
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) {
      int value = stub(DeviceType::CPU);
      CHECK(value == 1 || value == 2);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 1000; ++i) {
    stub.set(
        DeviceType::CPU, i % 2 == 0 ? +[] { return 2; } : +[] { return 1; });
    stub.set(
        CPUCapability::DEFAULT, +[] { return 1; });
  }
  done = true;
  other.join();
}

TEST(waiting_for_a_mutex) {
  static std::mutex mutex;
  static std::atomic<int> waiting{0};
  set_blocking_hooks([]() noexcept -> void* { return ++waiting, &waiting; },
                     [](void*) noexcept { --waiting; });
  int held = 0;
  std::vector<std::thread> threads;
  {
    const detail::Lock lock(mutex);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 200; ++k) {
          const detail::Lock inner(mutex);
          ++held;
        }
      });
    }
    while (waiting.load() < 4) std::this_thread::yield();
    CHECK_EQ(held, 0);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(held, 800);
  CHECK_EQ(waiting.load(), 0);
}

TEST(waiting_for_a_generator) {
  Generator generator = opgen::default_cpu_generator().clone();
  GeneratorImpl* impl = generator.unsafeGetGeneratorImpl();
  static std::atomic<int> waiting{0};
  set_blocking_hooks([]() noexcept -> void* { return ++waiting, &waiting; },
                     [](void*) noexcept { --waiting; });
  int held = 0;
  std::vector<std::thread> threads;
  {
    GeneratorLock lock(impl);
    CHECK_EQ(waiting.load(), 0);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 200; ++k) {
          GeneratorLock inner(impl);
          ++held;
        }
      });
    }
    while (waiting.load() < 4) std::this_thread::yield();
    CHECK_EQ(held, 0);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(held, 800);
  CHECK_EQ(waiting.load(), 0);
  set_blocking_hooks([]() noexcept -> void* { return nullptr; }, [](void*) noexcept {});
}
