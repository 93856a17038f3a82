// own_tensor.h: arguments and signatures with the class Tensor of a library, which adds methods to
// the runtime's.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

// A type, or a signature, with `T` instead of Tensor.
template <class T, class Type>
struct WithTensor {
  using type = Type;
};
template <class T>
struct WithTensor<T, Tensor> {
  using type = T;
};
template <class T, class U>
struct WithTensor<T, const U> {
  using type = const typename WithTensor<T, U>::type;
};
template <class T, class U>
struct WithTensor<T, U&> {
  using type = typename WithTensor<T, U>::type&;
};
template <class T, template <class...> class Template, class... U>
struct WithTensor<T, Template<U...>> {
  using type = Template<typename WithTensor<T, U>::type...>;
};
template <class T, class R, class... A>
struct WithTensor<T, R(A...)> {
  using type = typename WithTensor<T, R>::type(typename WithTensor<T, A>::type...);
};

template <class Type>
struct IsTensorArray : std::false_type {};
template <>
struct IsTensorArray<ArrayRef<Tensor>> : std::true_type {};
template <>
struct IsTensorArray<ArrayRef<std::optional<Tensor>>> : std::true_type {};

// A type, or a signature, with Tensor instead of the class of a library.
template <class Type>
struct OfRuntime {
  using type = Type;
};
template <class T>
requires std::is_base_of_v<Tensor, T>
struct OfRuntime<T> {
  using type = Tensor;
};
template <class U>
struct OfRuntime<const U> {
  using type = const typename OfRuntime<U>::type;
};
template <class U>
struct OfRuntime<U&> {
  using type = typename OfRuntime<U>::type&;
};
template <template <class...> class Template, class... U>
struct OfRuntime<Template<U...>> {
  using type = Template<typename OfRuntime<U>::type...>;
};
template <class R, class... A>
struct OfRuntime<R(A...)> {
  using type = typename OfRuntime<R>::type(typename OfRuntime<A>::type...);
};

// Returns a tensor as a `T`, a list of tensors as one of `T`, and any other argument itself.
template <class T, class A>
[[nodiscard]] OPGEN_ALWAYS_INLINE constexpr decltype(auto) passed(A&& argument) noexcept {
  if constexpr (std::is_same_v<std::remove_cvref_t<A>, Tensor>) {
    static_assert(sizeof(T) == sizeof(Tensor) && std::is_base_of_v<Tensor, T>);
    using Given = std::remove_reference_t<A>;
    return static_cast<std::conditional_t<std::is_const_v<Given>, const T&, T&>>(argument);
  } else if constexpr (IsTensorArray<std::remove_cvref_t<A>>::value) {
    using List = typename WithTensor<T, std::remove_cvref_t<A>>::type;
    using Element = typename List::value_type;
    return List(static_cast<const Element*>(static_cast<const void*>(argument.data())),
                argument.size());
  } else {
    return static_cast<A>(argument);
  }
}

}  // namespace opgen::detail
