// kernel_function.h: KernelFunction, an entry of an operator's dispatch table.
#pragma once

#include "opgen/core/ref.h"
#include "opgen/dispatch/operator.h"

namespace opgen {

class OperatorHandle;

// Base class of the objects that IValues share, and of the captures of kernels.
class OPGEN_API HeapValue : public RefCounted {
 public:
  virtual ~HeapValue();
  static void destroy(HeapValue* value) noexcept { delete value; }
};

// Replaces its arguments at the end of the stack with the results.
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
  // Whether this is the boxed kernel for ADInplaceOrView. C++ calls then do its work without a
  // stack (call_tracked in registration/boxing.h).
  bool tracks = false;
  // Whether calls skip this kernel of autograd if no tensor may need a gradient.
  bool only_tracked = false;
  void* function = nullptr;        // for the Unboxed kinds; has the signature of `boxing`
  const Boxing* boxing = nullptr;  // if null, boxed code cannot call it
  BoxedFunction boxed = nullptr;
  void* context = nullptr;  // outlives the registration; for a Functor, its captures

  [[nodiscard]] bool is_unboxed() const noexcept {
    return kind >= Kind::Unboxed && kind <= Kind::Functor;
  }
  [[nodiscard]] static KernelFunction fallthrough() noexcept { return {.kind = Kind::Fallthrough}; }
  [[nodiscard]] static KernelFunction from_boxed(BoxedFunction entry, void* argument) noexcept {
    return {.kind = Kind::Boxed, .boxed = entry, .context = argument};
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
    return {.kind = Kind::Functor, .function = address, .boxing = signature, .context = context};
  }
  [[nodiscard]] static KernelFunction from_unboxed(void* address, bool with_keys,
                                                   const Boxing* signature) noexcept {
    return {.kind = with_keys ? Kind::UnboxedWithKeys : Kind::Unboxed,
            .function = address,
            .boxing = signature};
  }
};

namespace detail {

// Returns the kernel for `keys`, and removes from `keys` those that fall through. Throws
// NotImplementedError if there is none.
[[nodiscard]] OPGEN_API const KernelFunction& find_kernel(const OperatorSlot& slot,
                                                          DispatchKeySet& keys);
OPGEN_API void call_boxed_kernel(const OperatorSlot& slot, const KernelFunction& kernel,
                                 DispatchKeySet keys, Stack& stack);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_stack_size(const Stack& stack, std::size_t expected);

}  // namespace detail
}  // namespace opgen
