// parallel.h: parallel_for and parallel_reduce over a pool of threads. Where parallel_reduce cuts a
// range depends on its length and the grain alone, so results are the same for any number of
// threads.
#pragma once

#include <cstdint>

#include "opgen/function_ref.h"
#include "opgen/macros.h"
#include "opgen/small_vector.h"

namespace opgen {

// Elements below which handing work to another thread costs more than it saves.
inline constexpr std::int64_t kGrainSize = 32768;

// The number of threads that parallel regions use, the caller included. At start:
// $OPGEN_NUM_THREADS, else $OMP_NUM_THREADS, else the number of processors this process may run on.
[[nodiscard]] OPGEN_API int get_num_threads() noexcept;
OPGEN_API void set_num_threads(int count);
// 0 outside a parallel region and for the caller's share of one.
[[nodiscard]] OPGEN_API int get_thread_num() noexcept;
[[nodiscard]] OPGEN_API bool in_parallel_region() noexcept;

namespace detail {

// Into how many pieces parallel_for cuts [0, n): 1 means that it runs in the caller.
[[nodiscard]] OPGEN_API std::int64_t parallel_pieces(std::int64_t n, std::int64_t grain) noexcept;
// Calls body(piece, begin, end) for each of `pieces` equal parts; rethrows the first piece's
// exception.
OPGEN_API void run_pieces(std::int64_t begin, std::int64_t end, std::int64_t pieces,
                          FunctionRef<void(std::int64_t, std::int64_t, std::int64_t)> body);

}  // namespace detail

// Calls f(first, last) on disjoint parts of [begin, end): one part per thread, and no more than
// ranges of `grain` would be. They are equal, so that none but the last is shorter than half of
// `grain`, and a range of at most `grain` is one part. A nested call runs in its caller.
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

// The parts of [begin, end), each of `grain` and the last one shorter, joined: combine(f(first,
// last, identity), …) by neighbours, then by pairs of neighbours, and so on. The number of threads
// decides who takes a part, and not where it is cut, so a sum has the same bits on one thread and
// on seven.
template <class T, class F, class Combine>
[[nodiscard]] T parallel_reduce(std::int64_t begin, std::int64_t end, std::int64_t grain,
                                const T& identity, const F& f, const Combine& combine) {
  if (begin >= end) return identity;
  if (end - begin <= grain) return f(begin, end, identity);
  struct Slot {
    T value;
  };
  std::int64_t parts = (end - begin + grain - 1) / grain;
  SmallVector<Slot, 32> results(static_cast<std::size_t>(parts), Slot{identity});
  parallel_for(0, parts, 1, [&](std::int64_t part, std::int64_t last_part) {
    for (; part < last_part; ++part) {
      std::int64_t first = begin + part * grain;
      std::int64_t last = end - first > grain ? first + grain : end;
      results[static_cast<std::size_t>(part)].value = f(first, last, identity);
    }
  });
  for (std::size_t step = 1; step < results.size(); step *= 2) {
    for (std::size_t i = 0; i + step < results.size(); i += 2 * step) {
      results[i].value = combine(results[i].value, results[i + step].value);
    }
  }
  return results[0].value;
}

}  // namespace opgen
