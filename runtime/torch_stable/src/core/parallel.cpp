// parallel.cpp: PyTorch's threads.
#include "opgen/core/parallel.h"

#include <exception>
#include <mutex>

#include "shim.h"

namespace opgen {

namespace {

thread_local bool in_region OPGEN_TLS = false;

struct Region {
  FunctionRef<void(std::int64_t, std::int64_t)> body;
  std::mutex mutex;
  std::exception_ptr error;

  // No exception may leave a function that C calls.
  static void run(std::int64_t begin, std::int64_t end, void* context) noexcept {
    auto* const region = static_cast<Region*>(context);
    const bool outer = in_region;
    in_region = true;
    try {
      region->body(begin, end);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(region->mutex);
      if (!region->error) region->error = std::current_exception();
    }
    in_region = outer;
  }
};

}  // namespace

int get_num_threads() noexcept {
  std::uint32_t count = 1;
  torch_get_num_threads(&count);
  return static_cast<int>(count);
}
int get_thread_num() noexcept {
  std::uint32_t number = 0;
  torch_get_thread_idx(&number);
  return static_cast<int>(number);
}
bool in_parallel_region() noexcept {
  return in_region;
}

void detail::run_in_parallel(std::int64_t begin, std::int64_t end, std::int64_t grain,
                             FunctionRef<void(std::int64_t, std::int64_t)> body) {
  Region region{body, {}, {}};
  OPGEN_SHIM(torch_parallel_for, begin, end, grain, &Region::run, &region);
  if (region.error) std::rethrow_exception(region.error);
}

}  // namespace opgen
