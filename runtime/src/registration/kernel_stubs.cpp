// kernel_stubs.cpp: the stubs of all loaded libraries.
#include "opgen/registration/kernel_stubs.h"

#include <mutex>
#include <vector>

#include "opgen/core/error.h"
#include "registration/stub_registry.h"

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

StubRegistry& StubRegistry::singleton() {
  static StubRegistry* registry = new StubRegistry;
  return *registry;
}

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

}  // namespace opgen
