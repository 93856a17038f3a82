// dispatcher.cpp: adds, checks and removes operators and their registrations.
#include "opgen/dispatch/dispatcher.h"

#include <algorithm>
#include <memory>

#include "core/fork.h"
#include "core/text.h"
#include "dispatch/dispatcher_impl.h"
#include "dispatch/schema_functions.h"

namespace opgen {

constinit Atomic<const SchemaFunctions*> schema_functions = nullptr;

namespace detail {
std::mutex& alias_plans_mutex() {
  // Never destroyed: kernels of other libraries may run while this one's static objects are
  // destroyed.
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

}  // namespace detail

HeapValue::~HeapValue() = default;

OperatorEntry::OperatorEntry(std::string_view operator_name, std::string_view operator_overload)
    : name(operator_name),
      overload_name(operator_overload),
      own{name.c_str(), overload_name.c_str(), nullptr, &detail::unresolved_table.table, this} {}

const KernelStack* OperatorEntry::find(DispatchKey key) const noexcept {
  for (const auto& [registered, stack] : kernels) {
    if (registered == key && !stack.empty()) return &stack;
  }
  return nullptr;
}

void OperatorEntry::publish(const DispatchTable* table) noexcept {
  own.table.store_release(table);
  for (OperatorSlot* slot : slots) slot->table.store_release(table);
}

std::string OperatorEntry::full_name() const {
  return overload_name.empty() ? name : name + "." + overload_name;
}

namespace {

std::string full_name(std::string_view name, std::string_view overload_name) {
  std::string full(name);
  if (!overload_name.empty()) full.append(".").append(overload_name);
  return full;
}

KernelStack& stack_at(std::vector<std::pair<DispatchKey, KernelStack>>& stacks, DispatchKey key) {
  for (auto& [registered, stack] : stacks) {
    if (registered == key) return stack;
  }
  return stacks.emplace_back(key, KernelStack()).second;
}

// Returns the kernel's captures. Destroy them without holding the lock, because a destructor may
// run any code.
Ref<HeapValue> remove_id(std::vector<std::pair<DispatchKey, KernelStack>>& stacks, DispatchKey key,
                         std::uint64_t id) noexcept {
  for (auto& [registered, stack] : stacks) {
    if (registered != key) continue;
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (stack[i].id == id) {
        Ref<HeapValue> owner = std::move(stack[i].owner);
        stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(i));
        return owner;
      }
    }
  }
  return nullptr;
}

std::mutex& mutex_of_dispatcher() {
  return Dispatcher::singleton().impl().mutex;
}

void check_registrable(DispatchKey key, bool allow_alias) {
  bool functionality = detail::per_backend_index(key) >= 0;
  OPGEN_CHECK(!functionality, "kernels are registered for one backend of ", key, ", such as ",
              toString(backend_key(key, BackendComponent::CPU)));
  OPGEN_CHECK(allow_alias || !is_alias_key(key), "a fallback cannot be registered for ", key,
              ", which stands for several keys");
}

}  // namespace

Dispatcher::Dispatcher() : impl_(new Impl) {
  hold_during_fork<&detail::alias_plans_mutex>();
  hold_during_fork<&mutex_of_dispatcher>();
}

Dispatcher& Dispatcher::singleton() {
  // Never destroyed: other libraries remove their registrations after this one's static objects are
  // destroyed.
  static Dispatcher* dispatcher = new Dispatcher;
  return *dispatcher;
}

OperatorEntry& Dispatcher::Impl::entry_of(std::string_view name, std::string_view overload_name) {
  std::string full = full_name(name, overload_name);
  auto& entry = entries[full];
  if (entry == nullptr) entry = std::make_unique<OperatorEntry>(name, overload_name);
  return *entry;
}

OperatorEntry* Dispatcher::Impl::find(std::string_view name, std::string_view overload_name) const {
  auto it = entries.find(full_name(name, overload_name));
  return it == entries.end() ? nullptr : it->second.get();
}

const FunctionSchema& Dispatcher::Impl::schema_of(const OperatorEntry& entry) const {
  OPGEN_CHECK(entry.schema_id != 0, entry.full_name(),
              " has no schema: no loaded library defines it");
  if (entry.schema == nullptr) {
    std::string_view ns = std::string_view(entry.name).substr(0, entry.name.find("::"));
    const SchemaFunctions* functions = schema_functions.load_acquire();
    OPGEN_CHECK(functions != nullptr, entry.full_name(),
                ": nothing in this process reads schemas; link opgen::runtime");
    ParsedSchema parsed = functions->parse(entry.schema_text, ns);
    entry.schema = std::move(parsed.schema);
    entry.argument_count.store_release(parsed.argument_count);
  }
  return *entry.schema;
}

void Dispatcher::Impl::invalidate_all() noexcept {
  for (auto& [name, entry] : entries) entry->publish(&detail::unresolved_table.table);
}

RegistrationHandle Dispatcher::register_schema(std::string_view name,
                                               std::string_view overload_name,
                                               std::string_view schema, std::string_view tags,
                                               std::string_view library, OperatorSlot* slot) {
  std::lock_guard lock(impl_->mutex);
  OperatorEntry& entry = impl_->entry_of(name, overload_name);
  OPGEN_CHECK(entry.schema_id == 0, entry.full_name(), " is defined twice: by ", entry.library,
              " and by ", library);
  for (const auto& [key, stack] : entry.kernels) {
    for (const KernelRegistration& kernel : stack) {
      if (kernel.signature == nullptr) continue;
      const SchemaFunctions& functions = *schema_functions.load_acquire();
      functions.check(*functions.parse(schema, name.substr(0, name.find("::"))).schema, library,
                      key, *kernel.signature, kernel.library);
    }
  }
  if (slot != nullptr) {
    const Boxing* known = entry.own.boxing;
    OPGEN_CHECK(known == nullptr || *known->signature == *slot->boxing->signature,
                entry.full_name(), ": a kernel was registered with a different C++ signature, ",
                readable(*known->signature), " instead of ", readable(*slot->boxing->signature));
    if (known == nullptr) entry.own.boxing = slot->boxing;
    slot->entry.store_release(&entry);
    entry.slots.push_back(slot);
    slot->table.store_release(entry.own.table.load_relaxed());
  }
  std::uint64_t id = impl_->next_id++;
  entry.schema_id = id;
  entry.schema_text = schema;
  entry.tags = tags;
  entry.library = library;
  entry.publish(&detail::unresolved_table.table);  // fallbacks may read the schema
  entry.argument_count.store_release(-1);
  if (entry.schema != nullptr) entry.old_schemas.push_back(std::move(entry.schema));
  impl_->registrations.emplace(
      id, Impl::Registration{
              Impl::Registration::Kind::Schema, &entry, DispatchKey::Undefined, slot, {}});
  return RegistrationHandle(id);
}

RegistrationHandle Dispatcher::register_kernel(std::string_view name,
                                               std::string_view overload_name, DispatchKey key,
                                               KernelFunction kernel, std::string_view library,
                                               const CppSignature* signature,
                                               Ref<HeapValue> owner) {
  if (key == DispatchKey::Undefined) key = DispatchKey::CompositeImplicitAutograd;
  check_registrable(key, true);
  bool replaces = false;
  std::string full;
  std::uint64_t id = 0;
  {
    std::lock_guard lock(impl_->mutex);
    OperatorEntry& entry = impl_->entry_of(name, overload_name);
    if (signature != nullptr && entry.schema_id != 0) {
      schema_functions.load_acquire()->check(impl_->schema_of(entry), entry.library, key,
                                             *signature, library);
    }
    if (kernel.boxing != nullptr) {
      const Boxing* known = entry.own.boxing;
      OPGEN_CHECK(known == nullptr || *known->signature == *kernel.boxing->signature,
                  entry.full_name(), ": the kernel for ", key, " from ", library,
                  " has the C++ signature ", readable(*kernel.boxing->signature), " instead of ",
                  readable(*known->signature));
      if (known == nullptr) entry.own.boxing = kernel.boxing;
    }
    KernelStack& stack = stack_at(entry.kernels, key);
    replaces = !stack.empty();
    if (replaces) full = entry.full_name();
    id = impl_->next_id++;
    stack.push_back({id, kernel, std::string(library), nullptr, signature, std::move(owner)});
    entry.publish(&detail::unresolved_table.table);
    impl_->registrations.emplace(
        id, Impl::Registration{Impl::Registration::Kind::Kernel, &entry, key, nullptr, {}});
  }
  RegistrationHandle handle(id);  // removes the registration if the warning handler throws
  if (replaces) {
    OPGEN_WARN(full, ": the kernel for ", key, " from ", library,
               " replaces one that was registered before");
  }
  return handle;
}

RegistrationHandle Dispatcher::register_fallback(DispatchKey key, KernelFunction kernel,
                                                 std::string_view library) {
  check_registrable(key, false);
  OPGEN_CHECK(kernel.kind == KernelFunction::Kind::Boxed ||
                  kernel.kind == KernelFunction::Kind::Fallthrough,
              "a fallback serves all signatures, so it must be boxed or a fallthrough");
  return impl_->add_fallback(key, {0, kernel, std::string(library)});
}

RegistrationHandle Dispatcher::register_fallback(DispatchKey key, KernelChooser choose,
                                                 std::string_view library) {
  check_registrable(key, false);
  return impl_->add_fallback(key, {0, KernelFunction::fallthrough(), std::string(library), choose});
}

void Dispatcher::set_autograd_default(KernelChooser choose) {
  std::lock_guard lock(impl_->mutex);
  impl_->autograd_default = choose;
}

RegistrationHandle Dispatcher::Impl::add_fallback(DispatchKey key,
                                                  KernelRegistration registration) {
  std::lock_guard lock(mutex);
  KernelStack& stack = stack_at(fallbacks, key);
  OPGEN_CHECK(stack.empty(), "a fallback for ", key, " is registered twice: by ",
              stack.empty() ? std::string() : stack.back().library, " and by ",
              registration.library);
  registration.id = next_id++;
  stack.push_back(registration);
  invalidate_all();
  registrations.emplace(registration.id,
                        Registration{Registration::Kind::Fallback, nullptr, key, nullptr, {}});
  return RegistrationHandle(registration.id);
}

RegistrationHandle Dispatcher::claim_namespace(std::string_view ns, std::string_view place) {
  std::lock_guard lock(impl_->mutex);
  auto it = impl_->namespaces.find(ns);
  OPGEN_CHECK(it == impl_->namespaces.end(), "two libraries define namespace ", ns, ": ",
              it == impl_->namespaces.end() ? std::string() : it->second.second, " and ", place,
              "; use OPGEN_LIBRARY_FRAGMENT in all but one");
  std::uint64_t id = impl_->next_id++;
  impl_->namespaces.emplace(std::string(ns), std::pair(id, std::string(place)));
  impl_->registrations.emplace(
      id, Impl::Registration{Impl::Registration::Kind::Namespace, nullptr, DispatchKey::Undefined,
                             nullptr, std::string(ns)});
  return RegistrationHandle(id);
}

void Dispatcher::Impl::undo(std::uint64_t id) noexcept {
  Ref<HeapValue> owner;  // destroyed after the lock is released
  std::lock_guard lock(mutex);
  auto it = registrations.find(id);
  if (it == registrations.end()) return;
  Registration& registration = it->second;
  OperatorEntry* entry = registration.entry;
  switch (registration.kind) {
    case Registration::Kind::Schema:
      entry->schema_id = 0;
      entry->argument_count.store_release(-1);
      entry->publish(&detail::unresolved_table.table);
      std::erase(entry->slots, registration.slot);
      if (registration.slot != nullptr) {
        registration.slot->table.store_release(&detail::unresolved_table.table);
        registration.slot->entry.store_release(nullptr);
      }
      break;
    case Registration::Kind::Kernel:
      owner = remove_id(entry->kernels, registration.key, id);
      entry->publish(&detail::unresolved_table.table);
      break;
    case Registration::Kind::Fallback:
      owner = remove_id(fallbacks, registration.key, id);
      invalidate_all();
      break;
    case Registration::Kind::Namespace:
      namespaces.erase(registration.ns);
      break;
  }
  // The description of the signature is in a library that may now be unloaded; use that of another
  // library.
  if (entry != nullptr) {
    const Boxing* boxing = nullptr;
    for (OperatorSlot* slot : entry->slots) boxing = slot->boxing;
    for (const auto& [key, stack] : entry->kernels) {
      for (const KernelRegistration& kernel : stack) {
        if (boxing == nullptr) boxing = kernel.kernel.boxing;
      }
    }
    entry->own.boxing = boxing;
  }
  registrations.erase(it);
}

RegistrationHandle::~RegistrationHandle() {
  if (id_ != 0) Dispatcher::singleton().impl().undo(id_);
}

std::optional<OperatorHandle> Dispatcher::find_operator(std::string_view name,
                                                        std::string_view overload_name) const {
  std::lock_guard lock(impl_->mutex);
  OperatorEntry* entry = impl_->find(name, overload_name);
  if (entry == nullptr) return std::nullopt;
  return OperatorHandle(entry);
}

std::optional<OperatorHandle> Dispatcher::findSchema(std::string_view name,
                                                     std::string_view overload_name) const {
  std::lock_guard lock(impl_->mutex);
  OperatorEntry* entry = impl_->find(name, overload_name);
  if (entry == nullptr || entry->schema_id == 0) return std::nullopt;
  return OperatorHandle(entry);
}

}  // namespace opgen
