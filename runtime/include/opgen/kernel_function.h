// kernel_function.h: KernelFunction, anything that can stand in an operator's dispatch table.
#pragma once

#include "opgen/ivalue.h"
#include "opgen/operator.h"

namespace opgen {

class OperatorHandle;

// Reads its arguments from the end of the stack and leaves the results there instead.
using BoxedFunction = void (*)(const OperatorHandle& op, DispatchKeySet keys, Stack& stack,
                               void* context);
using BoxedKernel = void (*)(const OperatorHandle& op, DispatchKeySet keys, Stack& stack);

struct KernelFunction {
  enum class Kind : std::uint8_t {
    Missing,
    Unboxed,
    UnboxedWithKeys,
    Functor,
    Boxed,
    Fallthrough,
    Ambiguous
  };

  Kind kind = Kind::Missing;
  // Boxed, for ADInplaceOrView: C++ calls go around it without a stack (call_tracked in boxing.h).
  bool tracks = false;
  void* function = nullptr;        // Unboxed…: of the signature that `boxing` is for
  const Boxing* boxing = nullptr;  // null: not callable from boxed code
  BoxedFunction boxed = nullptr;
  void* context = nullptr;  // outlives the registration; of a Functor: what it captured

  [[nodiscard]] static KernelFunction fallthrough() noexcept {
    KernelFunction kernel;
    kernel.kind = Kind::Fallthrough;
    return kernel;
  }
  [[nodiscard]] static KernelFunction from_boxed(BoxedFunction entry, void* argument) noexcept {
    KernelFunction kernel;
    kernel.kind = Kind::Boxed;
    kernel.boxed = entry;
    kernel.context = argument;
    return kernel;
  }
  [[nodiscard]] static KernelFunction from_boxed(BoxedKernel entry) noexcept {
    return from_boxed(
        [](const OperatorHandle& op, DispatchKeySet keys, Stack& stack, void* argument) {
          reinterpret_cast<BoxedKernel>(argument)(op, keys, stack);
        },
        reinterpret_cast<void*>(entry));
  }
  // `address` takes (void* context, DispatchKeySet, A...).
  [[nodiscard]] static KernelFunction from_functor(void* address, void* context,
                                                   const Boxing* signature) noexcept {
    KernelFunction kernel = from_unboxed(address, false, signature);
    kernel.kind = Kind::Functor;
    kernel.context = context;
    return kernel;
  }
  [[nodiscard]] static KernelFunction from_unboxed(void* address, bool with_keys,
                                                   const Boxing* signature) noexcept {
    KernelFunction kernel;
    kernel.kind = with_keys ? Kind::UnboxedWithKeys : Kind::Unboxed;
    kernel.function = address;
    kernel.boxing = signature;
    return kernel;
  }
};

namespace detail {

// The kernel for `keys`, which loses the keys that were passed over. Throws NotImplementedError if
// there is none.
[[nodiscard]] OPGEN_API const KernelFunction& find_kernel(const OperatorSlot& slot,
                                                          DispatchKeySet& keys);
OPGEN_API void call_boxed_kernel(const OperatorSlot& slot, const KernelFunction& kernel,
                                 DispatchKeySet keys, Stack& stack);

}  // namespace detail
}  // namespace opgen
