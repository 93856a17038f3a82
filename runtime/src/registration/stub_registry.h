// stub_registry.h: StubRegistry, the tables of stubs of all loaded libraries. Internal.
#pragma once

#include <mutex>
#include <vector>

#include "core/fork.h"
#include "opgen/registration/kernel_stubs.h"
#include "opgen/registration/stub_report.h"

namespace opgen {

struct StubRegistry {
  std::mutex mutex;
  std::vector<const StubTable*> tables;

  OPGEN_API static StubRegistry& singleton();
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

}  // namespace opgen
