// operator.h: Operator, the statically typed handle of a generated operator: call and redispatch.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "opgen/core/atomic.h"
#include "opgen/core/error.h"
#include "opgen/core/local_keys.h"
#include "opgen/device/generator.h"
#include "opgen/dispatch/dispatch_table.h"
#include "opgen/dispatch/own_tensor.h"

namespace opgen {

template <class K, class V>
class Dict;
class IValue;
template <class T>
class List;
class OperatorEntry;
struct KernelFunction;
struct OperatorSlot;
struct Stack;

// Converts between the C++ arguments of a signature and boxed values. All operators with the
// signature share it. Defined in boxing.h.
struct Boxing {
  const std::type_info* signature;
  // Calls an unboxed kernel with arguments from the stack, and replaces them with the results.
  void (*call_from_stack)(const KernelFunction& kernel, DispatchKeySet keys, Stack& stack);
};
template <class Signature>
struct TypedBoxing;
template <class R, class... A>
struct TypedBoxing<R(A...)> : Boxing {
  // Calls the kernel if the fast path cannot. `keyed` is a kernel that takes the keys; if it is
  // null, the kernel is boxed or not computed yet. With this order of parameters, the keys and
  // arguments are already in the registers that `keyed` expects.
  R (*slow)(DispatchKeySet keys, A... arguments, const OperatorSlot& slot, void* keyed);
};

// One operator of a library, constant-initialised. The dispatcher sets the table.
struct OperatorSlot {
  const char* name;  // "aten::add"
  const char* overload_name;
  const Boxing* boxing;
  Atomic<const DispatchTable*> table = &detail::unresolved_table.table;
  Atomic<OperatorEntry*> entry = nullptr;
};

namespace detail {

// Rethrows an error that a call of the operator throws, after adding the operator to its text.
// Where the call is, exceptions cost nothing until one is thrown.
[[noreturn]] OPGEN_API OPGEN_COLD void rethrow_from(const OperatorSlot& slot, Error& error);

template <class T>
struct TensorsOf : std::false_type {};  // T contains no tensors
template <class T>
struct TensorsOf<std::optional<T>> : TensorsOf<T> {};
template <class T>
struct TensorsOf<ArrayRef<T>> : TensorsOf<T> {};
template <class T>
struct TensorsOf<List<T>> : TensorsOf<T> {};
template <class... T>
struct TensorsOf<std::tuple<T...>> : std::bool_constant<(false || ... || TensorsOf<T>::value)> {};
template <class K, class V>
struct TensorsOf<Dict<K, V>> : std::bool_constant<TensorsOf<K>::value || TensorsOf<V>::value> {};
template <>
struct TensorsOf<Tensor> : std::true_type {};
template <class T>
requires std::is_base_of_v<Tensor, T>
struct TensorsOf<T> : std::true_type {
};
template <>
struct TensorsOf<Generator> : std::true_type {};
template <>
struct TensorsOf<IValue> : std::true_type {};

[[nodiscard]] OPGEN_API std::uint64_t keys_of_any(const IValue& value) noexcept;

// Returns the keys of a tensor, a generator, or the members of a container; none for other types.
template <class T>
OPGEN_ALWAYS_INLINE std::uint64_t keys_of(const T& value) noexcept {
  if constexpr (!TensorsOf<T>::value) {
    return 0;
  } else if constexpr (std::is_same_v<T, IValue>) {
    return keys_of_any(value);
  } else if constexpr (requires { value.key_set(); }) {
    return value.key_set().raw_repr();
  } else if constexpr (requires { value.has_value(); }) {
    return value.has_value() ? keys_of(*value) : 0;
  } else {
    std::uint64_t keys = 0;
    if constexpr (requires { std::tuple_size<T>::value; }) {
      std::apply([&](const auto&... element) { keys = (keys | ... | keys_of(element)); }, value);
    } else {
      for (const auto& element : value) {
        if constexpr (requires { element.key(); }) {
          keys |= keys_of(element.key()) | keys_of(element.value());
        } else {
          keys |= keys_of(element);
        }
      }
    }
    return keys;
  }
}

template <class R, class... A>
OPGEN_ALWAYS_INLINE R dispatch(const OperatorSlot& slot, DispatchKeySet keys, A... arguments) {
  const DispatchTable* table = slot.table.load_acquire();
  FoundKernel found = look_up(*table, keys);
  const KernelAddress* address = table->addresses() + found.index;
  if (OPGEN_LIKELY(address->direct != nullptr)) {
    return reinterpret_cast<R (*)(A...)>(address->direct)(std::forward<A>(arguments)...);
  }
  // Without an address, look up the kernel again, because registrations may have changed.
  void* keyed = address->keyed;
  std::uint64_t left = keyed != nullptr ? found.keys.raw_repr() : keys.raw_repr();
  return static_cast<const TypedBoxing<R(A...)>*>(slot.boxing)
      ->slow({DispatchKeySet::RAW, left}, std::forward<A>(arguments)..., slot, keyed);
}

template <class R, class... A>
OPGEN_ALWAYS_INLINE R call(const OperatorSlot& slot, A&&... arguments) {
  DispatchKeySet keys = with_local_keys((std::uint64_t(0) | ... | keys_of(arguments)));
  try {
    return dispatch<R, A...>(slot, keys, std::forward<A>(arguments)...);
  } catch (Error& error) {
    rethrow_from(slot, error);
  }
}

}  // namespace detail

// `Derived` has a static OperatorSlot `slot`. Tensors are returned as `T`, the class Tensor of the
// library. Kernels are called as if they returned it, because it only adds methods: converting
// their results would cost a move.
template <class Derived, class Signature, class T = Tensor>
struct Operator;
template <class Derived, class R, class... A, class T>
struct Operator<Derived, R(A...), T> {
  using schema = R(A...);
  using ptr_schema = R (*)(A...);
  using own_schema = typename detail::WithTensor<T, R(A...)>::type;  // of kernels
  using result = typename detail::WithTensor<T, R>::type;

  static result call(A... arguments) {
    return detail::call<result, A...>(Derived::slot, std::forward<A>(arguments)...);
  }
  // Runs the kernel for the highest key in `keys`, whatever those of the arguments and the thread.
  static result redispatch(DispatchKeySet keys, A... arguments) {
    return detail::dispatch<result, A...>(Derived::slot, keys, std::forward<A>(arguments)...);
  }
};

}  // namespace opgen
