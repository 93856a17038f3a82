// refused_libraries.h: the libraries whose operators and kernels could not be registered, so that
// calls of their operators say why. Internal. A library is known by the address of its module and
// by its name.
#pragma once

#include <string>
#include <string_view>

#include "opgen/core/macros.h"

namespace opgen::detail {

struct RefusedLibrary {
  const void* module;
  std::string library;
  std::string reason;
};

// Returns the shared library or the program that contains an address.
[[nodiscard]] const void* module_of(const void* address) noexcept;

void add_refused(RefusedLibrary refused);
[[nodiscard]] bool is_refused(const void* module, std::string_view library);
void forget_refused(const void* module, std::string_view library);

// Return the reason as a sentence; empty if the library is not refused.
[[nodiscard]] std::string why_refused_module(const void* module);
[[nodiscard]] std::string why_refused_library(std::string_view library);

}  // namespace opgen::detail
