// dispatch_table.cpp: computes which kernel serves an operator at each key, on first use.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "dispatch/alias_keys.h"
#include "dispatch/dispatch_slots.h"
#include "dispatch/dispatcher_impl.h"

namespace opgen {

namespace detail {
constinit const UnresolvedTable unresolved_table{};
}

namespace {

bool same_kernel(const KernelFunction& a, const KernelFunction& b) noexcept {
  return a.kind == b.kind && a.function == b.function && a.boxed == b.boxed &&
         a.context == b.context;
}

// Removes a functionality from the mask of the key's backend, or from all masks if it has none.
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

}  // namespace

ComputedKernel Dispatcher::Impl::compute(const OperatorEntry& entry, DispatchKey key) const {
  auto newest = [&](DispatchKey at, const char* reason) {
    const KernelRegistration& registration = entry.find(at)->back();
    return ComputedKernel{registration.kernel, reason, &registration};
  };
  bool undefined = key == DispatchKey::Undefined;

  // First choice: a kernel registered for the key itself.
  if (!undefined && entry.has(key)) return newest(key, "kernel");

  // Explicit composites serve backends.
  for (DispatchKey alias : {DispatchKey::CompositeExplicitAutogradNonFunctional,
                            DispatchKey::CompositeExplicitAutograd}) {
    if (entry.has(alias) && (undefined || detail::alias_includes(alias, key))) {
      return newest(alias, toString(alias));
    }
  }

  // An implicit composite also serves autograd keys, unless a backend has its own kernel.
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
  // Above the backends, a key without a kernel falls through; a key of autograd only for tensors
  // that need no gradient.
  if (autograd_default != nullptr && entry.schema_id != 0 &&
      detail::alias_includes(DispatchKey::Autograd, key)) {
    return {autograd_default(schema_of(entry)), "fallthrough"};
  }
  if (!is_backend(key)) {
    return {KernelFunction::fallthrough(), "fallthrough"};
  }
  return {KernelFunction(), "missing"};
}

const DispatchTable* Dispatcher::Impl::resolve(OperatorEntry& entry) {
  const DispatchTable* published = entry.own.table.load_acquire();
  if (published != &detail::unresolved_table.table) return published;

  std::vector<KernelFunction> distinct(1);  // index 0: no kernel
  std::uint8_t index[detail::kNumSlots] = {};
  std::uint64_t masks[kNumBackends + 1];
  std::fill(std::begin(masks), std::end(masks), DispatchKeySet::all_bits());
  for_each_slot([&](int slot, DispatchKey key, DispatchKey functionality) {
    KernelFunction kernel = compute(entry, key).kernel;
    const bool falls_through = kernel.kind == KernelFunction::Kind::Fallthrough;
    const bool by_backend = functionality == DispatchKey::AutogradFunctionality;
    if ((falls_through && !is_backend(key)) || (by_backend && kernel.only_tracked)) {
      pass_over(masks, key, functionality);
    }
    // One of both leads to the kernel.
    if (by_backend && (falls_through || !kernel.only_tracked)) {
      pass_over(masks, key, DispatchKey::AutogradTracked);
    }
    auto known = std::find_if(distinct.begin(), distinct.end(), [&](const KernelFunction& other) {
      return same_kernel(other, kernel);
    });
    index[slot] = static_cast<std::uint8_t>(known - distinct.begin());
    if (known == distinct.end()) distinct.push_back(kernel);
  });
  // Without a backend, skip only the functionalities that fall through for every backend.
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

}  // namespace opgen
