// kernel_stubs.cpp: the stubs of all loaded libraries, and the report of those still in use.
#include "opgen/structured/kernel_stubs.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <vector>

#include "core/fork.h"
#include "opgen/core/error.h"
#include "opgen/structured/stub_report.h"

namespace opgen {

void throw_missing_kernel(const MissingKernel& kernel) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, kernel.op, " has no ", kernel.key, " kernel yet; write\n  ",
                              kernel.signature, " { … }");
  __builtin_unreachable();
}

void throw_missing_function(const MissingFunction& function) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, "the gradient of ", function.op, " needs ", function.name,
                              ", which is not written yet; write\n  ", function.definition);
  __builtin_unreachable();
}

struct StubRegistry {
  std::mutex mutex;
  std::vector<const StubTable*> tables;

  static StubRegistry& singleton() {
    static StubRegistry* registry = new StubRegistry;
    return *registry;
  }
  static std::mutex& singletons_mutex() { return singleton().mutex; }
  StubRegistry() { hold_during_fork<&singletons_mutex>(); }
  void report(const StubTable& table, std::vector<StubReport>& out) const {
    for (std::size_t i = 0; i < table.count_; ++i) {
      const KernelStub& stub = table.stubs_[i];
      const char* address = static_cast<const char*>(stub.address);
      if (address < table.begin_ || address >= table.end_) continue;
      out.push_back({table.library_, stub.op, stub.key, stub.signature});
    }
  }
};

StubTable::StubTable(const char* library, const KernelStub* stubs, std::size_t count,
                     const void* begin, const void* end)
    : library_(library),
      stubs_(stubs),
      count_(count),
      begin_(static_cast<const char*>(begin)),
      end_(static_cast<const char*>(end)) {
  StubRegistry& registry = StubRegistry::singleton();
  std::lock_guard lock(registry.mutex);
  registry.tables.push_back(this);
}
StubTable::~StubTable() {
  StubRegistry& registry = StubRegistry::singleton();
  std::lock_guard lock(registry.mutex);
  std::erase(registry.tables, this);
}

std::vector<StubReport> opgen_stub_report() {
  StubRegistry& registry = StubRegistry::singleton();
  std::lock_guard lock(registry.mutex);
  std::vector<StubReport> stubs;
  for (const StubTable* table : registry.tables) registry.report(*table, stubs);
  auto order = [](const StubReport& s) { return std::tie(s.library, s.op, s.key, s.signature); };
  std::sort(stubs.begin(), stubs.end(),
            [&](const StubReport& a, const StubReport& b) { return order(a) < order(b); });
  return stubs;
}

}  // namespace opgen
