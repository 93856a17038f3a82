// own_tensor.h: arguments and signatures with the class Tensor of a library, which adds methods to
// the runtime's.
#pragma once

#include <type_traits>

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

// A type, or a signature, with `T` instead of Tensor or a class that derives from it: with a
// library's class, or with the runtime's.
template <class T, class Type>
struct WithTensor {
  using type = Type;
};
template <class T, class U>
requires std::is_base_of_v<Tensor, U>
struct WithTensor<T, U> {
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

// Returns a tensor as a `T`, a list of tensors as one of `T`, and any other argument itself.
template <class T, class A>
[[nodiscard]] OPGEN_ALWAYS_INLINE constexpr decltype(auto) passed(A&& argument) noexcept {
  if constexpr (std::is_same_v<std::remove_cvref_t<A>, Tensor>) {
    static_assert(sizeof(T) == sizeof(Tensor) && std::is_base_of_v<Tensor, T>);
    using Given = std::remove_reference_t<A>;
    return static_cast<std::conditional_t<std::is_const_v<Given>, const T&, T&>>(argument);
  } else if constexpr (std::is_same_v<std::remove_cvref_t<A>, ArrayRef<Tensor>>) {
    return ArrayRef<T>(static_cast<const T*>(argument.data()), argument.size());
  } else {
    return static_cast<A>(argument);
  }
}

}  // namespace opgen::detail
