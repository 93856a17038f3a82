// parallel.h: parallel_for and parallel_reduce over a pool of threads. Where a range is cut depends
// only on its length, the grain and the number of threads, so results are the same from run to run.
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

// Calls f(first, last) on disjoint parts of [begin, end), none but the last shorter than `grain`. A
// nested call runs in its caller.
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

// combine(f(part, identity), ...) from the first part to the last.
template <class T, class F, class Combine>
[[nodiscard]] T parallel_reduce(std::int64_t begin, std::int64_t end, std::int64_t grain,
                                const T& identity, const F& f, const Combine& combine) {
  if (begin >= end) return identity;
  std::int64_t pieces = detail::parallel_pieces(end - begin, grain);
  if (pieces == 1) return f(begin, end, identity);
  struct Slot {
    T value;
  };
  SmallVector<Slot, 8> results(static_cast<std::size_t>(pieces), Slot{identity});
  detail::run_pieces(begin, end, pieces,
                     [&](std::int64_t piece, std::int64_t first, std::int64_t last) {
                       results[static_cast<std::size_t>(piece)].value = f(first, last, identity);
                     });
  T result = identity;
  for (const Slot& slot : results) result = combine(result, slot.value);
  return result;
}

}  // namespace opgen
