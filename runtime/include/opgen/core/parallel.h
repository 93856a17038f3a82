// parallel.h: parallel_for over a pool of threads (parallel_reduce.h reduces a range with it).
#pragma once

#include <cstdint>

#include "opgen/core/function_ref.h"
#include "opgen/core/macros.h"

namespace opgen {

// With fewer elements, passing work to another thread costs more time than it saves.
inline constexpr std::int64_t kGrainSize = 32768;

// Returns the number of threads that parallel regions use, including the caller. Initially:
// $OPGEN_NUM_THREADS, else $OMP_NUM_THREADS, else the number of processors this process may run on.
[[nodiscard]] OPGEN_API int get_num_threads() noexcept;
OPGEN_API void set_num_threads(int count);
// Returns 0 outside of a parallel region, and in the thread that started one.
[[nodiscard]] OPGEN_API int get_thread_num() noexcept;
[[nodiscard]] OPGEN_API bool in_parallel_region() noexcept;

namespace detail {

// Returns into how many pieces parallel_for splits [0, n); one piece runs in the calling thread.
[[nodiscard]] OPGEN_API std::int64_t parallel_pieces(std::int64_t n, std::int64_t grain) noexcept;
// Calls body(piece, begin, end) for each of `pieces` equal parts. Returns after all have ended;
// then rethrows the exception of the lowest piece that threw.
OPGEN_API void run_pieces(std::int64_t begin, std::int64_t end, std::int64_t pieces,
                          FunctionRef<void(std::int64_t, std::int64_t, std::int64_t)> body);

}  // namespace detail

// Calls f(first, last) on disjoint parts of [begin, end): at most one part per thread, and at most
// as many as there are ranges of `grain`. The parts are equal, so that none but the last is shorter
// than half of `grain`, and a range of at most `grain` is one part. f runs on several threads at
// once; a nested call runs in the thread that makes it.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const F& f) {
  if (begin >= end) return;
  std::int64_t pieces = detail::parallel_pieces(end - begin, grain);
  if (pieces == 1) {
    f(begin, end);
    return;
  }
  detail::run_pieces(begin, end, pieces,
                     [&f](std::int64_t, std::int64_t first, std::int64_t last) { f(first, last); });
}

}  // namespace opgen
