// parallel_reduce.h: parallel_reduce over the threads of parallel_for, for both targets. It splits
// a range at positions that depend only on the length and the grain, so results are the same for
// any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opgen/core/parallel.h"

namespace opgen {

// Splits [begin, end) into parts of `grain` elements, computes f(first, last, identity) for each,
// and combines neighbours pairwise, then pairs of pairs, and so on. The number of threads does not
// change the parts, so a sum has the same bits on one thread and on seven.
template <class T, class F, class Combine>
[[nodiscard]] T parallel_reduce(std::int64_t begin, std::int64_t end, std::int64_t grain,
                                const T& identity, const F& f, const Combine& combine) {
  if (begin >= end) return identity;
  if (end - begin <= grain) return f(begin, end, identity);
  struct Slot {
    T value;
  };
  std::int64_t parts = (end - begin + grain - 1) / grain;
  std::vector<Slot> results(static_cast<std::size_t>(parts), Slot{identity});
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
