// parallel.cpp: the threads behind parallel_for: a pool, or OpenMP's (the option OPGEN_PARALLEL).
#include "opgen/core/parallel.h"

#ifdef OPGEN_OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
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
  explicit RegionScope(int number = 0) noexcept {
    thread_num = number;
    in_region = true;
  }
  ~RegionScope() {
    thread_num = 0;
    in_region = false;
  }
};

int number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : 0;
}

// Returns the number of processors that this process may use.
int count_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? static_cast<int>(n) : 1;
}

int default_num_threads() {
  if (int n = number_from_environment("OPGEN_NUM_THREADS"); n > 0) return n;
  if (int n = number_from_environment("OMP_NUM_THREADS"); n > 0) return n;
  return count_processors();
}

// 0: not set yet.
constinit Atomic<int> num_threads = 0;

#ifdef OPGEN_OPENMP

void run_on_threads(std::int64_t pieces, FunctionRef<void(std::int64_t)> run_piece) noexcept {
#pragma omp parallel for num_threads(static_cast <int>(pieces)) schedule(static, 1)
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const RegionScope scope(omp_get_thread_num());
    run_piece(piece);
  }
}

#else

// Returns whether OMP_WAIT_POLICY says that threads must not wait actively.
bool waits_passively() {
  const char* text = std::getenv("OMP_WAIT_POLICY");
  return text != nullptr && (text[0] == 'p' || text[0] == 'P');
}

void pause_processor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits actively until is_done() is true, or for a while: a thread that sleeps takes 50 us to wake,
// as long as a loop over a million bytes.
template <class F>
void spin_until(const F& is_done) {
  constexpr auto longest = std::chrono::microseconds(200);
  const auto end = std::chrono::steady_clock::now() + longest;
  do {
    for (int i = 0; i < 32; ++i) {
      if (is_done()) return;
      pause_processor();
    }
  } while (std::chrono::steady_clock::now() < end);
}

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
      remaining_.store(workers < pieces - 1 ? workers : pieces - 1, std::memory_order_relaxed);
      spins_.store(workers < processors_, std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    body(0);
    for (std::int64_t piece = workers + 1; piece < pieces; ++piece) body(piece);
    const auto is_done = [this] { return remaining_.load(std::memory_order_acquire) == 0; };
    if (spins_.load(std::memory_order_relaxed)) spin_until(is_done);
    if (is_done()) return;
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, is_done);
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
        std::uint64_t seen = generation_.load(std::memory_order_relaxed);
        workers_.emplace_back([this, number, seen] { work(number, seen); });
      }
    } catch (const std::exception&) {
      regions_to_wait_ = 64;
    }
  }

  void work(int number, std::uint64_t seen) {
    thread_num = number;
    in_region = true;
    const auto is_new = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    while (true) {
      if (spins_.load(std::memory_order_relaxed)) spin_until(is_new);
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, is_new);
      seen = generation_.load(std::memory_order_relaxed);
      if (number >= pieces_) continue;
      Body body = body_;
      lock.unlock();
      body(number);
      if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        // The caller either has not looked yet, or sleeps.
        lock.lock();
        done_.notify_one();
      }
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
  std::atomic<std::int64_t> remaining_ = 0;
  std::atomic<std::uint64_t> generation_ = 0;
  // Threads wait actively only if each has a processor.
  const std::int64_t processors_ = waits_passively() ? 0 : count_processors();
  std::atomic<bool> spins_ = false;
};

// Never destroyed: at exit, static destructors of other libraries may still run kernels.
Pool* pool = nullptr;
std::mutex pool_mutex;

void before_fork() {
  pool_mutex.lock();
}
void after_fork() {
  pool_mutex.unlock();
}
// The child process has no threads, so it starts a new pool.
void after_fork_in_child() {
  pool = nullptr;
  pool_mutex.unlock();
}
[[maybe_unused]] const int pool_is_held =
    pthread_atfork(&before_fork, &after_fork, &after_fork_in_child);

Pool& get_pool() {
  std::lock_guard<std::mutex> lock(pool_mutex);
  if (pool == nullptr) pool = new Pool;
  return *pool;
}

void run_on_threads(std::int64_t pieces, FunctionRef<void(std::int64_t)> run_piece) noexcept {
  const RegionScope scope;
  Pool& workers = get_pool();
  if (workers.try_acquire()) {
    workers.run(pieces, run_piece);
    workers.release();
  } else {
    for (std::int64_t piece = 0; piece < pieces; ++piece) run_piece(piece);
  }
}

#endif

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
  run_on_threads(pieces, run_piece);
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace detail
}  // namespace opgen
