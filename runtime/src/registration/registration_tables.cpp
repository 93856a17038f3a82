// registration_tables.cpp: registers the rows of a library's tables, and removes them.
#include "opgen/registration/registration_tables.h"

#include <dlfcn.h>
#if !defined(__APPLE__)
#include <link.h>
#endif

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/refused_libraries.h"
#include "opgen/dispatch/dispatcher.h"
#include "opgen/registration/loading.h"

namespace opgen {

namespace detail {
struct Table {
  const void* module;
  std::string library;
  std::vector<RegistrationHandle> handles;
};
}  // namespace detail

namespace {

using detail::Table;

// The tables of the process. Its mutex is locked before that of the refused libraries.
struct Tables {
  std::mutex mutex;
  std::vector<Table*> all;
};
Tables& tables() {
  static auto* const kept = new Tables;  // libraries may be unloaded after the program's objects
  return *kept;
}
bool same_library(const Table& a, const Table& b) noexcept {
  return a.module == b.module && a.library == b.library;
}

bool is_used() {
  const std::lock_guard lock(tables().mutex);
  return std::any_of(tables().all.begin(), tables().all.end(),
                     [](const Table* table) { return !table->handles.empty(); });
}

}  // namespace

// For other copies of the runtime, which look it up: whether libraries are registered with this
// one.
extern "C" OPGEN_API int opgen_runtime_is_used() {
  return is_used();
}
// Declared in c_api.h.
extern "C" OPGEN_API int opgen_runtime_abi() {
  return OPGEN_RUNTIME_ABI;
}

namespace {

// `function` is one of the runtime that has ABI `found`.
std::string explain_abi(int wanted, int found, int (*function)()) {
  Dl_info place{};
  dladdr(reinterpret_cast<const void*>(function), &place);
  return "it was built for ABI " + std::to_string(wanted) +
         " of opgen's runtime, and this process uses ABI " + std::to_string(found) + ", " +
         place.dli_fname + ": build all its libraries with one release of opgen";
}

// Returns why a library that was compiled for this ABI cannot be registered; empty if it can.
std::string why_unfit(int abi) {
  if (abi != OPGEN_RUNTIME_ABI) {
    return explain_abi(abi, OPGEN_RUNTIME_ABI, &opgen_runtime_is_used);
  }
#if !defined(__APPLE__)
  if (is_used()) return {};
  std::vector<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* found) {
        if (std::strstr(module->dlpi_name, "libopgen_") != nullptr) {
          static_cast<std::vector<std::string>*>(found)->emplace_back(module->dlpi_name);
        }
        return 0;
      },
      &files);
  for (const std::string& file : files) {
    void* const module = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (module == nullptr) continue;
    const auto find = [&](const char* name) {
      return reinterpret_cast<int (*)()>(dlsym(module, name));
    };
    const auto is_other_used = find("opgen_runtime_is_used");
    const bool used =
        is_other_used != nullptr && is_other_used != &opgen_runtime_is_used && is_other_used() != 0;
    const int found = used ? find("opgen_runtime_abi")() : 0;
    dlclose(module);
    if (used) return explain_abi(abi, found, is_other_used);
  }
#endif
  return {};
}

// Removes all tables of a library of which one cannot be registered: an exception would end the
// process, and a part of a library would be worse than none.
void refuse(const Table& table, const std::string& reason) {
  std::vector<RegistrationHandle> removed;  // destroyed after the lock is released
  {
    const std::lock_guard lock(tables().mutex);
    detail::add_refused({table.module, table.library, reason});
    for (Table* other : tables().all) {
      if (same_library(*other, table)) {
        std::move(other->handles.begin(), other->handles.end(), std::back_inserter(removed));
        other->handles.clear();
      }
    }
  }
  OPGEN_WARN("library ", table.library, " is not registered: ", reason);
}

// Registers `count` rows with `add`, or none.
template <class Add>
Table* register_table(const char* library, const void* rows, std::size_t count, int abi,
                      const Add& add) {
  const LoadingScope loading;
  auto table = std::make_unique<Table>(Table{detail::module_of(rows), library, {}});
  table->handles.reserve(count);
  const std::string unfit = why_unfit(abi);
  bool is_refused = false;
  {
    const std::lock_guard lock(tables().mutex);
    tables().all.push_back(table.get());
    is_refused = detail::is_refused(table->module, table->library);
  }
  if (!unfit.empty() && !is_refused) {
    refuse(*table, unfit);
    is_refused = true;
  }
  try {
    for (std::size_t i = 0; i < count && !is_refused; ++i) table->handles.push_back(add(i));
  } catch (const std::exception& error) {
    refuse(*table, error.what());
  }
  return table.release();
}

void remove_table(Table* table) {
  {
    const std::lock_guard lock(tables().mutex);
    std::erase(tables().all, table);
    const bool is_last = std::none_of(tables().all.begin(), tables().all.end(),
                                      [&](Table* other) { return same_library(*other, *table); });
    if (is_last) detail::forget_refused(table->module, table->library);
  }
  delete table;
}

}  // namespace

SchemaTable::SchemaTable(const char* ns, const char* library, const SchemaRow* rows,
                         std::size_t count, int abi)
    : table_(register_table(library, rows, count, abi, [&](std::size_t i) {
        OperatorSlot* slot = rows[i].slot;
        return Dispatcher::singleton().register_schema(slot->name, slot->overload_name,
                                                       rows[i].schema, rows[i].tags, library, slot);
      })) {
  static_cast<void>(ns);
}
SchemaTable::~SchemaTable() {
  remove_table(table_);
}

KernelTable::KernelTable(const char* library, DispatchKey key, const KernelRow* rows,
                         std::size_t count, int abi)
    : table_(register_table(library, rows, count, abi, [&](std::size_t i) {
        const OperatorSlot* slot = rows[i].slot;
        KernelFunction kernel =
            rows[i].function == nullptr
                ? KernelFunction::fallthrough()
                : KernelFunction::from_unboxed(rows[i].function, rows[i].with_keys, slot->boxing);
        kernel.only_tracked = rows[i].only_tracked;
        return Dispatcher::singleton().register_kernel(slot->name, slot->overload_name, key, kernel,
                                                       library);
      })) {}
KernelTable::~KernelTable() {
  remove_table(table_);
}

std::string why_refused(std::string_view library) {
  return detail::why_refused_library(library);
}

}  // namespace opgen
