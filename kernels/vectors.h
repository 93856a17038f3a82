// vectors.h: the functions of vectors that kernels apply to floats. vectors_avx2.cpp and
// vectors_avx512.cpp contain their loops (opgen/cpu/vector_rows.h).
#pragma once

#include <limits>

#include <opgen/cpu/vec_doubles.h>
#include <opgen/cpu/vector_rows.h>

namespace kernels::vectors {

// The functions of opgen/cpu/vec_*.h that take vectors of floats; those that take vectors of
// doubles, too; and those of them that have another form for half types.
#define KERNELS_VECTOR_FUNCTIONS(apply) apply(lgamma) apply(sinc)
#define KERNELS_VECTOR_FUNCTIONS_OF_DOUBLES(apply)                                               \
  apply(exp) apply(exp2) apply(expm1) apply(log) apply(log1p) apply(tan) apply(asin) apply(acos) \
      apply(atan) apply(sinh) apply(cosh) apply(tanh) apply(atanh) apply(sigmoid) apply(silu)    \
          apply(mish) apply(erfc) apply(erfinv) apply(digamma) apply(trigamma) apply(bessel_i0)  \
              apply(bessel_i1) apply(gelu_tanh) apply(atan2) apply(hypot) apply(log_add_exp)     \
                  apply(log_add_exp2) apply(xlogy) apply(pow) apply(fmod) apply(remainder)       \
                      apply(divide_floor)
#define KERNELS_VECTOR_FUNCTIONS_WITH_HALVES(apply) \
  apply(sin) apply(cos) apply(log2) apply(log10) apply(erf) apply(gelu)

#define KERNELS_FUNCTION_AS(name, ...)                                                             \
  struct name {                                                                                    \
    using CompiledApart = void;                                                                    \
    __VA_ARGS__                                                                                    \
    template <class... V>                                                                          \
    OPGEN_ALWAYS_INLINE auto operator()(const V&... x) const -> decltype(opgen::vec::name(x...)) { \
      return opgen::vec::name(x...);                                                               \
    }                                                                                              \
  };
#define KERNELS_FUNCTION(name) KERNELS_FUNCTION_AS(name)
#define KERNELS_FUNCTION_WITH_HALF(name) \
  KERNELS_FUNCTION_AS(name##_of_half)    \
  KERNELS_FUNCTION_AS(name, using OfHalf = name##_of_half;)
KERNELS_VECTOR_FUNCTIONS(KERNELS_FUNCTION)
KERNELS_VECTOR_FUNCTIONS_OF_DOUBLES(KERNELS_FUNCTION)
KERNELS_VECTOR_FUNCTIONS_WITH_HALVES(KERNELS_FUNCTION_WITH_HALF)
#undef KERNELS_FUNCTION_WITH_HALF
#undef KERNELS_FUNCTION
#undef KERNELS_FUNCTION_AS

// The form of F for elements of type T: float, double or a half type.
template <class T, class F>
auto form_of(const F& f) {
  if constexpr (!std::is_floating_point_v<T> && requires { typename F::OfHalf; }) {
    return typename F::OfHalf();
  } else {
    return f;
  }
}

template <class F>
concept OfDoubles = requires(const F& f, const opgen::Vec<double>& x) {
  requires requires {
    f(x);
  } || requires {
    f(x, x);
  };
};

// A function of two vectors, with a number as the second one.
template <class F, class T>
struct WithNumber {
  using CompiledApart = void;
  T number;
  template <class V>
  OPGEN_ALWAYS_INLINE auto operator()(const V& x) const {
    return F()(x, V(number));
  }
};

template <class F, class T>
WithNumber<F, T> with_number(T number) {
  return {number};
}

struct Reciprocal {
  using CompiledApart = void;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& x) const {
    return V(1.0f) / x;
  }
};

struct Square {
  using CompiledApart = void;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& x) const {
    return x * x;
  }
};

struct Hardswish {
  using CompiledApart = void;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& x) const {
    // NaN is the second argument.
    return x * min(V(6.0f), max(V(0.0f), x + V(3.0f))) / V(6.0f);
  }
};

struct Hardsigmoid {
  using CompiledApart = void;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& x) const {
    return min(V(6.0f), max(V(0.0f), x + V(3.0f))) / V(6.0f);
  }
};

struct Entropy {
  using CompiledApart = void;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& x) const {
    const V infinity(std::numeric_limits<float>::infinity());
    const V positive = -x * opgen::vec::log(x);
    const V others = select(x == V(0.0f), V(0.0f), select(x < V(0.0f), -infinity, x));
    return select(x > V(0.0f), positive, others);
  }
};

template <class T>
struct Logit {
  using CompiledApart = void;
  T from;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& x) const {
    const V least(from), most = V(1.0f) - least;
    const V bounded = select(x < least, least, select(x > most, most, x));
    return opgen::vec::log(bounded / (V(1.0f) - bounded));
  }
};

template <class T>
struct Elu {
  using CompiledApart = void;
  T inner, below, above;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& x) const {
    return select(x < V(0.0f), opgen::vec::expm1(x * V(inner)) * V(below), x * V(above));
  }
};

template <class T>
struct Softplus {
  using CompiledApart = void;
  T steepness, linear_from;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& x) const {
    const V scaled = x * V(steepness);
    return select(scaled > V(linear_from), x, opgen::vec::softplus(scaled) / V(steepness));
  }
};

struct Glu {
  using CompiledApart = void;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& a, const V& b) const {
    return a * opgen::vec::sigmoid(b);
  }
};

struct LogSigmoid {
  using CompiledApart = void;
  template <class V>
  OPGEN_ALWAYS_INLINE V operator()(const V& x) const {
    const auto negative = x < V(0.0f);
    // The exponential of a number below 0 does not overflow.
    return select(negative, x, V(0.0f)) -
           opgen::vec::log1p(opgen::vec::exp(select(negative, x, -x)));
  }
};

}  // namespace kernels::vectors

// In a source for one instruction set: the loops.
#ifdef OPGEN_ROWS_TARGET
#define KERNELS_ROW(name) OPGEN_COMPILE_ROW(OPGEN_ROWS_BYTES, float, kernels::vectors::name);
#define KERNELS_ROW_OF_DOUBLES(name) \
  OPGEN_COMPILE_ROW(OPGEN_ROWS_BYTES, double, kernels::vectors::name);
#define KERNELS_ROW_WITH_NUMBER(name)        \
  OPGEN_COMPILE_ROW(OPGEN_ROWS_BYTES, float, \
                    kernels::vectors::WithNumber<kernels::vectors::name, float>);
KERNELS_VECTOR_FUNCTIONS(KERNELS_ROW)
KERNELS_VECTOR_FUNCTIONS_OF_DOUBLES(KERNELS_ROW)
KERNELS_VECTOR_FUNCTIONS_OF_DOUBLES(KERNELS_ROW_OF_DOUBLES)
#define KERNELS_ROWS(name) KERNELS_ROW(name) KERNELS_ROW_OF_DOUBLES(name)
#define KERNELS_ROWS_WITH_HALF(name) KERNELS_ROW(name##_of_half) KERNELS_ROWS(name)
KERNELS_VECTOR_FUNCTIONS_WITH_HALVES(KERNELS_ROWS_WITH_HALF)
KERNELS_ROWS(Reciprocal)
KERNELS_ROWS(Square)
KERNELS_ROWS(Hardswish)
KERNELS_ROWS(Hardsigmoid)
KERNELS_ROWS(Entropy)
KERNELS_ROWS(LogSigmoid)
KERNELS_ROWS(Glu)
KERNELS_ROW(Logit<float>)
KERNELS_ROW_OF_DOUBLES(Logit<double>)
KERNELS_ROW(Elu<float>)
KERNELS_ROW_OF_DOUBLES(Elu<double>)
KERNELS_ROW(Softplus<float>)
KERNELS_ROW_OF_DOUBLES(Softplus<double>)
KERNELS_ROW_WITH_NUMBER(atan2)
KERNELS_ROW_WITH_NUMBER(hypot)
KERNELS_ROW_WITH_NUMBER(log_add_exp)
KERNELS_ROW_WITH_NUMBER(log_add_exp2)
KERNELS_ROW_WITH_NUMBER(xlogy)
KERNELS_ROW_WITH_NUMBER(fmod)
KERNELS_ROW_WITH_NUMBER(divide_floor)
KERNELS_ROW_WITH_NUMBER(pow)
OPGEN_COMPILE_ROW(OPGEN_ROWS_BYTES, double,
                  kernels::vectors::WithNumber<kernels::vectors::pow, double>);
#endif
