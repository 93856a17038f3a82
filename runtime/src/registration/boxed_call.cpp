// boxed_call.cpp: calls with boxed arguments.
#include <cstdint>

#include "dispatch/dispatcher_impl.h"
#include "opgen/registration/ivalue.h"

namespace opgen {

namespace detail {

void call_boxed_kernel(const OperatorSlot& slot, const KernelFunction& kernel, DispatchKeySet keys,
                       Stack& stack) {
  if (kernel.kind == KernelFunction::Kind::Boxed) {
    for (IValue& value : stack) value.own();  // the kernel may keep the values
    return kernel.boxed(OperatorHandle(slot.entry.load_acquire()), keys, stack, kernel.context);
  }
  OPGEN_CHECK(kernel.boxing != nullptr, slot.name,
              ": this kernel cannot be called with boxed values");
  kernel.boxing->call_from_stack(kernel, keys, stack);
}

void throw_stack_size(const Stack& stack, std::size_t expected) {
  OPGEN_CHECK(false, "the kernel takes ", expected, " arguments, but the stack has ", stack.size());
  __builtin_unreachable();
}

}  // namespace detail

namespace {

inline void run_boxed(const OperatorSlot& slot, DispatchKeySet keys, Stack& stack) {
  // If the slot has an address, the kernel is unboxed.
  const DispatchTable* table = slot.table.load_acquire();
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

// Inlined, so that its caller, which catches errors, is the only frame above the kernel.
OPGEN_ALWAYS_INLINE void call_entry(OperatorEntry& entry, Stack& stack) {
  std::int64_t known = entry.argument_count.load_acquire();
  while (OPGEN_UNLIKELY(known < 0)) {
    static_cast<void>(OperatorHandle(&entry).schema());  // parses it, or throws
    known = entry.argument_count.load_acquire();
  }
  const std::size_t count = static_cast<std::size_t>(known);
  if (OPGEN_UNLIKELY(stack.size() < count)) detail::throw_stack_size(stack, count);
  std::uint64_t bits = 0;
  const IValue* end = stack.data() + stack.size();
  for (const IValue* value = end - count; value != end; ++value) {
    const TensorImpl* tensor = value->tensor_impl();
    bits |= OPGEN_LIKELY(tensor != nullptr) ? tensor->key_set().raw_repr() : value->key_bits();
  }
  run_boxed(entry.own, detail::with_local_keys(bits), stack);
}

}  // namespace

void OperatorHandle::call_boxed(Stack& stack) const {
  try {
    call_entry(*entry_, stack);
  } catch (Error& error) {
    detail::rethrow_from(entry_->own, error);
  }
}

void OperatorHandle::redispatch_boxed(DispatchKeySet keys, Stack& stack) const {
  run_boxed(entry_->own, keys, stack);
}

}  // namespace opgen
