// shim.h: PyTorch's C functions, and their errors. Internal: no header of the library includes
// PyTorch's.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/c/shim.h>

#include <cstdint>
#include <string>

#include "opgen/core/macros.h"

namespace opgen::shim {

// The conversions of arguments in these sources are those of PyTorch 2.10, so that is what the
// library declares, for the newer releases to convert accordingly.
inline constexpr std::uint64_t kVersion = TORCH_VERSION_2_10_0;

// The running release: 2.13 is 0x020d.
[[nodiscard]] std::uint32_t release() noexcept;
// A function of a release that is newer than 2.10; null if the running one does not have it.
[[nodiscard]] void* find(const char* name) noexcept;
template <class F>
[[nodiscard]] F* find_function(const char* name) noexcept {
  return reinterpret_cast<F*>(find(name));
}

// Throws Error with PyTorch's own message, which the C functions give since 2.13.
[[noreturn]] OPGEN_COLD void throw_failure(const char* function);
// The message of the last failure in this thread.
[[nodiscard]] std::string failure(const char* function);

// The function that PyTorch names after a warning, during the scope.
class WarningScope {
 public:
  explicit WarningScope(const char* function) noexcept : outer_(function_) { function_ = function; }
  ~WarningScope() { function_ = outer_; }
  WarningScope(const WarningScope&) = delete;
  WarningScope& operator=(const WarningScope&) = delete;
  [[nodiscard]] static const char* function() noexcept { return function_; }

 private:
  static constinit thread_local const char* function_ OPGEN_TLS;
  const char* outer_;
};

inline void check(AOTITorchError error, const char* function) {
  if (OPGEN_UNLIKELY(error != AOTI_TORCH_SUCCESS)) throw_failure(function);
}

}  // namespace opgen::shim

// Calls a C function of PyTorch. Throws Error if it fails.
#define OPGEN_SHIM(function, ...) ::opgen::shim::check(function(__VA_ARGS__), #function)
