// dispatch_macros.h: OPGEN_DISPATCH_*: run a lambda with `scalar_t` being the C++ type of a dtype known at run time.
//
//   OPGEN_DISPATCH_FLOATING(self.scalar_type(), "sqrt", [&] { kernel<scalar_t>(iter); });
//
// Whole families, by what they hold (ints: Byte Char Short Int Long; floats: Float Double; halves: Half BFloat16):
//   OPGEN_DISPATCH_ALL                   all twelve           OPGEN_DISPATCH_ALL_BUT_BOOL    all but Bool
//   OPGEN_DISPATCH_REAL                  ints floats halves   OPGEN_DISPATCH_REAL_AND_BOOL
//   OPGEN_DISPATCH_INTEGRAL              ints                 OPGEN_DISPATCH_INTEGRAL_AND_BOOL
//   OPGEN_DISPATCH_FLOATING              floats halves        OPGEN_DISPATCH_FLOATING_AND_COMPLEX   and complex
//   OPGEN_DISPATCH_COMPLEX               ComplexFloat ComplexDouble
// Bases without halves and Bool, extended by names: OPGEN_DISPATCH_ALL_TYPES_AND2(Half, Bool, dtype, "name", [&] {…}):
//   FLOATING_TYPES  FLOATING_AND_COMPLEX_TYPES  INTEGRAL_TYPES  COMPLEX_TYPES  ALL_TYPES (ints floats)
//   ALL_TYPES_AND_COMPLEX, each plain and with _AND or _AND1, _AND2, _AND3, _AND4
// Any list: OPGEN_DISPATCH(dtype, "name", OPGEN_WRAP([&] {…}), Float, Double, OPGEN_INTEGRAL_DTYPES)
// A dtype outside the list: NotImplementedError with the name and the dtype. All cases must return the same type.
#pragma once

#include "opgen/scalar_type.h"

namespace opgen::detail {

[[noreturn]] OPGEN_API OPGEN_COLD void throw_unsupported_dtype(const char* name, ScalarType dtype);

}  // namespace opgen::detail

#define OPGEN_INTEGRAL_DTYPES Byte, Char, Short, Int, Long
#define OPGEN_FLOATING_DTYPES Float, Double
#define OPGEN_HALF_DTYPES Half, BFloat16
#define OPGEN_COMPLEX_DTYPES ComplexFloat, ComplexDouble

// Protects the commas of an argument.
#define OPGEN_WRAP(...) __VA_ARGS__

// F(body, x) for each further argument x, up to 256 of them.
#define OPGEN_EXPAND_4(...) __VA_ARGS__
#define OPGEN_EXPAND_3(...) OPGEN_EXPAND_4(OPGEN_EXPAND_4(OPGEN_EXPAND_4(__VA_ARGS__)))
#define OPGEN_EXPAND_2(...) OPGEN_EXPAND_3(OPGEN_EXPAND_3(OPGEN_EXPAND_3(__VA_ARGS__)))
#define OPGEN_EXPAND(...) OPGEN_EXPAND_2(OPGEN_EXPAND_2(OPGEN_EXPAND_2(__VA_ARGS__)))
#define OPGEN_PARENS ()
#define OPGEN_FOR_EACH(f, body, ...) \
  __VA_OPT__(OPGEN_EXPAND(OPGEN_FOR_EACH_STEP(f, (body), __VA_ARGS__)))
#define OPGEN_FOR_EACH_STEP(f, body, x, ...) \
  f(body, x) __VA_OPT__(OPGEN_FOR_EACH_AGAIN OPGEN_PARENS(f, body, __VA_ARGS__))
#define OPGEN_FOR_EACH_AGAIN() OPGEN_FOR_EACH_STEP

#define OPGEN_UNWRAP(...) __VA_ARGS__
#define OPGEN_DISPATCH_CASE(body, name)                                              \
  case ::opgen::ScalarType::name: {                                                  \
    using scalar_t [[maybe_unused]] = ::opgen::cpp_type_of<::opgen::ScalarType::name>; \
    return (OPGEN_UNWRAP body)();                                                    \
  }

#define OPGEN_DISPATCH(dtype, name, body, ...)                               \
  [&] {                                                                      \
    const ::opgen::ScalarType opgen_dtype = (dtype);                         \
    switch (opgen_dtype) {                                                   \
      OPGEN_FOR_EACH(OPGEN_DISPATCH_CASE, OPGEN_WRAP(body), __VA_ARGS__)     \
      default:                                                               \
        ::opgen::detail::throw_unsupported_dtype(name, opgen_dtype);         \
    }                                                                        \
  }()

#define OPGEN_DISPATCH_ALL(dtype, name, ...)                                                \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES, Bool,         \
                 OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES, OPGEN_COMPLEX_DTYPES)
#define OPGEN_DISPATCH_ALL_BUT_BOOL(dtype, name, ...)                                       \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES,               \
                 OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES, OPGEN_COMPLEX_DTYPES)
#define OPGEN_DISPATCH_REAL(dtype, name, ...)                                               \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES,               \
                 OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES)
#define OPGEN_DISPATCH_REAL_AND_BOOL(dtype, name, ...)                                      \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES, Bool,         \
                 OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES)
#define OPGEN_DISPATCH_INTEGRAL(dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES)
#define OPGEN_DISPATCH_INTEGRAL_AND_BOOL(dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES, Bool)
#define OPGEN_DISPATCH_FLOATING(dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES)
#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX(dtype, name, ...)                        \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES,        \
                 OPGEN_HALF_DTYPES, OPGEN_COMPLEX_DTYPES)
#define OPGEN_DISPATCH_COMPLEX(dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_COMPLEX_DTYPES)

#define OPGEN_DISPATCH_FLOATING_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES)
#define OPGEN_DISPATCH_FLOATING_TYPES_AND(t1, dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES, t1)
#define OPGEN_DISPATCH_FLOATING_TYPES_AND2(t1, t2, dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES, t1, t2)
#define OPGEN_DISPATCH_FLOATING_TYPES_AND3(t1, t2, t3, dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES, t1, t2, t3)
#define OPGEN_DISPATCH_FLOATING_TYPES_AND_HALF(dtype, name, ...) \
  OPGEN_DISPATCH_FLOATING_TYPES_AND(Half, dtype, name, __VA_ARGS__)

#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES, OPGEN_COMPLEX_DTYPES)
#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(t1, dtype, name, ...)         \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES,        \
                 OPGEN_COMPLEX_DTYPES, t1)
#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(t1, t2, dtype, name, ...)     \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES,        \
                 OPGEN_COMPLEX_DTYPES, t1, t2)
#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(t1, t2, t3, dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_FLOATING_DTYPES,        \
                 OPGEN_COMPLEX_DTYPES, t1, t2, t3)

#define OPGEN_DISPATCH_INTEGRAL_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES)
#define OPGEN_DISPATCH_INTEGRAL_TYPES_AND(t1, dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES, t1)
#define OPGEN_DISPATCH_COMPLEX_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_COMPLEX_DTYPES)
#define OPGEN_DISPATCH_COMPLEX_TYPES_AND(t1, dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_COMPLEX_DTYPES, t1)

#define OPGEN_DISPATCH_ALL_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES, OPGEN_FLOATING_DTYPES)
#define OPGEN_DISPATCH_ALL_TYPES_AND(t1, dtype, name, ...)                           \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES,        \
                 OPGEN_FLOATING_DTYPES, t1)
#define OPGEN_DISPATCH_ALL_TYPES_AND2(t1, t2, dtype, name, ...)                      \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES,        \
                 OPGEN_FLOATING_DTYPES, t1, t2)
#define OPGEN_DISPATCH_ALL_TYPES_AND3(t1, t2, t3, dtype, name, ...)                  \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES,        \
                 OPGEN_FLOATING_DTYPES, t1, t2, t3)

#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX(dtype, name, ...)                       \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES,        \
                 OPGEN_FLOATING_DTYPES, OPGEN_COMPLEX_DTYPES)
#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX_AND1(t1, dtype, name, ...)              \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES,        \
                 OPGEN_FLOATING_DTYPES, OPGEN_COMPLEX_DTYPES, t1)
#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(t1, t2, dtype, name, ...)          \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES,        \
                 OPGEN_FLOATING_DTYPES, OPGEN_COMPLEX_DTYPES, t1, t2)
#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(t1, t2, t3, dtype, name, ...)      \
  OPGEN_DISPATCH(dtype, name, OPGEN_WRAP(__VA_ARGS__), OPGEN_INTEGRAL_DTYPES,        \
                 OPGEN_FLOATING_DTYPES, OPGEN_COMPLEX_DTYPES, t1, t2, t3)
