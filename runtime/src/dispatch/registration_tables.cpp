// registration_tables.cpp: registers the rows of a library's tables, and removes them.
#include "opgen/dispatch/registration_tables.h"

#include <memory>
#include <vector>

#include "opgen/core/loading.h"
#include "opgen/dispatch/dispatcher.h"

namespace opgen {

struct SchemaTable::Impl {
  std::vector<RegistrationHandle> handles;
};

SchemaTable::SchemaTable(const char* ns, const char* library, const SchemaRow* rows,
                         std::size_t count)
    : impl_(nullptr) {
  static_cast<void>(ns);
  auto impl =
      std::make_unique<Impl>();  // if a row throws, its destructor removes the rows before it
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
    kernel.only_tracked = rows[i].only_tracked;
    impl->handles.push_back(Dispatcher::singleton().register_kernel(slot->name, slot->overload_name,
                                                                    key, kernel, library));
  }
  impl_ = impl.release();
}
KernelTable::~KernelTable() {
  delete impl_;
}

}  // namespace opgen
