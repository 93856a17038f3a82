// dispatch.h: dispatch: call a function with the C++ type of a dtype that is known at run time.
//
//   opgen::dispatch<opgen::RealTypes, bool>(self.scalar_type(), "sum", [&]<class scalar_t> {
//     kernel<scalar_t>(iter);
//   });
#pragma once

#include <cstdint>

#include "opgen/core/macros.h"
#include "opgen/core/scalar_type.h"

namespace opgen {

template <class... T>
struct TypeList {};

namespace detail {

// Appends types and the types of lists to the first list.
template <class List, class... T>
struct Joined {
  using type = List;
};
template <class... T, class... U, class... Rest>
struct Joined<TypeList<T...>, TypeList<U...>, Rest...> : Joined<TypeList<T..., U...>, Rest...> {};
template <class... T, class U, class... Rest>
struct Joined<TypeList<T...>, U, Rest...> : Joined<TypeList<T..., U>, Rest...> {};

}  // namespace detail

// A list of types and of lists.
template <class... T>
using TypesOf = typename detail::Joined<TypeList<>, T...>::type;

// The types for which isIntegralType() and so on return true.
using IntegralTypes = TypeList<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using FloatingTypes =
    TypeList<float, double, cpp_type_of<ScalarType::Half>, cpp_type_of<ScalarType::BFloat16>>;
using ComplexTypes =
    TypeList<cpp_type_of<ScalarType::ComplexFloat>, cpp_type_of<ScalarType::ComplexDouble>>;
using RealTypes = TypesOf<IntegralTypes, FloatingTypes>;
using NumberTypes = TypesOf<RealTypes, ComplexTypes>;

namespace detail {

[[noreturn]] OPGEN_API OPGEN_COLD void throw_unsupported_dtype(const char* name, ScalarType dtype);

// SelectedDtypes.h of a selective build specialises it: for other dtypes, no code is generated, and
// check() throws.
template <class Function>
struct SelectedDtypes {
  static constexpr bool has(ScalarType) { return true; }
  static void check(const char*, ScalarType) {}
};

template <class First, class... Rest, class F>
OPGEN_ALWAYS_INLINE decltype(auto) dispatch_among(TypeList<First, Rest...>, ScalarType dtype,
                                                  const char* name, const F& function) {
  constexpr ScalarType first = scalar_type_of<First>;
  if (dtype == first) {
    SelectedDtypes<F>::check(name, dtype);
    if constexpr (SelectedDtypes<F>::has(first)) return function.template operator()<First>();
  }
  if constexpr (sizeof...(Rest) == 0) {
    throw_unsupported_dtype(name, dtype);
  } else {
    return dispatch_among(TypeList<Rest...>(), dtype, name, function);
  }
}

}  // namespace detail

// Returns what `function` returns; every instance must return the same type. `T` are types of
// elements, lists of them, or both. Throws NotImplementedError, with `name`, for other dtypes.
template <class... T, class F>
OPGEN_ALWAYS_INLINE decltype(auto) dispatch(ScalarType dtype, const char* name, const F& function) {
  return detail::dispatch_among(TypesOf<T...>(), dtype, name, function);
}

}  // namespace opgen
