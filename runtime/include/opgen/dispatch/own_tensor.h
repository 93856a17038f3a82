// own_tensor.h: signatures with the class Tensor of a library, which adds methods to the runtime's.
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

}  // namespace opgen::detail
