// refused_libraries.cpp: the list of the libraries that are not registered.
#include "dispatch/refused_libraries.h"

#include <dlfcn.h>

#include <mutex>
#include <utility>
#include <vector>

namespace opgen::detail {

namespace {

struct Refused {
  std::mutex mutex;
  std::vector<RefusedLibrary> all;
};
Refused& refused_libraries() {
  static auto* const kept = new Refused;  // libraries may be unloaded after the program's objects
  return *kept;
}

template <class Matches>
std::string find_refusal(const Matches& matches) {
  const std::lock_guard lock(refused_libraries().mutex);
  for (const RefusedLibrary& refused : refused_libraries().all) {
    if (matches(refused)) {
      return "library " + refused.library + " is not registered: " + refused.reason;
    }
  }
  return {};
}

}  // namespace

const void* module_of(const void* address) noexcept {
  Dl_info found;
  return dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

void add_refused(RefusedLibrary refused) {
  const std::lock_guard lock(refused_libraries().mutex);
  refused_libraries().all.push_back(std::move(refused));
}
void forget_refused(const void* module, std::string_view library) {
  const std::lock_guard lock(refused_libraries().mutex);
  std::erase_if(refused_libraries().all, [&](const RefusedLibrary& refused) {
    return refused.module == module && refused.library == library;
  });
}

bool is_refused(const void* module, std::string_view library) {
  return !find_refusal([&](const RefusedLibrary& refused) {
            return refused.module == module && refused.library == library;
          }).empty();
}
std::string why_refused_module(const void* module) {
  return find_refusal([&](const RefusedLibrary& refused) { return refused.module == module; });
}
std::string why_refused_library(std::string_view library) {
  return find_refusal([&](const RefusedLibrary& refused) { return refused.library == library; });
}

}  // namespace opgen::detail
