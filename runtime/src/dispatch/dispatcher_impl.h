// dispatcher_impl.h: the dispatcher's records. Internal. Dispatcher::Impl::mutex protects
// everything.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "opgen/core/atomic.h"
#include "opgen/dispatch/dispatcher.h"

namespace opgen {

struct KernelRegistration {
  std::uint64_t id;
  KernelFunction kernel;
  std::string library;
  KernelChooser choose = nullptr;  // for a fallback whose kernel depends on the operator's schema
  const CppSignature* signature = nullptr;  // for a kernel that is checked against the schema
  Ref<HeapValue> owner = nullptr;           // the kernel's captures
};
// The registrations of a key, newest last. The newest is used.
using KernelStack = std::vector<KernelRegistration>;

class OperatorEntry {
 public:
  OperatorEntry(std::string_view operator_name, std::string_view operator_overload);

  const std::string name;
  const std::string overload_name;
  OperatorSlot own;                  // used by calls through handles
  std::vector<OperatorSlot*> slots;  // the slots of libraries; without `own`
  std::uint64_t schema_id = 0;       // 0: no schema
  std::string schema_text;
  std::string tags;
  std::string library;
  mutable std::shared_ptr<const FunctionSchema> schema;  // parsed on first use
  mutable Atomic<std::int64_t> argument_count =
      -1;  // number of arguments of `schema`, read without the lock; -1 until parsed
  std::vector<std::shared_ptr<const FunctionSchema>> old_schemas;  // a caller may hold a reference
  std::vector<std::pair<DispatchKey, KernelStack>> kernels;

  [[nodiscard]] const KernelStack* find(DispatchKey key) const noexcept;
  [[nodiscard]] bool has(DispatchKey key) const noexcept { return find(key) != nullptr; }
  void publish(const DispatchTable* table) noexcept;
  [[nodiscard]] OPGEN_API std::string full_name() const;
};

// One cell of a computed table, and the reason for its kernel.
struct ComputedKernel {
  KernelFunction kernel;
  const char* reason;
  const KernelRegistration* from = nullptr;
};

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>()(text);
  }
};

struct Dispatcher::Impl {
  struct Registration {
    enum class Kind { Schema, Kernel, Fallback, Namespace } kind;
    OperatorEntry* entry;
    DispatchKey key;
    OperatorSlot* slot;
    std::string ns;
  };

  mutable std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<OperatorEntry>, NameHash, std::equal_to<>>
      entries;
  std::unordered_map<std::uint64_t, Registration> registrations;
  std::vector<std::pair<DispatchKey, KernelStack>> fallbacks;
  KernelChooser autograd_default = nullptr;
  std::map<std::string, std::pair<std::uint64_t, std::string>, std::less<>> namespaces;
  std::vector<const DispatchTable*> tables;  // every table ever published
  std::uint64_t next_id = 1;

  OperatorEntry& entry_of(std::string_view name, std::string_view overload_name);
  [[nodiscard]] OperatorEntry* find(std::string_view name, std::string_view overload_name) const;
  [[nodiscard]] OPGEN_API ComputedKernel compute(const OperatorEntry& entry, DispatchKey key) const;
  [[nodiscard]] ComputedKernel compute_fallback(const OperatorEntry& entry, DispatchKey key) const;
  const DispatchTable* resolve(OperatorEntry& entry);
  [[nodiscard]] const FunctionSchema& schema_of(const OperatorEntry& entry) const;
  RegistrationHandle add_fallback(DispatchKey key, KernelRegistration registration);
  void invalidate_all() noexcept;
  void undo(std::uint64_t id) noexcept;
};

}  // namespace opgen
