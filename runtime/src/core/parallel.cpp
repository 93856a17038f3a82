// parallel.cpp: the pool of threads behind parallel_for.
#include "opgen/core/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "opgen/core/atomic.h"
#include "opgen/core/error.h"

namespace opgen {

namespace {

thread_local constinit int thread_num OPGEN_TLS = 0;
thread_local constinit bool in_region OPGEN_TLS = false;

struct RegionScope {
  RegionScope() noexcept { in_region = true; }
  ~RegionScope() { in_region = false; }
};

int number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : 0;
}

int default_num_threads() {
  if (int n = number_from_environment("OPGEN_NUM_THREADS"); n > 0) return n;
  if (int n = number_from_environment("OMP_NUM_THREADS"); n > 0) return n;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? static_cast<int>(n) : 1;
}

// 0: not set yet.
constinit Atomic<int> num_threads = 0;

// Workers wait for a job, run their pieces of it and report. The pool runs one job at a time: a
// second caller, or a nested region, runs its pieces itself.
class Pool {
 public:
  using Body = FunctionRef<void(std::int64_t)>;

  // Returns whether the caller may use the workers. If so, it must call release() afterwards.
  bool try_acquire() noexcept { return busy_.try_lock(); }
  void release() noexcept { busy_.unlock(); }

  // Runs piece i on thread i, so that each thread uses the same memory in all calls. The caller
  // also runs the pieces of threads that could not be started.
  void run(std::int64_t pieces, Body body) noexcept {
    start_workers(static_cast<std::size_t>(pieces) - 1);
    const auto workers = static_cast<std::int64_t>(workers_.size());
    {
      std::lock_guard<std::mutex> lock(mutex_);
      body_ = body;
      pieces_ = pieces;
      remaining_ = workers < pieces - 1 ? workers : pieces - 1;
      ++generation_;
    }
    wake_.notify_all();
    body(0);
    for (std::int64_t piece = workers + 1; piece < pieces; ++piece) body(piece);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return remaining_ == 0; });
  }

 private:
  // Starts as many as the system allows. If it fails to start one, tries again after some regions.
  void start_workers(std::size_t count) noexcept {
    if (workers_.size() >= count) return;
    if (regions_to_wait_ > 0) {
      --regions_to_wait_;
      return;
    }
    try {
      while (workers_.size() < count) {
        int number = static_cast<int>(workers_.size()) + 1;
        std::uint64_t seen = generation_;
        workers_.emplace_back([this, number, seen] { work(number, seen); });
      }
    } catch (const std::exception&) {
      regions_to_wait_ = 64;
    }
  }

  void work(int number, std::uint64_t seen) {
    thread_num = number;
    in_region = true;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return generation_ != seen; });
      seen = generation_;
      if (number >= pieces_) continue;
      Body body = body_;
      lock.unlock();
      body(number);
      lock.lock();
      if (--remaining_ == 0) done_.notify_one();
    }
  }

  std::mutex busy_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> workers_;
  int regions_to_wait_ = 0;
  Body body_;
  std::int64_t pieces_ = 0;
  std::int64_t remaining_ = 0;
  std::uint64_t generation_ = 0;
};

// Never destroyed: at exit, static destructors of other libraries may still run kernels.
Pool* pool = nullptr;
std::mutex pool_mutex;

// The child process of fork() has no threads, so it starts a new pool.
void forget_pool() {
  pool = nullptr;
}

Pool& get_pool() {
  std::lock_guard<std::mutex> lock(pool_mutex);
  if (pool == nullptr) {
    static const int registered = pthread_atfork(nullptr, nullptr, &forget_pool);
    static_cast<void>(registered);
    pool = new Pool;
  }
  return *pool;
}

}  // namespace

int get_num_threads() noexcept {
  int n = num_threads.load_relaxed();
  if (OPGEN_UNLIKELY(n == 0)) {
    n = default_num_threads();
    num_threads.store_relaxed(n);
  }
  return n;
}

void set_num_threads(int count) {
  OPGEN_CHECK_VALUE(count > 0, "the number of threads must be positive, got ", count);
  num_threads.store_relaxed(count);
}

int get_thread_num() noexcept {
  return thread_num;
}
bool in_parallel_region() noexcept {
  return in_region;
}

namespace detail {

std::int64_t parallel_pieces(std::int64_t n, std::int64_t grain) noexcept {
  if (grain < 1) grain = 1;
  if (n <= grain || in_region) return 1;
  std::int64_t threads = get_num_threads();
  std::int64_t pieces = n / grain + (n % grain != 0 ? 1 : 0);
  return pieces < threads ? pieces : threads;
}

void run_pieces(std::int64_t begin, std::int64_t end, std::int64_t pieces,
                FunctionRef<void(std::int64_t, std::int64_t, std::int64_t)> body) {
  std::int64_t length = (end - begin + pieces - 1) / pieces;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(pieces));
  auto run_piece = [&](std::int64_t piece) {
    std::int64_t first = begin + piece * length;
    std::int64_t last = first + length < end ? first + length : end;
    if (first >= last) return;
    try {
      body(piece, first, last);
    } catch (...) {
      errors[static_cast<std::size_t>(piece)] = std::current_exception();
    }
  };
  Pool& workers = get_pool();
  if (workers.try_acquire()) {
    RegionScope scope;
    workers.run(pieces, run_piece);
    workers.release();
  } else {
    RegionScope scope;
    for (std::int64_t piece = 0; piece < pieces; ++piece) run_piece(piece);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace detail
}  // namespace opgen
