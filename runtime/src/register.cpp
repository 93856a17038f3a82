// register.cpp: tables of schemas and kernels, stub reports and the owner of Tensor.
#include "opgen/register.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "opgen/dispatcher.h"
#include "opgen/loading.h"
#include "opgen/stub.h"

namespace opgen {

struct SchemaTable::Impl {
  std::vector<RegistrationHandle> handles;
};

SchemaTable::SchemaTable(const char* ns, const char* library, const SchemaRow* rows,
                         std::size_t count)
    : impl_(nullptr) {
  static_cast<void>(ns);
  auto impl = std::make_unique<Impl>();  // an error undoes what was registered before it
  impl->handles.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    OperatorSlot* slot = rows[i].slot;
    impl->handles.push_back(Dispatcher::singleton().register_schema(
        slot->name, slot->overload_name, rows[i].schema, rows[i].tags, library, slot));
  }
  impl_ = impl.release();
}
SchemaTable::~SchemaTable() {
  delete impl_;
}

struct KernelTable::Impl {
  std::vector<RegistrationHandle> handles;
};

KernelTable::KernelTable(const char* library, DispatchKey key, const KernelRow* rows,
                         std::size_t count)
    : impl_(nullptr) {
  const LoadingScope loading;
  auto impl = std::make_unique<Impl>();
  impl->handles.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const OperatorSlot* slot = rows[i].slot;
    KernelFunction kernel =
        rows[i].function == nullptr
            ? KernelFunction::fallthrough()
            : KernelFunction::from_unboxed(rows[i].function, rows[i].with_keys, slot->boxing);
    impl->handles.push_back(Dispatcher::singleton().register_kernel(slot->name, slot->overload_name,
                                                                    key, kernel, library));
  }
  impl_ = impl.release();
}
KernelTable::~KernelTable() {
  delete impl_;
}

// ---- Stubs -------------------------------------------------------------------------------------

void throw_missing_kernel(const KernelStub& stub) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, stub.op, " has no ", stub.key, " kernel yet; write\n  ",
                              stub.signature, " { … }");
  __builtin_unreachable();
}

struct StubRegistry {
  std::mutex mutex;
  std::vector<const StubTable*> tables;

  static StubRegistry& singleton() {
    static StubRegistry* registry = new StubRegistry;
    return *registry;
  }
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

// ---- The owner of Tensor -----------------------------------------------------------------------

namespace {
constinit std::atomic<const char*> tensor_owner{nullptr};
}

TensorOwner::TensorOwner(const char* library) noexcept : library_(library) {
  const char* owner = nullptr;
  if (tensor_owner.compare_exchange_strong(owner, library)) return;
  std::fprintf(
      stderr,
      "opgen: both '%s' and '%s' own class Tensor; generate one of them with --extends the other\n",
      owner, library);
  std::abort();
}
TensorOwner::~TensorOwner() {
  const char* owner = library_;
  tensor_owner.compare_exchange_strong(owner, nullptr);
}

}  // namespace opgen
