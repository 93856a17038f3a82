// boxing.h: boxing<Signature>, which calls an unboxed kernel from a stack, and a boxed kernel with
// C++ arguments.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/registration/ivalue.h"
#include "opgen/registration/tracked_call.h"
#include "opgen/registration/types.h"

namespace opgen::detail {

template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};

// Passes a tensor on the stack to a kernel as a const reference, without a new share: the stack
// owns the tensor until the kernel returns.
class BorrowedTensor {
 public:
  explicit BorrowedTensor(const IValue& value)
      : tensor_(OPGEN_LIKELY(value.isTensor())
                    ? TensorBase::adopt(const_cast<TensorImpl*>(value.tensor_impl()))
                    : value.toTensor()) {
  }  // None becomes an undefined tensor; anything else throws
  BorrowedTensor(BorrowedTensor&&) noexcept = default;
  BorrowedTensor& operator=(BorrowedTensor&&) = delete;
  ~BorrowedTensor() { static_cast<void>(tensor_.unsafeReleaseTensorImpl()); }
  [[nodiscard]] const Tensor& get() const noexcept { return tensor_; }

 private:
  Tensor tensor_;
};

// The type that owns an argument during the call: the type itself, or an owning type for types that
// borrow.
template <class T>
struct OwnerOf {
  using type = T;
};
template <class P>
struct OwnerOfParameter : OwnerOf<std::remove_cvref_t<P>> {};
template <>
struct OwnerOfParameter<const Tensor&> {
  using type = BorrowedTensor;
};
template <class T>
struct OwnerOf<ArrayRef<T>> {
  using type = SmallVector<T, 4>;
};
template <class T>
struct OwnerOf<OptionalArrayRef<T>> {
  using type = std::optional<SmallVector<T, 4>>;
};
template <class T>
struct OwnerOf<std::optional<ArrayRef<T>>> {
  using type = std::optional<SmallVector<T, 4>>;
};

// Converts a boxed value to T.
template <class T>
struct Unbox {
  static T from(const IValue& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value.toBool();
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(value.toInt());
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(value.toDouble());
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(value.toInt());
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      return value.toStringView();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return T(value.toStringView());  // T may be std::string, whose header only users of that type
                                       // include
    } else if constexpr (std::is_same_v<T, Scalar>) {
      return value.toScalar();
    } else if constexpr (std::is_same_v<T, complex<double>>) {
      return value.toComplexDouble();
    } else if constexpr (std::is_same_v<T, Device>) {
      return value.toDevice();
    } else if constexpr (std::is_same_v<T, Stream>) {
      return value.toStream();
    } else if constexpr (std::is_same_v<T, Generator>) {
      return value.toGenerator();
    } else if constexpr (std::is_same_v<T, Storage>) {
      return value.toStorage();
    } else if constexpr (std::is_same_v<T, IValue>) {
      return value;
    } else {
      static_assert(std::is_base_of_v<TensorBase, T>,
                    "no schema type corresponds to this C++ type");
      return T(value.toTensor());
    }
  }
};
template <class T>
struct Unbox<std::optional<T>> {
  static std::optional<T> from(const IValue& value) {
    if (value.isNone()) return std::nullopt;
    return Unbox<T>::from(value);
  }
};
template <class Items>
struct UnboxItems {
  static Items from(const IValue& value) {
    Items result;
    result.reserve(value.toList().size());
    for (const IValue& item : value.toList()) {
      result.push_back(Unbox<typename Items::value_type>::from(item));
    }
    return result;
  }
};
template <class T, std::size_t N>
struct Unbox<SmallVector<T, N>> : UnboxItems<SmallVector<T, N>> {};
template <class T>
struct Unbox<std::vector<T>> : UnboxItems<std::vector<T>> {};
template <class T>
struct Unbox<List<T>> : UnboxItems<List<T>> {};
template <class T, std::size_t N>
struct Unbox<std::array<T, N>> {
  static std::array<T, N> from(const IValue& value) {
    const std::vector<IValue>& items = value.toList();
    OPGEN_CHECK_TYPE(items.size() == N, "expected a list of ", N, " values, got ", items.size());
    std::array<T, N> result;
    for (std::size_t i = 0; i < N; ++i) result[i] = Unbox<T>::from(items[i]);
    return result;
  }
};

[[noreturn]] OPGEN_API OPGEN_COLD void throw_tuple_size(std::size_t expected, std::size_t got);

template <class... T>
struct Unbox<std::tuple<T...>> {
  static std::tuple<T...> from(const IValue& value) {
    const std::vector<IValue>& items = value.toTuple();
    if (items.size() != sizeof...(T)) throw_tuple_size(sizeof...(T), items.size());
    const auto unbox = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>(Unbox<T>::from(items[I])...);
    };
    return unbox(std::index_sequence_for<T...>());
  }
};
template <class K, class V>
struct Unbox<Dict<K, V>> {
  static Dict<K, V> from(const IValue& value) {
    const std::vector<IValue>& items = value.toDict();
    Dict<K, V> result;
    result.reserve(items.size() / 2);
    for (std::size_t i = 0; i < items.size(); i += 2) {
      result.insert(Unbox<K>::from(items[i]), Unbox<V>::from(items[i + 1]));
    }
    return result;
  }
};

template <>
struct Unbox<BorrowedTensor> {
  static BorrowedTensor from(const IValue& value) { return BorrowedTensor(value); }
};

// Converts a T to a boxed value.
template <class T>
IValue box(const T& value) {
  if constexpr (std::is_same_v<T, IValue>) {
    return value;
  } else if constexpr (std::is_base_of_v<TensorBase, T>) {
    return IValue(static_cast<const TensorBase&>(value));
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return IValue(std::string_view(value));
  } else if constexpr (requires { value.has_value(); }) {
    if (!value.has_value()) return IValue();
    return box(*value);
  } else if constexpr (IsTuple<T>::value) {
    std::vector<IValue> items;
    items.reserve(std::tuple_size_v<T>);
    std::apply([&](const auto&... item) { (items.push_back(box(item)), ...); }, value);
    return IValue::tuple(std::move(items));
  } else if constexpr (requires { typename T::mapped_type; }) {
    std::vector<IValue> items;
    items.reserve(2 * value.size());
    for (const auto& entry : value) {
      items.push_back(box(entry.key()));
      items.push_back(box(entry.value()));
    }
    return IValue::dict(std::move(items));
  } else if constexpr (requires {
                         value.begin();
                         value.size();
                       }) {
    std::vector<IValue> items;
    items.reserve(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      items.push_back(box<typename T::value_type>(value[i]));
    }
    return IValue(std::move(items));
  } else {
    return IValue(value);
  }
}

// Moves a result into a boxed value.
template <class T>
requires std::is_base_of_v<TensorBase, T> IValue box(T&& value) {
  return IValue(static_cast<TensorBase&&>(value));
}

// Returns the owner as the parameter type P.
template <class P, class Owner>
decltype(auto) as_parameter(Owner& owner) {
  using T = std::remove_cvref_t<P>;
  if constexpr (std::is_same_v<Owner, BorrowedTensor>) {
    return owner.get();
  } else if constexpr (std::is_same_v<T, Owner>) {
    if constexpr (std::is_lvalue_reference_v<P>) {
      return static_cast<P>(owner);
    } else {
      return static_cast<T&&>(owner);
    }
  } else {
    return T(owner);
  }
}

// Converts result `i`. A reference is looked up among the arguments.
template <class R, class Find>
R take_result(const IValue& value, const Find& find, std::size_t i) {
  if constexpr (std::is_lvalue_reference_v<R>) {
    return *find(value, i);
  } else {
    return Unbox<R>::from(value);
  }
}

// Converts the last `count` values of the stack to R.
template <class R>
struct Results {
  static constexpr std::size_t count = 1;
  template <class Find>
  static R take(IValue* values, const Find& find) {
    return take_result<R>(values[0], find, 0);
  }
  static void put(Stack& stack, R&& result) { stack.add(box(std::forward<R>(result))); }
};
template <>
struct Results<void> {
  static constexpr std::size_t count = 0;
};
template <class... T>
struct Results<std::tuple<T...>> {
  static constexpr std::size_t count = sizeof...(T);
  template <class Find>
  static std::tuple<T...> take(IValue* values, const Find& find) {
    return take_each(values, find, std::index_sequence_for<T...>());
  }
  static void put(Stack& stack, const std::tuple<T...>& results) {
    std::apply([&](const auto&... result) { (stack.add(box(result)), ...); }, results);
  }

 private:
  template <class Find, std::size_t... I>
  static std::tuple<T...> take_each(IValue* values, const Find& find, std::index_sequence<I...>) {
    return std::tuple<T...>(take_result<T>(values[I], find, I)...);
  }
};

// The tensor arguments taken by reference, any of which a boxed kernel may return.
template <class P, class T>
void note_reference(T& argument, Tensor** references, std::size_t& count) {
  if constexpr (std::is_same_v<std::remove_cvref_t<P>, Tensor> && std::is_lvalue_reference_v<P>) {
    references[count++] = const_cast<Tensor*>(&argument);
  }
}

OPGEN_API void check_result_count(const OperatorSlot& slot, const Stack& stack,
                                  std::size_t expected);

// Hidden, so that each library has its own copy and the loader does not look up 25 long symbols.
template <class Signature>
struct BoxingOf;
template <class R, class... A>
struct OPGEN_HIDDEN BoxingOf<R(A...)> {
  static void call_from_stack(const KernelFunction& kernel, DispatchKeySet keys, Stack& stack) {
    if (OPGEN_UNLIKELY(stack.size() < sizeof...(A))) throw_stack_size(stack, sizeof...(A));
    call_with(kernel, keys, stack, std::index_sequence_for<A...>());
  }

  static R slow(DispatchKeySet keys, A... arguments, const OperatorSlot& slot, void* keyed) {
    if (OPGEN_LIKELY(keyed != nullptr)) {
      return reinterpret_cast<R (*)(DispatchKeySet, A...)>(keyed)(keys,
                                                                  std::forward<A>(arguments)...);
    }
    return search(slot, keys, std::forward<A>(arguments)...);
  }

 private:
  OPGEN_ALWAYS_INLINE static R call_unboxed(const KernelFunction& kernel, DispatchKeySet keys,
                                            A&&... arguments) {
    if (kernel.kind == KernelFunction::Kind::UnboxedWithKeys) {
      return reinterpret_cast<R (*)(DispatchKeySet, A...)>(kernel.function)(
          keys, std::forward<A>(arguments)...);
    }
    if (kernel.kind == KernelFunction::Kind::Functor) {
      return reinterpret_cast<R (*)(void*, DispatchKeySet, A...)>(kernel.function)(
          kernel.context, keys, std::forward<A>(arguments)...);
    }
    return reinterpret_cast<R (*)(A...)>(kernel.function)(std::forward<A>(arguments)...);
  }

  OPGEN_NOINLINE static R search(const OperatorSlot& slot, DispatchKeySet keys, A... arguments) {
    const KernelFunction& kernel = find_kernel(slot, keys);
    if (kernel.is_unboxed()) return call_unboxed(kernel, keys, std::forward<A>(arguments)...);
    if constexpr ((false || ... || HoldsTensors<std::remove_cvref_t<A>>::value)) {
      if (OPGEN_UNLIKELY(kernel.only_tracked)) {
        const TensorSpan spans[] = {tensors_in(arguments)...};
        if (!tracking_hooks.load_acquire()->needs_recording(spans, sizeof...(A))) {
          return search(slot, keys & after_autograd_keyset, std::forward<A>(arguments)...);
        }
      }
    }
    if constexpr (kMayTrack<R, A...>) {
      if (kernel.tracks) return call_tracked(slot, kernel, keys, arguments...);
    }
    return call_boxed(slot, kernel, keys, arguments...);
  }

  // Makes an unboxed call and does what the boxed kernel for ADInplaceOrView does before and after
  // it.
  OPGEN_NOINLINE static R call_tracked(const OperatorSlot& slot, const KernelFunction& kernel,
                                       DispatchKeySet keys,
                                       std::remove_reference_t<A>&... arguments) {
    const TensorSpan spans[] = {tensors_in(arguments)...};
    const TrackingHooks& hooks = *tracking_hooks.load_acquire();
    if (!hooks.before(slot, kernel, spans)) {
      return call_boxed(slot, kernel, keys, arguments...);
    }
    const auto run = [&]() -> R {
      AutoDispatchBelowADInplaceOrView below;
      return search(slot, keys & after_ADInplaceOrView_keyset, static_cast<A>(arguments)...);
    };
    if constexpr (std::is_void_v<R>) {
      run();
      hooks.after(kernel, spans, nullptr);
    } else {
      R result = run();
      with_result_spans(result,
                        [&](const TensorSpan* results) { hooks.after(kernel, spans, results); });
      return result;
    }
  }

  template <std::size_t... I>
  static void call_with(const KernelFunction& kernel, DispatchKeySet keys, Stack& stack,
                        std::index_sequence<I...>) {
    [[maybe_unused]] const IValue* first = stack.data() + (stack.size() - sizeof...(A));
    // Braces ensure the order from the first argument to the last.
    std::tuple<typename OwnerOfParameter<A>::type...> owners{
        Unbox<typename OwnerOfParameter<A>::type>::from(first[I])...};
    if constexpr (std::is_void_v<R>) {
      call_unboxed(kernel, keys, as_parameter<A>(std::get<I>(owners))...);
      stack.drop(sizeof...(A));
    } else {
      R result = call_unboxed(kernel, keys, as_parameter<A>(std::get<I>(owners))...);
      stack.drop(sizeof...(A));
      Results<R>::put(stack, std::forward<R>(result));
    }
  }

  static R call_boxed(const OperatorSlot& slot, const KernelFunction& kernel, DispatchKeySet keys,
                      std::remove_reference_t<A>&... arguments) {
    Stack stack;
    stack.reserve(sizeof...(A) + Results<R>::count);
    (stack.add(box<std::remove_cvref_t<A>>(arguments)), ...);
    call_boxed_kernel(slot, kernel, keys, stack);
    check_result_count(slot, stack, Results<R>::count);
    if constexpr (!std::is_void_v<R>) {
      Tensor* references[sizeof...(A) + 1];
      std::size_t count = 0;
      (note_reference<A>(arguments, references, count), ...);
      // Find the argument that is the returned tensor; otherwise take the out arguments in order.
      auto find = [&](const IValue& value, std::size_t i) -> Tensor* {
        const TensorImpl* impl = value.tensor_impl();
        std::size_t expected = count >= Results<R>::count ? count - Results<R>::count + i : 0;
        if (expected < count && references[expected]->unsafeGetTensorImpl() == impl) {
          return references[expected];
        }
        for (std::size_t j = 0; j < count; ++j) {
          if (references[j]->unsafeGetTensorImpl() == impl) return references[j];
        }
        OPGEN_INTERNAL_ASSERT(expected < count, slot.name, " returns a reference but takes none");
        return references[expected];
      };
      return Results<R>::take(stack.data(), find);
    }
  }
};

}  // namespace opgen::detail

namespace opgen {

template <class Signature>
inline constexpr TypedBoxing<Signature> boxing{
    {&typeid(Signature), &detail::BoxingOf<Signature>::call_from_stack},
    &detail::BoxingOf<Signature>::slow};

}  // namespace opgen
