// dispatch_macros.h: OPGEN_DISPATCH_*: opgen::dispatch in the spelling of ATen's macros, for
// kernels that are written with them, and for those whose lambdas contain lambdas of CUDA's
// devices, which may not be in a templated one.
//
//   OPGEN_DISPATCH_FLOATING(self.scalar_type(), "sqrt", [&] { kernel<scalar_t>(iter); });
//
// Whole families (ints: Byte Char Short Int Long; floats: Float Double; halves: Half BFloat16):
//   OPGEN_DISPATCH_ALL                    all twelve
//   OPGEN_DISPATCH_ALL_BUT_BOOL
//   OPGEN_DISPATCH_REAL                   ints floats halves
//   OPGEN_DISPATCH_REAL_AND_BOOL
//   OPGEN_DISPATCH_INTEGRAL               ints
//   OPGEN_DISPATCH_INTEGRAL_AND_BOOL
//   OPGEN_DISPATCH_FLOATING               floats halves
//   OPGEN_DISPATCH_FLOATING_AND_COMPLEX   floats halves ComplexFloat ComplexDouble
//   OPGEN_DISPATCH_COMPLEX                ComplexFloat ComplexDouble
// Bases without halves and Bool, extended by names:
//   OPGEN_DISPATCH_ALL_TYPES_AND2(Half, Bool, dtype, "name", [&] {…});
//   FLOATING_TYPES, FLOATING_AND_COMPLEX_TYPES, INTEGRAL_TYPES, COMPLEX_TYPES, ALL_TYPES (ints
//   floats), ALL_TYPES_AND_COMPLEX, each plain and with _AND or _AND1, _AND2, _AND3, _AND4
// Any list of up to sixteen dtypes:
//   OPGEN_DISPATCH(dtype, "name", OPGEN_WRAP([&] {…}), Float, Double, OPGEN_INTEGRAL_DTYPES)
// For any other dtype they throw NotImplementedError with the name and the dtype. All cases must
// return the same type, and the body is compiled for each: `if constexpr` discards nothing outside
// a template.
#pragma once

#include "opgen/cpu/dispatch.h"

#define OPGEN_INTEGRAL_DTYPES Byte, Char, Short, Int, Long
#define OPGEN_FLOATING_DTYPES Float, Double
#define OPGEN_HALF_DTYPES Half, BFloat16
#define OPGEN_COMPLEX_DTYPES ComplexFloat, ComplexDouble

// Passes an argument that contains commas.
#define OPGEN_WRAP(...) __VA_ARGS__

// Hooks before a dispatch and before each of its cases; SelectedDtypes.h of a selective build
// redefines them.
#define OPGEN_DISPATCH_TAG(name)
#define OPGEN_DISPATCH_FILTER(dtype)

// Cases are written out, not expanded recursively, so that the compiler's notes about an error in a
// body mention few macros.
#define OPGEN_DISPATCH_CASE(name, ...)                                                   \
  case ::opgen::ScalarType::name: {                                                      \
    OPGEN_DISPATCH_FILTER(::opgen::ScalarType::name) {                                   \
      using scalar_t [[maybe_unused]] = ::opgen::cpp_type_of<::opgen::ScalarType::name>; \
      return (__VA_ARGS__)();                                                            \
    }                                                                                    \
  }
#define OPGEN_CASES_INTEGRAL(...)         \
  OPGEN_DISPATCH_CASE(Byte, __VA_ARGS__)  \
  OPGEN_DISPATCH_CASE(Char, __VA_ARGS__)  \
  OPGEN_DISPATCH_CASE(Short, __VA_ARGS__) \
  OPGEN_DISPATCH_CASE(Int, __VA_ARGS__)   \
  OPGEN_DISPATCH_CASE(Long, __VA_ARGS__)
#define OPGEN_CASES_FLOATING(...) \
  OPGEN_DISPATCH_CASE(Float, __VA_ARGS__) OPGEN_DISPATCH_CASE(Double, __VA_ARGS__)
#define OPGEN_CASES_HALF(...) \
  OPGEN_DISPATCH_CASE(Half, __VA_ARGS__) OPGEN_DISPATCH_CASE(BFloat16, __VA_ARGS__)
#define OPGEN_CASES_COMPLEX(...) \
  OPGEN_DISPATCH_CASE(ComplexFloat, __VA_ARGS__) OPGEN_DISPATCH_CASE(ComplexDouble, __VA_ARGS__)

#define OPGEN_DISPATCH_SWITCH(dtype, name, ...)                      \
  [&] {                                                              \
    OPGEN_DISPATCH_TAG(name)                                         \
    const ::opgen::ScalarType opgen_dtype = (dtype);                 \
    switch (opgen_dtype) {                                           \
      __VA_ARGS__                                                    \
      default:                                                       \
        ::opgen::detail::throw_unsupported_dtype(name, opgen_dtype); \
    }                                                                \
  }()

// A list of up to sixteen dtypes.
#define OPGEN_UNWRAP(...) __VA_ARGS__
#define OPGEN_CASES_1(body, t) OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body)
#define OPGEN_CASES_2(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_1(body, __VA_ARGS__)
#define OPGEN_CASES_3(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_2(body, __VA_ARGS__)
#define OPGEN_CASES_4(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_3(body, __VA_ARGS__)
#define OPGEN_CASES_5(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_4(body, __VA_ARGS__)
#define OPGEN_CASES_6(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_5(body, __VA_ARGS__)
#define OPGEN_CASES_7(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_6(body, __VA_ARGS__)
#define OPGEN_CASES_8(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_7(body, __VA_ARGS__)
#define OPGEN_CASES_9(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_8(body, __VA_ARGS__)
#define OPGEN_CASES_10(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_9(body, __VA_ARGS__)
#define OPGEN_CASES_11(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_10(body, __VA_ARGS__)
#define OPGEN_CASES_12(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_11(body, __VA_ARGS__)
#define OPGEN_CASES_13(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_12(body, __VA_ARGS__)
#define OPGEN_CASES_14(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_13(body, __VA_ARGS__)
#define OPGEN_CASES_15(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_14(body, __VA_ARGS__)
#define OPGEN_CASES_16(body, t, ...) \
  OPGEN_DISPATCH_CASE(t, OPGEN_UNWRAP body) OPGEN_CASES_15(body, __VA_ARGS__)
#define OPGEN_COUNT(...) \
  OPGEN_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
#define OPGEN_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) count
#define OPGEN_CASES(body, ...) \
  OPGEN_CONCAT(OPGEN_CASES_, OPGEN_COUNT(__VA_ARGS__))(body, __VA_ARGS__)
#define OPGEN_DISPATCH(dtype, name, body, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name, OPGEN_CASES((body), __VA_ARGS__))

#define OPGEN_DISPATCH_ALL(dtype, name, ...)                                                \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                        \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__) \
                            OPGEN_CASES_HALF(__VA_ARGS__) OPGEN_CASES_COMPLEX(__VA_ARGS__)  \
                                OPGEN_DISPATCH_CASE(Bool, __VA_ARGS__))
#define OPGEN_DISPATCH_ALL_BUT_BOOL(dtype, name, ...)                                       \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                        \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__) \
                            OPGEN_CASES_HALF(__VA_ARGS__) OPGEN_CASES_COMPLEX(__VA_ARGS__))
#define OPGEN_DISPATCH_REAL(dtype, name, ...)                                               \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                        \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__) \
                            OPGEN_CASES_HALF(__VA_ARGS__))
#define OPGEN_DISPATCH_REAL_AND_BOOL(dtype, name, ...)                                      \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                        \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__) \
                            OPGEN_CASES_HALF(__VA_ARGS__) OPGEN_DISPATCH_CASE(Bool, __VA_ARGS__))
#define OPGEN_DISPATCH_INTEGRAL(dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name, OPGEN_CASES_INTEGRAL(__VA_ARGS__))
#define OPGEN_DISPATCH_INTEGRAL_AND_BOOL(dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name,                       \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_DISPATCH_CASE(Bool, __VA_ARGS__))
#define OPGEN_DISPATCH_FLOATING(dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name,              \
                        OPGEN_CASES_FLOATING(__VA_ARGS__) OPGEN_CASES_HALF(__VA_ARGS__))
#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX(dtype, name, ...)                           \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                    \
                        OPGEN_CASES_FLOATING(__VA_ARGS__) OPGEN_CASES_HALF(__VA_ARGS__) \
                            OPGEN_CASES_COMPLEX(__VA_ARGS__))
#define OPGEN_DISPATCH_COMPLEX(dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name, OPGEN_CASES_COMPLEX(__VA_ARGS__))

#define OPGEN_DISPATCH_FLOATING_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name, OPGEN_CASES_FLOATING(__VA_ARGS__))
#define OPGEN_DISPATCH_FLOATING_TYPES_AND(t1, dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name,                            \
                        OPGEN_CASES_FLOATING(__VA_ARGS__) OPGEN_DISPATCH_CASE(t1, __VA_ARGS__))
#define OPGEN_DISPATCH_FLOATING_TYPES_AND2(t1, t2, dtype, name, ...)                           \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                           \
                        OPGEN_CASES_FLOATING(__VA_ARGS__) OPGEN_DISPATCH_CASE(t1, __VA_ARGS__) \
                            OPGEN_DISPATCH_CASE(t2, __VA_ARGS__))
#define OPGEN_DISPATCH_FLOATING_TYPES_AND3(t1, t2, t3, dtype, name, ...)                       \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                           \
                        OPGEN_CASES_FLOATING(__VA_ARGS__) OPGEN_DISPATCH_CASE(t1, __VA_ARGS__) \
                            OPGEN_DISPATCH_CASE(t2, __VA_ARGS__)                               \
                                OPGEN_DISPATCH_CASE(t3, __VA_ARGS__))

#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                \
                        OPGEN_CASES_FLOATING(__VA_ARGS__) OPGEN_CASES_COMPLEX(__VA_ARGS__))
#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(t1, dtype, name, ...)               \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                       \
                        OPGEN_CASES_FLOATING(__VA_ARGS__) OPGEN_CASES_COMPLEX(__VA_ARGS__) \
                            OPGEN_DISPATCH_CASE(t1, __VA_ARGS__))
#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(t1, t2, dtype, name, ...)           \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                       \
                        OPGEN_CASES_FLOATING(__VA_ARGS__) OPGEN_CASES_COMPLEX(__VA_ARGS__) \
                            OPGEN_DISPATCH_CASE(t1, __VA_ARGS__)                           \
                                OPGEN_DISPATCH_CASE(t2, __VA_ARGS__))
#define OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(t1, t2, t3, dtype, name, ...)       \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                       \
                        OPGEN_CASES_FLOATING(__VA_ARGS__) OPGEN_CASES_COMPLEX(__VA_ARGS__) \
                            OPGEN_DISPATCH_CASE(t1, __VA_ARGS__) OPGEN_DISPATCH_CASE(      \
                                t2, __VA_ARGS__) OPGEN_DISPATCH_CASE(t3, __VA_ARGS__))

#define OPGEN_DISPATCH_INTEGRAL_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name, OPGEN_CASES_INTEGRAL(__VA_ARGS__))
#define OPGEN_DISPATCH_INTEGRAL_TYPES_AND(t1, dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name,                            \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_DISPATCH_CASE(t1, __VA_ARGS__))

#define OPGEN_DISPATCH_COMPLEX_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name, OPGEN_CASES_COMPLEX(__VA_ARGS__))
#define OPGEN_DISPATCH_COMPLEX_TYPES_AND(t1, dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name,                           \
                        OPGEN_CASES_COMPLEX(__VA_ARGS__) OPGEN_DISPATCH_CASE(t1, __VA_ARGS__))

#define OPGEN_DISPATCH_ALL_TYPES(dtype, name, ...) \
  OPGEN_DISPATCH_SWITCH(dtype, name,               \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__))
#define OPGEN_DISPATCH_ALL_TYPES_AND(t1, dtype, name, ...)                                  \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                        \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__) \
                            OPGEN_DISPATCH_CASE(t1, __VA_ARGS__))
#define OPGEN_DISPATCH_ALL_TYPES_AND2(t1, t2, dtype, name, ...)                             \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                        \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__) \
                            OPGEN_DISPATCH_CASE(t1, __VA_ARGS__)                            \
                                OPGEN_DISPATCH_CASE(t2, __VA_ARGS__))
#define OPGEN_DISPATCH_ALL_TYPES_AND3(t1, t2, t3, dtype, name, ...)                         \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                        \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__) \
                            OPGEN_DISPATCH_CASE(t1, __VA_ARGS__) OPGEN_DISPATCH_CASE(       \
                                t2, __VA_ARGS__) OPGEN_DISPATCH_CASE(t3, __VA_ARGS__))

#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX(dtype, name, ...)                              \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                        \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__) \
                            OPGEN_CASES_COMPLEX(__VA_ARGS__))
#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX_AND1(t1, dtype, name, ...)                     \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                        \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__) \
                            OPGEN_CASES_COMPLEX(__VA_ARGS__) OPGEN_DISPATCH_CASE(t1, __VA_ARGS__))
#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(t1, t2, dtype, name, ...)                       \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                              \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__)       \
                            OPGEN_CASES_COMPLEX(__VA_ARGS__) OPGEN_DISPATCH_CASE(t1, __VA_ARGS__) \
                                OPGEN_DISPATCH_CASE(t2, __VA_ARGS__))
#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(t1, t2, t3, dtype, name, ...)                   \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                              \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__)       \
                            OPGEN_CASES_COMPLEX(__VA_ARGS__) OPGEN_DISPATCH_CASE(t1, __VA_ARGS__) \
                                OPGEN_DISPATCH_CASE(t2, __VA_ARGS__)                              \
                                    OPGEN_DISPATCH_CASE(t3, __VA_ARGS__))
#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(t1, t2, t3, t4, dtype, name, ...)               \
  OPGEN_DISPATCH_SWITCH(dtype, name,                                                              \
                        OPGEN_CASES_INTEGRAL(__VA_ARGS__) OPGEN_CASES_FLOATING(__VA_ARGS__)       \
                            OPGEN_CASES_COMPLEX(__VA_ARGS__) OPGEN_DISPATCH_CASE(t1, __VA_ARGS__) \
                                OPGEN_DISPATCH_CASE(t2, __VA_ARGS__) OPGEN_DISPATCH_CASE(         \
                                    t3, __VA_ARGS__) OPGEN_DISPATCH_CASE(t4, __VA_ARGS__))

#define OPGEN_DISPATCH_FLOATING_TYPES_AND_HALF(dtype, name, ...) \
  OPGEN_DISPATCH_FLOATING_TYPES_AND(Half, dtype, name, __VA_ARGS__)
#define OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(t1, dtype, name, ...) \
  OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX_AND1(t1, dtype, name, __VA_ARGS__)
