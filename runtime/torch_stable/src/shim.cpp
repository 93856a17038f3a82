// shim.cpp: functions of newer releases, and messages of failures.
#include "shim.h"

#include <dlfcn.h>

#include "opgen/core/error.h"

namespace opgen::shim {

constinit thread_local const char* WarningScope::function_ OPGEN_TLS = "kernel";

std::uint32_t release() noexcept {
  static const auto found = static_cast<std::uint32_t>(aoti_torch_abi_version() >> 48);
  return found;
}

void* find(const char* name) noexcept {
  // By the library that has the C functions: others need not see it.
  static void* const library = [] {
    Dl_info info{};
    const void* known = reinterpret_cast<const void*>(&aoti_torch_abi_version);
    if (::dladdr(known, &info) == 0 || info.dli_fname == nullptr) return RTLD_DEFAULT;
    void* handle = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return handle != nullptr ? handle : RTLD_DEFAULT;
  }();
  return ::dlsym(library, name);
}

std::string failure(const char* function) {
  static const auto message =
      find_function<const char*()>("torch_exception_get_what_without_backtrace");
  if (message == nullptr) {
    return std::string(function) + " failed; PyTorch has written the reason to standard error";
  }
  const char* text = message();
  if (text != nullptr && *text != '\0') return text;
  return std::string(function) + " failed, and PyTorch gives no reason";
}

void throw_failure(const char* function) {
  const std::string text = failure(function);
  throw Error(text.data(), text.size());
}

}  // namespace opgen::shim
