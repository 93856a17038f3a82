// dispatch_call.cpp: the slow path from the keys of a call to its kernel.
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "dispatch/dispatch_slots.h"
#include "dispatch/dispatcher_impl.h"
#include "dispatch/refused_libraries.h"
#include "opgen/dispatch/schema_text.h"

namespace opgen {

namespace detail {
thread_local constinit LocalKeys local_keys OPGEN_TLS = {kDefaultIncludedKeys.raw_repr(),
                                                         ~std::uint64_t(0)};
}  // namespace detail

namespace {

// Throws for a call without a tensor that could select a backend.
[[noreturn]] void throw_no_backend(const OperatorHandle& op, const std::string& registered) {
  const std::string signature = op.signature();
  bool may_take_tensors = signature.find('(') == std::string::npos;
  std::string selector;
  opgen::detail::for_each_argument(signature, [&](const detail::ArgumentText& argument) {
    may_take_tensors |= argument.type.find("Tensor") != std::string_view::npos;
    if (argument.type != "Device" && argument.type != "Device?") return;
    selector = ", or one for BackendSelect, which selects by argument '";
    selector.append(argument.name).append("'");
  });
  OPGEN_CHECK_NOT_IMPLEMENTED(
      false, op.full_name(),
      may_take_tensors ? " was called without any of the tensors that it may take"
                       : " takes no tensors",
      ", so nothing selects a backend, and the call cannot reach its kernels for ", registered,
      ". Register a kernel for CompositeExplicitAutograd, which serves every call", selector);
  __builtin_unreachable();
}

[[noreturn]] void throw_no_kernel(const OperatorSlot& slot, DispatchKeySet keys) {
  OperatorHandle op(slot.entry.load_acquire());
  std::string registered;
  for (DispatchKey key : op.registered_keys()) {
    if (!registered.empty()) registered += ", ";
    registered += toString(key);
  }
  if (registered.empty()) registered = "no key";
  DispatchKey key = keys.highestPriorityTypeId();
  if (key == DispatchKey::Undefined) throw_no_backend(op, registered);
  OPGEN_CHECK_NOT_IMPLEMENTED(false, op.full_name(), " has no kernel for ", key, " (the call has ",
                              keys, "); kernels are registered for ", registered);
  __builtin_unreachable();
}

OPGEN_COLD const DispatchTable* resolve_slot(const OperatorSlot& slot) {
  OperatorEntry* entry = slot.entry.load_acquire();
  if (OPGEN_UNLIKELY(entry == nullptr)) {
    const std::string reason = detail::why_refused_module(detail::module_of(&slot));
    OPGEN_CHECK(false, slot.name, *slot.overload_name != '\0' ? "." : "", slot.overload_name,
                reason.empty() ? " is not registered: the library that defines it is not loaded"
                               : ": " + reason);
  }
  Dispatcher::Impl& impl = Dispatcher::singleton().impl();
  std::lock_guard lock(impl.mutex);
  return impl.resolve(*entry);
}

}  // namespace

namespace detail {

void rethrow_from(const OperatorSlot& slot, Error& error) {
  OperatorEntry* entry = slot.entry.load_acquire();
  if (entry == nullptr) throw;  // its library is not loaded
  try {
    const std::string line = "\n  in " + OperatorHandle(entry).signature();
    error.add_operator(line.data(), line.size());
  } catch (const std::bad_alloc&) {
    // The error stays as it is.
  }
  throw;
}

const KernelFunction& find_kernel(const OperatorSlot& slot, DispatchKeySet& keys) {
  const DispatchTable* table = slot.table.load_acquire();
  if (OPGEN_UNLIKELY(table == &unresolved_table.table)) table = resolve_slot(slot);
  for (;;) {
    auto [live, index] = look_up(*table, keys);
    const KernelFunction& kernel = table->kernels[index];
    switch (kernel.kind) {
      case KernelFunction::Kind::Missing:
        throw_no_kernel(slot, live);
      case KernelFunction::Kind::Ambiguous:
        OPGEN_CHECK(
            false, OperatorHandle(slot.entry.load_acquire()).full_name(),
            " has both a CompositeImplicitAutograd kernel and a kernel of a backend that shares "
            "AutogradOther; register a kernel for AutogradOther to specify the gradient");
        break;
      case KernelFunction::Kind::Fallthrough: {
        DispatchKey passed = live.highestPriorityTypeId();
        keys = live.remove(live.highest_functionality());
        // Below a backend key that falls through there is only the kernel for calls without
        // tensors, which is not for this call.
        OPGEN_CHECK_NOT_IMPLEMENTED(
            !is_backend(passed) || keys.highest_functionality() != DispatchKey::Undefined,
            OperatorHandle(slot.entry.load_acquire()).full_name(), " has no kernel for ", passed,
            ", which opted out of composite kernels with a fallthrough");
        break;
      }
      default:
        keys = live;
        return kernel;
    }
  }
}

}  // namespace detail
}  // namespace opgen
