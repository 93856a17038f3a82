// dispatcher.cpp: registration, computation of tables, and lookup. Tables are computed on first
// use.
#include "opgen/dispatcher.h"
#include "opgen/function_schema.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "alias_keys.h"
#include "dispatcher_impl.h"

namespace opgen {

namespace detail {

thread_local constinit LocalKeys local_keys OPGEN_TLS = {kDefaultIncludedKeys.raw_repr(),
                                                         ~std::uint64_t(0)};

constinit const UnresolvedTable unresolved_table{};

}  // namespace detail

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
  __atomic_store_n(&own.table, table, __ATOMIC_RELEASE);
  for (OperatorSlot* slot : slots) __atomic_store_n(&slot->table, table, __ATOMIC_RELEASE);
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

// Returns what the kernel captured: to be destroyed without the lock, it may be anything.
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

bool same_kernel(const KernelFunction& a, const KernelFunction& b) noexcept {
  return a.kind == b.kind && a.function == b.function && a.boxed == b.boxed &&
         a.context == b.context;
}

// The mangled name is what type_info has; people read C++.
std::string readable(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string result = status == 0 ? text : type.name();
  std::free(text);
  return result;
}

void check_against_schema(const FunctionSchema& schema, std::string_view defined_by,
                          DispatchKey key, const CppSignature& signature,
                          std::string_view library) {
  std::string why = signature.mismatch(schema);
  OPGEN_CHECK(why.empty(), schema.full_name(), ": the kernel for ", key,
              " does not fit the schema: ", why, "\n  schema:   ", schema.str(), ", from ",
              defined_by, "\n  function: ", signature.str(), ", from ", library);
}

void check_registrable(DispatchKey key, bool allow_alias) {
  bool functionality = detail::per_backend_index(key) >= 0;
  OPGEN_CHECK(!functionality, "kernels are registered for one backend of ", key, ", such as ",
              toString(backend_key(key, BackendComponent::CPU)));
  OPGEN_CHECK(allow_alias || !is_alias_key(key), "a fallback cannot be registered for ", key,
              ", which stands for several keys");
}

// Undefined, calls without tensors, is treated as one.
bool is_backend(DispatchKey key) noexcept {
  return functionality_of(key) <= DispatchKey::NestedTensor;
}

// Every slot with its key; the slots of a functionality without a backend have none.
template <class F>
void for_each_slot(F&& function) {
  for (int f = 0; f < detail::kNumFunctionalities; ++f) {
    DispatchKey functionality = static_cast<DispatchKey>(f);
    int offset = detail::kSlotRows.rows[f].offset;
    if (detail::per_backend_index(functionality) < 0) {
      function(offset, functionality, functionality);
      continue;
    }
    for (int b = 0; b < kNumBackends; ++b) {
      function(offset + 1 + b, backend_key(functionality, static_cast<BackendComponent>(b)),
               functionality);
    }
  }
}

// Takes a functionality out of the mask of one backend, or of all masks if it has no backends.
void pass_over(std::uint64_t (&masks)[kNumBackends + 1], DispatchKey key,
               DispatchKey functionality) noexcept {
  std::uint64_t others = ~DispatchKeySet::functionality_bit(functionality);
  if (is_product_key(key)) {
    masks[static_cast<int>(backend_of(key)) + 1] &= others;
  } else {
    for (std::uint64_t& mask : masks) mask &= others;
  }
}

KernelAddress address_of(const KernelFunction& kernel) noexcept {
  switch (kernel.kind) {
    case KernelFunction::Kind::Unboxed:
      return {kernel.function, nullptr};
    case KernelFunction::Kind::UnboxedWithKeys:
      return {nullptr, kernel.function};
    default:
      return {nullptr, nullptr};
  }
}

// Edit distance, for proposals.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

// ---- Computation -------------------------------------------------------------------------------

ComputedKernel Dispatcher::Impl::compute(const OperatorEntry& entry, DispatchKey key) const {
  auto newest = [&](DispatchKey at, const char* reason) {
    const KernelRegistration& registration = entry.find(at)->back();
    return ComputedKernel{registration.kernel, reason, &registration};
  };
  bool undefined = key == DispatchKey::Undefined;

  // What was registered for the key itself.
  if (!undefined && entry.has(key)) return newest(key, "kernel");

  // Explicit composites stand in for backends.
  for (DispatchKey alias : {DispatchKey::CompositeExplicitAutogradNonFunctional,
                            DispatchKey::CompositeExplicitAutograd}) {
    if (entry.has(alias) && (undefined || detail::alias_includes(alias, key))) {
      return newest(alias, toString(alias));
    }
  }

  // An implicit composite also stands in for autograd keys, unless what it would call differs by
  // backend.
  auto has_any = [&](DispatchKeySet keys) {
    return std::any_of(entry.kernels.begin(), entry.kernels.end(), [&](const auto& stack) {
      return !stack.second.empty() && !is_alias_key(stack.first) && keys.has(stack.first);
    });
  };
  bool has_backend_kernel = entry.has(DispatchKey::CompositeExplicitAutograd) ||
                            has_any(detail::backends_below_autograd(key));
  DispatchKey nested = DispatchKey::CompositeImplicitAutogradNestedTensor;
  if (entry.has(nested) && detail::alias_includes(nested, key))
    return newest(nested, toString(nested));
  DispatchKey implicit = DispatchKey::CompositeImplicitAutograd;
  if (entry.has(implicit) && (undefined || detail::alias_includes(implicit, key))) {
    if (key == DispatchKey::AutogradOther && has_any(detail::kAutogradOtherBackends)) {
      KernelFunction ambiguous;
      ambiguous.kind = KernelFunction::Kind::Ambiguous;
      return {ambiguous, "ambiguous: a backend of AutogradOther has its own kernel"};
    }
    if (!has_backend_kernel) return newest(implicit, toString(implicit));
  }

  for (DispatchKey alias : {DispatchKey::Autograd, DispatchKey::FuncTorchBatchedDecomposition}) {
    if (!undefined && entry.has(alias) && detail::alias_includes(alias, key)) {
      return newest(alias, toString(alias));
    }
  }

  return compute_fallback(entry, key);
}

ComputedKernel Dispatcher::Impl::compute_fallback(const OperatorEntry& entry,
                                                  DispatchKey key) const {
  for (const auto& [registered, stack] : fallbacks) {
    if (registered != key || stack.empty()) continue;
    if (stack.back().choose == nullptr) return {stack.back().kernel, "fallback", &stack.back()};
    if (entry.schema_id == 0) continue;
    KernelFunction kernel = stack.back().choose(schema_of(entry));
    if (kernel.kind != KernelFunction::Kind::Fallthrough)
      return {kernel, "fallback", &stack.back()};
  }
  // Above the backends, no kernel means nothing to do.
  if (!is_backend(key)) {
    return {KernelFunction::fallthrough(), "fallthrough"};
  }
  return {KernelFunction(), "missing"};
}

const DispatchTable* Dispatcher::Impl::resolve(OperatorEntry& entry) {
  const DispatchTable* published = entry.own.table;
  if (published != &detail::unresolved_table.table) return published;

  std::vector<KernelFunction> distinct(1);  // 0: missing
  std::uint8_t index[detail::kNumSlots] = {};
  std::uint64_t masks[kNumBackends + 1];
  std::fill(std::begin(masks), std::end(masks), DispatchKeySet::all_bits());
  for_each_slot([&](int slot, DispatchKey key, DispatchKey functionality) {
    KernelFunction kernel = compute(entry, key).kernel;
    if (kernel.kind == KernelFunction::Kind::Fallthrough && !is_backend(key)) {
      pass_over(masks, key, functionality);
    }
    auto known = std::find_if(distinct.begin(), distinct.end(), [&](const KernelFunction& other) {
      return same_kernel(other, kernel);
    });
    index[slot] = static_cast<std::uint8_t>(known - distinct.begin());
    if (known == distinct.end()) distinct.push_back(kernel);
  });
  // Without a backend only what falls through for all of them is passed over.
  std::uint64_t wanted = 0;
  for (int b = 1; b <= kNumBackends; ++b) wanted |= masks[b];
  masks[0] &= wanted;

  std::size_t count = distinct.size();
  std::size_t bytes =
      sizeof(DispatchTable) + count * (sizeof(KernelAddress) + sizeof(KernelFunction));
  void* block = std::malloc(bytes);
  OPGEN_CHECK_KIND(OutOfMemory, block != nullptr, "cannot allocate a dispatch table");
  DispatchTable* table = ::new (block) DispatchTable;
  KernelAddress* addresses = reinterpret_cast<KernelAddress*>(table + 1);
  KernelFunction* kernels = reinterpret_cast<KernelFunction*>(addresses + count);
  for (std::size_t i = 0; i < count; ++i) {
    ::new (static_cast<void*>(addresses + i)) KernelAddress(address_of(distinct[i]));
    ::new (static_cast<void*>(kernels + i)) KernelFunction(distinct[i]);
  }
  std::copy(std::begin(masks), std::end(masks), std::begin(table->masks));
  table->kernels = kernels;
  std::memcpy(table->index, index, sizeof index);
  tables.push_back(table);
  entry.publish(table);
  return table;
}

// ---- Lookup ------------------------------------------------------------------------------------

namespace {

[[noreturn]] void throw_no_kernel(const OperatorSlot& slot, DispatchKeySet keys) {
  OperatorHandle op(slot.entry);
  std::string registered;
  for (DispatchKey key : op.registered_keys()) {
    if (!registered.empty()) registered += ", ";
    registered += toString(key);
  }
  if (registered.empty()) registered = "no key";
  DispatchKey key = keys.highestPriorityTypeId();
  if (key == DispatchKey::Undefined) {
    OPGEN_CHECK_NOT_IMPLEMENTED(false, op.full_name(),
                                " has no kernel for a call without tensors that name a backend; "
                                "kernels are registered for ",
                                registered);
  }
  OPGEN_CHECK_NOT_IMPLEMENTED(false, op.full_name(), " has no kernel for ", key, " (the call has ",
                              keys, "); kernels are registered for ", registered);
  __builtin_unreachable();
}

OPGEN_COLD const DispatchTable* resolve_slot(const OperatorSlot& slot) {
  OperatorEntry* entry = __atomic_load_n(&slot.entry, __ATOMIC_ACQUIRE);
  OPGEN_CHECK(entry != nullptr, slot.name, *slot.overload_name != '\0' ? "." : "",
              slot.overload_name, " is not registered: the library that defines it is not loaded");
  Dispatcher::Impl& impl = Dispatcher::singleton().impl();
  std::lock_guard lock(impl.mutex);
  return impl.resolve(*entry);
}

}  // namespace

namespace detail {

const KernelFunction& find_kernel(const OperatorSlot& slot, DispatchKeySet& keys) {
  const DispatchTable* table = __atomic_load_n(&slot.table, __ATOMIC_ACQUIRE);
  if (OPGEN_UNLIKELY(table == &unresolved_table.table)) table = resolve_slot(slot);
  for (;;) {
    auto [live, index] = look_up(*table, keys);
    const KernelFunction& kernel = table->kernels[index];
    switch (kernel.kind) {
      case KernelFunction::Kind::Missing:
        throw_no_kernel(slot, live);
      case KernelFunction::Kind::Ambiguous:
        OPGEN_CHECK(false, OperatorHandle(slot.entry).full_name(),
                    " has both a CompositeImplicitAutograd kernel and a kernel of a backend that "
                    "shares AutogradOther; "
                    "register a kernel for AutogradOther to say which gradient is meant");
        break;
      case KernelFunction::Kind::Fallthrough: {
        DispatchKey passed = live.highestPriorityTypeId();
        keys = live.remove(live.highest_functionality());
        // Below a backend there is nothing: what serves calls without tensors is not meant.
        OPGEN_CHECK_NOT_IMPLEMENTED(
            !is_backend(passed) || keys.highest_functionality() != DispatchKey::Undefined,
            OperatorHandle(slot.entry).full_name(), " has no kernel for ", passed,
            ", which opted out of composite kernels by a fallthrough");
        break;
      }
      default:
        keys = live;
        return kernel;
    }
  }
}

void call_boxed_kernel(const OperatorSlot& slot, const KernelFunction& kernel, DispatchKeySet keys,
                       Stack& stack) {
  if (kernel.kind == KernelFunction::Kind::Boxed) {
    for (IValue& value : stack) value.own();  // the kernel may keep them
    return kernel.boxed(OperatorHandle(slot.entry), keys, stack, kernel.context);
  }
  OPGEN_CHECK(kernel.boxing != nullptr, slot.name,
              ": this kernel cannot be called with boxed values");
  kernel.boxing->call_from_stack(kernel, keys, stack);
}

void throw_stack_size(const Stack& stack, std::size_t expected) {
  OPGEN_CHECK(false, "the kernel takes ", expected, " arguments, the stack has ", stack.size());
  __builtin_unreachable();
}

void check_result_count(const OperatorSlot& slot, const Stack& stack, std::size_t expected) {
  OPGEN_CHECK(stack.size() == expected, slot.name, ": a boxed kernel left ", stack.size(),
              " results where ", expected, " are declared");
}

}  // namespace detail

// ---- Handles -----------------------------------------------------------------------------------

namespace {

std::unique_lock<std::recursive_mutex> locked() {
  return std::unique_lock(Dispatcher::singleton().impl().mutex);
}

}  // namespace

const std::string& OperatorHandle::name() const noexcept {
  return entry_->name;
}
const std::string& OperatorHandle::overload_name() const noexcept {
  return entry_->overload_name;
}
std::string OperatorHandle::full_name() const {
  return entry_->full_name();
}
OperatorSlot& OperatorHandle::slot() const noexcept {
  return entry_->own;
}
bool OperatorHandle::has_schema() const noexcept {
  auto lock = locked();
  return entry_->schema_id != 0;
}
const FunctionSchema& OperatorHandle::schema() const {
  auto lock = locked();
  return Dispatcher::singleton().impl().schema_of(*entry_);
}
std::vector<std::string> OperatorHandle::tags() const {
  auto lock = locked();
  std::vector<std::string> tags;
  std::string_view rest = entry_->tags;
  while (!rest.empty()) {
    std::size_t comma = rest.find(',');
    tags.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return tags;
}
std::string OperatorHandle::library() const {
  auto lock = locked();
  return entry_->library;
}
bool OperatorHandle::has_kernel_for(DispatchKey key) const {
  auto lock = locked();
  return entry_->has(key);
}
bool OperatorHandle::is_served_by(DispatchKey alias, DispatchKey key) const {
  auto lock = locked();
  ComputedKernel cell = Dispatcher::singleton().impl().compute(*entry_, key);
  return std::strcmp(cell.reason, toString(alias)) == 0;
}
std::vector<DispatchKey> OperatorHandle::registered_keys() const {
  auto lock = locked();
  std::vector<DispatchKey> keys;
  for (const auto& [key, stack] : entry_->kernels) {
    if (!stack.empty()) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

namespace {
const char* kind_name(const KernelFunction& kernel) noexcept {
  constexpr const char* kinds[] = {"missing", "unboxed",     "unboxed with keys", "functor",
                                   "boxed",   "fallthrough", "ambiguous"};
  return kinds[static_cast<int>(kernel.kind)];
}
}  // namespace

std::string OperatorHandle::dump_registrations() const {
  auto lock = locked();
  std::string text = entry_->full_name() + "\n";
  text += "schema: " +
          (entry_->schema_id != 0 ? entry_->schema_text + ", from " + entry_->library
                                  : std::string("none")) +
          "\n";
  std::vector<const std::pair<DispatchKey, KernelStack>*> sorted;
  for (const auto& stack : entry_->kernels) sorted.push_back(&stack);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->first < b->first; });
  for (const auto* stack : sorted) {
    for (auto it = stack->second.rbegin(); it != stack->second.rend(); ++it) {
      text += std::string(toString(stack->first)) + ": " + kind_name(it->kernel) + ", from " +
              it->library + (it == stack->second.rbegin() ? "" : " (inactive)") + "\n";
    }
  }
  return text;
}

std::string OperatorHandle::dump_computed_table() const {
  auto lock = locked();
  const Dispatcher::Impl& impl = Dispatcher::singleton().impl();
  std::string text;
  for_each_slot([&](int, DispatchKey key, DispatchKey) {
    ComputedKernel cell = impl.compute(*entry_, key);
    if (cell.kernel.kind == KernelFunction::Kind::Missing) return;
    bool silent = cell.kernel.kind == KernelFunction::Kind::Fallthrough &&
                  std::strcmp(cell.reason, "fallthrough") == 0;
    if (!silent) text += std::string(toString(key)) + ": " + cell.reason + "\n";
  });
  return text;
}

std::string OperatorHandle::dump_table() const {
  auto lock = locked();
  const Dispatcher::Impl& impl = Dispatcher::singleton().impl();
  std::string text;
  for_each_slot([&](int, DispatchKey key, DispatchKey) {
    ComputedKernel cell = impl.compute(*entry_, key);
    text.append(toString(key)).append(": ").append(kind_name(cell.kernel));
    if (cell.from != nullptr) text.append(", from ").append(cell.from->library);
    if (std::strcmp(cell.reason, kind_name(cell.kernel)) != 0) {
      text.append(" [").append(cell.reason).append("]");
    }
    text += '\n';
  });
  return text;
}

void OperatorHandle::check_signature(const std::type_info& signature) const {
  auto lock = locked();
  const Boxing* known = entry_->own.boxing;
  OPGEN_CHECK(known == nullptr || *known->signature == signature, entry_->full_name(),
              " is asked for as ", readable(signature), " but its C++ signature is ",
              known != nullptr ? readable(*known->signature) : "");
}

namespace {

inline void run_boxed(const OperatorSlot& slot, DispatchKeySet keys, Stack& stack) {
  // What has an address, has a kernel of C++ arguments.
  const DispatchTable* table = __atomic_load_n(&slot.table, __ATOMIC_ACQUIRE);
  auto [live, index] = detail::look_up(*table, keys);
  const KernelAddress& address = table->addresses()[index];
  if (OPGEN_LIKELY(address.direct != nullptr || address.keyed != nullptr)) {
    const KernelFunction& kernel = table->kernels[index];
    if (OPGEN_LIKELY(kernel.boxing != nullptr)) {
      return kernel.boxing->call_from_stack(kernel, live, stack);
    }
  }
  const KernelFunction& kernel = detail::find_kernel(slot, keys);
  detail::call_boxed_kernel(slot, kernel, keys, stack);
}

}  // namespace

void OperatorHandle::call_boxed(Stack& stack) const {
  std::int64_t known = __atomic_load_n(&entry_->argument_count, __ATOMIC_ACQUIRE);
  std::size_t count =
      OPGEN_LIKELY(known >= 0) ? static_cast<std::size_t>(known) : schema().arguments.size();
  if (OPGEN_UNLIKELY(stack.size() < count)) detail::throw_stack_size(stack, count);
  std::uint64_t bits = 0;
  const IValue* end = stack.data() + stack.size();
  for (const IValue* value = end - count; value != end; ++value) {
    const TensorImpl* tensor = value->tensor_impl();
    bits |= OPGEN_LIKELY(tensor != nullptr) ? tensor->key_set().raw_repr() : value->key_bits();
  }
  run_boxed(entry_->own, detail::with_local_keys(bits), stack);
}

void OperatorHandle::redispatch_boxed(DispatchKeySet keys, Stack& stack) const {
  run_boxed(entry_->own, keys, stack);
}

// ---- Registration ------------------------------------------------------------------------------

Dispatcher::Dispatcher() : impl_(new Impl) {}

Dispatcher& Dispatcher::singleton() {
  // Never destroyed: tables of other libraries are undone after this one's static objects are gone.
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
    entry.schema = std::make_unique<FunctionSchema>(parse_schema(entry.schema_text, ns));
    __atomic_store_n(&entry.argument_count,
                     static_cast<std::int64_t>(entry.schema->arguments.size()), __ATOMIC_RELEASE);
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
      check_against_schema(parse_schema(schema, name.substr(0, name.find("::"))), library, key,
                           *kernel.signature, kernel.library);
    }
  }
  if (slot != nullptr) {
    const Boxing* known = entry.own.boxing;
    OPGEN_CHECK(known == nullptr || *known->signature == *slot->boxing->signature,
                entry.full_name(), ": a kernel was registered with another C++ signature, ",
                readable(*known->signature), " instead of ", readable(*slot->boxing->signature));
    if (known == nullptr) entry.own.boxing = slot->boxing;
    __atomic_store_n(&slot->entry, &entry, __ATOMIC_RELEASE);
    entry.slots.push_back(slot);
    __atomic_store_n(&slot->table, entry.own.table, __ATOMIC_RELEASE);
  }
  std::uint64_t id = impl_->next_id++;
  entry.schema_id = id;
  entry.schema_text = schema;
  entry.tags = tags;
  entry.library = library;
  entry.publish(&detail::unresolved_table.table);  // fallbacks may look at the schema
  __atomic_store_n(&entry.argument_count, -1, __ATOMIC_RELEASE);
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
      check_against_schema(impl_->schema_of(entry), entry.library, key, *signature, library);
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
  if (replaces) {
    OPGEN_WARN(full, ": the kernel for ", key, " from ", library,
               " replaces one that was registered before");
  }
  return RegistrationHandle(id);
}

RegistrationHandle Dispatcher::register_fallback(DispatchKey key, KernelFunction kernel,
                                                 std::string_view library) {
  check_registrable(key, false);
  OPGEN_CHECK(kernel.kind == KernelFunction::Kind::Boxed ||
                  kernel.kind == KernelFunction::Kind::Fallthrough,
              "a fallback serves every signature: it must be boxed or a fallthrough");
  return impl_->add_fallback(key, {0, kernel, std::string(library)});
}

RegistrationHandle Dispatcher::register_fallback(DispatchKey key, KernelChooser choose,
                                                 std::string_view library) {
  check_registrable(key, false);
  return impl_->add_fallback(key, {0, KernelFunction::fallthrough(), std::string(library), choose});
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
  Ref<HeapValue> owner;  // outlives the lock
  std::lock_guard lock(mutex);
  auto it = registrations.find(id);
  if (it == registrations.end()) return;
  Registration& registration = it->second;
  OperatorEntry* entry = registration.entry;
  switch (registration.kind) {
    case Registration::Kind::Schema:
      entry->schema_id = 0;
      __atomic_store_n(&entry->argument_count, -1, __ATOMIC_RELEASE);
      entry->publish(&detail::unresolved_table.table);
      std::erase(entry->slots, registration.slot);
      if (registration.slot != nullptr) {
        __atomic_store_n(&registration.slot->table, &detail::unresolved_table.table,
                         __ATOMIC_RELEASE);
        __atomic_store_n(&registration.slot->entry, nullptr, __ATOMIC_RELEASE);
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
  // The signature's description lies in the library that may be about to go; another's is as good.
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

OperatorHandle Dispatcher::findSchemaOrThrow(std::string_view name,
                                             std::string_view overload_name) const {
  if (auto found = findSchema(name, overload_name)) return *found;
  std::string asked = full_name(name, overload_name);
  std::string nearest;
  std::size_t best = asked.size() / 3 + 1;
  for (const OperatorHandle& op : operators()) {
    std::string candidate = op.full_name();
    // An overload of the operator that was asked for is nearer than any other name.
    std::size_t d = op.name() == name ? 1 : distance(asked, candidate);
    if (d < best) {
      best = d;
      nearest = candidate;
    }
  }
  if (!nearest.empty()) {
    OPGEN_CHECK(false, "no operator ", asked, " is defined; did you mean ", nearest, "?");
  }
  OPGEN_CHECK(false, "no operator ", asked, " is defined; is its library loaded?");
  __builtin_unreachable();
}

namespace {
std::vector<OperatorHandle> sorted_by_name(std::vector<OperatorEntry*> entries) {
  std::sort(entries.begin(), entries.end(), [](const OperatorEntry* a, const OperatorEntry* b) {
    return std::tie(a->name, a->overload_name) < std::tie(b->name, b->overload_name);
  });
  return std::vector<OperatorHandle>(entries.begin(), entries.end());
}
}  // namespace

std::vector<OperatorHandle> Dispatcher::operators() const {
  std::lock_guard lock(impl_->mutex);
  std::vector<OperatorEntry*> found;
  for (const auto& [name, entry] : impl_->entries) {
    if (entry->schema_id != 0) found.push_back(entry.get());
  }
  return sorted_by_name(std::move(found));
}

std::vector<OperatorHandle> Dispatcher::operators_without_schema() const {
  std::lock_guard lock(impl_->mutex);
  std::vector<OperatorEntry*> found;
  for (const auto& [name, entry] : impl_->entries) {
    bool has_kernels = std::any_of(entry->kernels.begin(), entry->kernels.end(),
                                   [](const auto& stack) { return !stack.second.empty(); });
    if (entry->schema_id == 0 && has_kernels) found.push_back(entry.get());
  }
  return sorted_by_name(std::move(found));
}

}  // namespace opgen
