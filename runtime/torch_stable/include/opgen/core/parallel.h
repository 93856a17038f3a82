// parallel.h: PyTorch's threads under the runtime's names.
#pragma once

#include <cstdint>

#include "opgen/core/function_ref.h"
#include "opgen/core/macros.h"

namespace opgen {

inline constexpr std::int64_t kGrainSize = 32768;  // as at::internal::GRAIN_SIZE

[[nodiscard]] OPGEN_API int get_num_threads() noexcept;
// Returns 0 outside of a parallel region, and in the thread that started one.
[[nodiscard]] OPGEN_API int get_thread_num() noexcept;
[[nodiscard]] OPGEN_API bool in_parallel_region() noexcept;

namespace detail {

// Calls body(first, last) on disjoint parts. Returns after all have ended; then rethrows the first
// exception.
OPGEN_API void run_in_parallel(std::int64_t begin, std::int64_t end, std::int64_t grain,
                               FunctionRef<void(std::int64_t, std::int64_t)> body);

}  // namespace detail

// Calls f(first, last) on disjoint parts of [begin, end) of about `grain` or more.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const F& f) {
  if (begin >= end) return;
  if (end - begin <= grain || in_parallel_region()) {
    f(begin, end);
    return;
  }
  detail::run_in_parallel(begin, end, grain, f);
}

}  // namespace opgen
