// parallel.h: ATen's threads under the runtime's names.
#pragma once

#include <ATen/Parallel.h>

#include <cstdint>

namespace opgen {

inline constexpr std::int64_t kGrainSize = 32768;  // the same as at::internal::GRAIN_SIZE

using at::get_num_threads;
using at::get_thread_num;
using at::in_parallel_region;
using at::parallel_for;
using at::set_num_threads;

}  // namespace opgen
