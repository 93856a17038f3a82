// loops.h: apply a function of elements to the operands of an iterator, for both targets.
//
//   cpu_kernel(iter, [=](float a, float b) { return a + alpha * b; });
//       The operands must have the function's types: the output has the type of its result, the
//       inputs have the types of its 0 to 4 parameters.
//   cpu_kernel(iter, OneByOne{[](int64_t a, int64_t b) { return a / b; }});
//       A function that compilers do not vectorise: no elements are collected for it.
//   cpu_kernel_opmath<scalar_t>(iter, [=](auto a, auto b) { return a + b; });
//       The operands are scalar_t; the function computes in opmath_type<scalar_t>, which is float
//       for Half and BFloat16.
//   cpu_kernel_vec(iter, [](float a, float b) { return a * b; },
//                  [](Vec<float> a, Vec<float> b) { return a * b; });
//       The second function computes several adjacent elements at once (cpu/vec.h), for loops that
//       the compiler does not vectorise by itself. All operands have one type.
//   cpu_kernel_vec<scalar_t>(iter, [](auto x) { return vec::exp(x); });
//       One function, of vectors of opmath_type<scalar_t> (1 to 3 inputs), for all elements: rows
//       of half types, and rows that are not contiguous, are converted and collected in blocks. For
//       functions of cpu/vec_math.h and others without a fast form for one element.
//   vector_loop([](auto x) { return vec::exp(x); }, n, out, in)
//       The same for adjacent numbers in memory, for loops of your own.
//   cpu_kernel_multiple_outputs(iter, [](float a) { return std::tuple<float, float>(…); });
//       The function returns one value per output.
//   cpu_serial_kernel(iter, f)
//       Runs in this thread and in the iterator's order, for functions with state.
//   ufunc_loop<float, Half, …>(iter, f)
//       Generated code calls it for OPGEN_UFUNC.
//
// All functions throw Error if the operands have other dtypes. All but cpu_serial_kernel split
// large iterations over threads. Rows of adjacent elements, of which at most one operand may be a
// single number, become simple loops that the compiler vectorises. Compile kernels with -O3: g++ 12
// does not vectorise these loops at -O2. Each loop is compiled a second time for AVX2, and that
// version runs on processors that have it.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/core/function_ref.h"
#include "opgen/cpu/convert_rows.h"
#include "opgen/cpu/dispatch.h"
#include "opgen/cpu/rows.h"
#include "opgen/cpu/vec.h"
#include "opgen/cpu/vector_rows.h"

// An output and an input either share no memory or are the same tensor, so no element of a row
// depends on another. clang warns about loops that it cannot vectorise in spite of the pragma, and
// authors of kernels could not do anything about that.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#define OPGEN_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define OPGEN_IVDEP _Pragma("GCC ivdep")
#endif

namespace opgen {

// A function that is computed for one element after the other. Processors divide while they read
// the next operands, unless these are collected first.
template <class F>
struct OneByOne : F {};
template <class F>
OneByOne(F) -> OneByOne<F>;

namespace detail {

template <class F>
inline constexpr bool kIsOneByOne = false;
template <class F>
inline constexpr bool kIsOneByOne<OneByOne<F>> = true;

template <class... T>
void check_kernel_dtypes(const TensorIteratorBase& iter, int noutputs) {
  int i = 0;
  bool good = iter.ntensors() == static_cast<int>(sizeof...(T)) && iter.noutputs() == noutputs &&
              ((iter.dtype(i++) == scalar_type_of<T>)&&...);
  if (OPGEN_UNLIKELY(!good)) throw_kernel_dtypes(iter, {scalar_type_of<T>...}, noutputs);
}

template <class F>
struct FunctionTraits {
  static_assert(std::is_void_v<F>,
                "a kernel's function needs parameters with types: write scalar_t or another type "
                "instead of auto, or call cpu_kernel_opmath<scalar_t>");
};
template <class F>
requires requires {
  &F::operator();
}
struct FunctionTraits<F> : FunctionTraits<decltype(&F::operator())> {};
template <class R, class... A>
struct FunctionTraits<R (*)(A...)> {
  using Result = std::remove_cvref_t<R>;
  template <template <class...> class T>
  using apply = T<Result, std::remove_cvref_t<A>...>;
  static constexpr int arity = sizeof...(A);
};
template <class R, class... A>
struct FunctionTraits<R (*)(A...) noexcept> : FunctionTraits<R (*)(A...)> {};
template <class C, class R, class... A>
struct FunctionTraits<R (C::*)(A...)> : FunctionTraits<R (*)(A...)> {};
template <class C, class R, class... A>
struct FunctionTraits<R (C::*)(A...) const> : FunctionTraits<R (*)(A...)> {};
template <class C, class R, class... A>
struct FunctionTraits<R (C::*)(A...) noexcept> : FunctionTraits<R (*)(A...)> {};
template <class C, class R, class... A>
struct FunctionTraits<R (C::*)(A...) const noexcept> : FunctionTraits<R (*)(A...)> {};

// An input of a row. If `fixed`, all elements of the row read the same number.
template <class T, bool fixed>
struct RowInput {
  const T* data;
  T value{};
  explicit RowInput(const char* address) : data(reinterpret_cast<const T*>(address)) {
    if constexpr (fixed) value = element_at(data);
  }
  OPGEN_ALWAYS_INLINE T operator[](std::int64_t i) const {
    if constexpr (fixed) return value;
    return element_at(data + i);
  }
  OPGEN_ALWAYS_INLINE auto vec(std::int64_t i) const {
    if constexpr (fixed) {
      return Vec<T>(value);
    } else {
      return Vec<T>::load(data + i);
    }
  }
};

template <class F>
concept HasVectorForm = requires {
  typename F::VectorForm;
};

template <class F, class Out, class... In>
OPGEN_ALWAYS_INLINE void dense_row_here(const F& given, std::int64_t n, Out* out, In... in) {
  HeldFunction<F> f = given;
  std::int64_t i = 0;
  if constexpr (HasVectorForm<F>) {
    for (; i + Vec<Out>::size <= n; i += Vec<Out>::size) f.vector(in.vec(i)...).store(out + i);
  }
  OPGEN_IVDEP
  for (; i < n; ++i) out[i] = static_cast<Out>(f(in[i]...));
}
// Not inlined: otherwise clang's warnings about loops that it does not vectorise would point to the
// kernel's line.
template <class F, class Out, class... In>
OPGEN_NOINLINE void dense_row(const F& f, std::int64_t n, Out* out, In... in) {
  dense_row_here(f, n, out, in...);
}
#if OPGEN_LOOPS_AVX2
template <class F, class Out, class... In>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void dense_row_avx2(const F& f, std::int64_t n, Out* out,
                                                     In... in) {
  dense_row_here(f, n, out, in...);
}
#endif

// Calls `row` for parts of a row of n elements, in which all operands are contiguous: those that
// are not are copied to blocks of a kilobyte, and the output, operand 0, back. In shorter blocks,
// vectors wait for what was just written.
inline constexpr int kMostCollected = 8;
OPGEN_NOINLINE inline void run_collected(int operands, const std::int64_t* sizes, char** data,
                                         const std::int64_t* strides, std::int64_t n,
                                         FunctionRef<void(char** data, std::int64_t n)> row) {
  constexpr std::int64_t bytes = 1024;
  alignas(64) char blocks[kMostCollected][bytes];
  char* at[kMostCollected];
  std::int64_t most = bytes;
  for (int k = 0; k < operands; ++k) most = bytes / sizes[k] < most ? bytes / sizes[k] : most;
  for (std::int64_t i = 0; i < n; i += most) {
    const std::int64_t count = n - i < most ? n - i : most;
    for (int k = 0; k < operands; ++k) {
      at[k] = data[k] + i * strides[k];
      if (strides[k] == sizes[k]) continue;
      // A single number is copied once.
      if (k != 0 && (i == 0 || strides[k] != 0)) {
        move_elements(blocks[k], sizes[k], at[k], strides[k], count, sizes[k]);
      }
      at[k] = blocks[k];
    }
    row(at, count);
    if (strides[0] == sizes[0]) continue;
    move_elements(data[0] + i * strides[0], strides[0], blocks[0], sizes[0], count, sizes[0]);
  }
}

// One row of a loop. Out and In are the operands' types; `f` may compute in others.
template <class Out, class... In>
struct Row {
  static constexpr int operands = 1 + static_cast<int>(sizeof...(In));
  template <class F>
  static void run(const F& f, [[maybe_unused]] bool wide, char** data, const std::int64_t* strides,
                  std::int64_t n) {
    run(f, wide, data, strides, n, std::make_index_sequence<sizeof...(In)>{});
  }
  [[nodiscard]] static bool has_dtypes(const TensorBase* const* tensors) noexcept {
    return has_dtypes(tensors, std::make_index_sequence<sizeof...(In)>{});
  }
  // For operands in the form Contiguous.
  template <class F>
  static void run_simple(const F& f, [[maybe_unused]] bool wide, const TensorBase* const* tensors,
                         std::int64_t n) {
    run_simple(f, wide, tensors, n, std::make_index_sequence<sizeof...(In)>{});
  }
  template <class F>
  static void strided(F& f, char** data, const std::int64_t* strides, std::int64_t n) {
    strided(f, data, strides, n, std::make_index_sequence<sizeof...(In)>{});
  }

 private:
  template <std::size_t... I>
  OPGEN_ALWAYS_INLINE static bool has_dtypes(const TensorBase* const* tensors,
                                             std::index_sequence<I...>) noexcept {
    return tensors[0]->scalar_type() == scalar_type_of<Out> &&
           (true && ... && (tensors[I + 1]->scalar_type() == scalar_type_of<In>));
  }
  template <class F, std::size_t... I>
  OPGEN_ALWAYS_INLINE static void run_simple(const F& f, [[maybe_unused]] bool wide,
                                             const TensorBase* const* tensors, std::int64_t n,
                                             std::index_sequence<I...>) {
    Out* out = static_cast<Out*>(tensors[0]->data_ptr());
#if OPGEN_LOOPS_AVX2
    if (wide) {
      dense_row_avx2(f, n, out,
                     RowInput<In, false>(static_cast<const char*>(tensors[I + 1]->data_ptr()))...);
      return;
    }
#endif
    dense_row(f, n, out,
              RowInput<In, false>(static_cast<const char*>(tensors[I + 1]->data_ptr()))...);
  }
  template <class F, std::size_t... I>
  static void strided(F& f, char** data, const std::int64_t* strides, std::int64_t n,
                      std::index_sequence<I...>) {
    // Copies, because a store of an integer might change what `data` and `strides` point to.
    char* const at[] = {data[0], data[I + 1]...};
    const std::int64_t steps[] = {strides[0], strides[I + 1]...};
    for (std::int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<Out*>(at[0] + i * steps[0]) = static_cast<Out>(
          f(element_at(reinterpret_cast<const In*>(at[I + 1] + i * steps[I + 1]))...));
    }
  }
  // `fixed` is the index of the input that is a single number, or -1.
  template <int fixed, class F, std::size_t... I>
  static void dense(const F& f, [[maybe_unused]] bool wide, char** data, std::int64_t n,
                    std::index_sequence<I...>) {
    Out* out = reinterpret_cast<Out*>(data[0]);
#if OPGEN_LOOPS_AVX2
    if (wide) {
      dense_row_avx2(f, n, out, RowInput<In, fixed == static_cast<int>(I)>(data[I + 1])...);
      return;
    }
#endif
    dense_row(f, n, out, RowInput<In, fixed == static_cast<int>(I)>(data[I + 1])...);
  }
  template <class F, std::size_t... I>
  static void run(const F& f, [[maybe_unused]] bool wide, char** data, const std::int64_t* strides,
                  std::int64_t n, std::index_sequence<I...> all) {
    if (strides[0] == std::int64_t(sizeof(Out))) {
      int fixed = -1;
      bool is_dense = true;
      ((strides[I + 1] == std::int64_t(sizeof(In)) ? void()
        : strides[I + 1] == 0 && fixed == -1       ? void(fixed = static_cast<int>(I))
                                                   : void(is_dense = false)),
       ...);
      if (is_dense) {
        if (fixed == -1) {
          dense<-1>(f, wide, data, n, all);
        } else {
          ((fixed == static_cast<int>(I) ? dense<static_cast<int>(I)>(f, wide, data, n, all)
                                         : void()),
           ...);
        }
        return;
      }
    }
    if constexpr (operands <= kMostCollected && !kIsOneByOne<F>) {
      if (n >= kFewElements<F>) return in_blocks(f, wide, data, strides, n, all);
    }
    HeldFunction<F> held = f;
    strided(held, data, strides, n, all);
  }
  template <class F, std::size_t... I>
  OPGEN_NOINLINE static void in_blocks(const F& f, bool wide, char** data,
                                       const std::int64_t* strides, std::int64_t n,
                                       std::index_sequence<I...> all) {
    constexpr std::int64_t sizes[] = {sizeof(Out), sizeof(In)...};
    static_assert(((sizeof(Out) <= 16) && ... && (sizeof(In) <= 16)));
    run_collected(operands, sizes, data, strides, n,
                  [&](char** at, std::int64_t count) { dense<-1>(f, wide, at, count, all); });
  }
  // Shorter rows are not collected: the vectors would wait for what was just written. Conversions
  // of half types one by one, and functions that have a form for vectors, take longer than that;
  // functions of integers of 64 bits gain less.
  static constexpr bool kConverts =
      !std::is_same_v<opmath_type<Out>, Out> || (!std::is_same_v<opmath_type<In>, In> || ...);
  static constexpr bool kWideIntegers =
      std::is_same_v<Out, std::int64_t> || (std::is_same_v<In, std::int64_t> || ...);
  template <class F>
  static constexpr std::int64_t kFewElements = kConverts || HasVectorForm<F> ? 16
                                               : kWideIntegers               ? 128
                                                                             : 48;
};

template <class Out, class... In>
void check_row(const TensorIteratorBase& iter, Row<Out, In...>*) {
  check_kernel_dtypes<Out, In...>(iter, 1);
}

#if OPGEN_LOOPS_AVX2
// `f`, a condition, as a number.
template <class T, class F>
struct NumberOf {
  HeldFunction<F> f;
  template <class... In>
  OPGEN_ALWAYS_INLINE T operator()(In... in) const {
    // By bits, so that compilers vectorise the loop, without the arithmetic of a conversion.
    using Bits = std::make_unsigned_t<typename LaneOf<sizeof(T)>::type>;
    const auto mask = static_cast<Bits>(Bits(0) - static_cast<Bits>(f(in...)));
    return std::bit_cast<T>(static_cast<Bits>(mask & std::bit_cast<Bits>(static_cast<T>(1.0f))));
  }
};
// Runs a condition on floats or int64_t whose result goes to a tensor of their dtype, as in eq_(),
// without a temporary of bools; returns false if the operands need another way. The last input may
// be a single number.
template <class Row, class F>
struct ConditionRows {
  static bool run(TensorIteratorBase&, const F&, std::int64_t) { return false; }
};
template <class T, class... In, class F>
requires((std::is_floating_point_v<opmath_type<T>> ||
          std::is_same_v<T, std::int64_t>)&&sizeof...(In) <= 1 &&
         (std::is_same_v<T, In> && ...)) struct ConditionRows<Row<bool, T, In...>, F> {
  static bool run(TensorIteratorBase& iter, const F& f, std::int64_t grain) {
    constexpr int last = 1 + static_cast<int>(sizeof...(In));
    const TensorBase* to = use_avx2() ? find_output_of(iter, scalar_type_of<T>) : nullptr;
    if (to == nullptr) return false;
    const std::int64_t item = sizeof(T), step = iter.strides(last)[0];
    if ((step != item && step != 0) || iter.strides(1)[0] != item) return false;
    T* const out = static_cast<T*>(to->data_ptr());
    const char* const first = static_cast<const char*>(iter.data_ptr(1));
    const char* const second = static_cast<const char*>(iter.data_ptr(last));
    const NumberOf<T, F> number{f};
    parallel_for(0, iter.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
      const RowInput<T, false> a(first + begin * item);
      if constexpr (last == 1) {
        dense_row_avx2(number, end - begin, out + begin, a);
      } else if (step == 0) {
        dense_row_avx2(number, end - begin, out + begin, a, RowInput<T, true>(second));
      } else {
        dense_row_avx2(number, end - begin, out + begin, a,
                       RowInput<T, false>(second + begin * item));
      }
    });
    drop_temporary_output(iter);
    return true;
  }
};
#endif

template <class RowType, class F>
OPGEN_NOINLINE void run_general_rows(TensorIteratorBase& iter, const F& f, std::int64_t grain) {
  check_row(iter, static_cast<RowType*>(nullptr));
#if OPGEN_LOOPS_AVX2
  if (ConditionRows<RowType, F>::run(iter, f, grain)) return;
#endif
  bool wide = use_avx2();
  for_each_row(
      iter,
      [&f, wide](char** data, const std::int64_t* strides, std::int64_t n) {
        RowType::run(f, wide, data, strides, n);
      },
      grain);
  iter.cast_outputs();
}

template <class RowType, class F>
void run_rows(TensorIteratorBase& iter, const F& f, std::int64_t grain) {
  const TensorBase* const* tensors = contiguous_tensors(iter);
  if (OPGEN_LIKELY(tensors != nullptr && iter.ntensors() == RowType::operands &&
                   RowType::has_dtypes(tensors))) {
    // Run a small contiguous iteration as one row here: for_each_row would cost more than the loop.
    std::int64_t n = tensors[0]->numel();
    if (OPGEN_LIKELY(n <= grain)) return RowType::run_simple(f, use_avx2(), tensors, n);
  }
  run_general_rows<RowType>(iter, f, grain);
}

template <class T, std::size_t>
using Repeat = T;

template <class T, class F, std::size_t... I>
void run_opmath(TensorIteratorBase& iter, const F& f, std::int64_t grain,
                std::index_sequence<I...>) {
  using M = opmath_type<T>;
  struct Widened {
    HeldFunction<F> f;
    M operator()(Repeat<M, I>... in) const { return static_cast<M>(f(in...)); }
  };
  run_rows<Row<T, Repeat<T, I>...>>(iter, Widened{f}, grain);
}

}  // namespace detail

template <class T, class F>
void cpu_kernel_opmath(TensorIteratorBase& iter, const F& f, std::int64_t grain = kGrainSize);

namespace detail {

template <class T, class F, class R, class... In>
void run_inner_loop(TensorIteratorBase& iter, const F& f, Row<R, In...>*) {
  run_rows<Row<T, Repeat<T, sizeof(In)>...>>(iter, f, kGrainSize);
}

template <class T, class F>
bool run_ufunc(TensorIteratorBase& iter, const F& f) {
  using M = opmath_type<T>;
  if (iter.common_dtype() != scalar_type_of<T>) return false;
  if constexpr (std::is_invocable_v<F, std::type_identity<M>>) {
    auto loop = f(std::type_identity<M>{});
    using Loop = typename FunctionTraits<decltype(loop)>::template apply<Row>;
    run_inner_loop<T>(iter, loop, static_cast<Loop*>(nullptr));
  } else {
    cpu_kernel_opmath<T>(iter, f);
  }
  return true;
}

template <class F, class... Out, class... In, std::size_t... O, std::size_t... I>
void run_multiple(TensorIteratorBase& iter, const F& f, std::int64_t grain, std::tuple<Out...>*,
                  std::tuple<In...>*, std::index_sequence<O...>, std::index_sequence<I...>) {
  constexpr std::size_t first = sizeof...(Out);
  check_kernel_dtypes<Out..., In...>(iter, sizeof...(Out));
  for_each_row(
      iter,
      [&f](char** data, const std::int64_t* strides, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          std::tuple<Out...> results = f(
              element_at(reinterpret_cast<const In*>(data[first + I] + i * strides[first + I]))...);
          ((*reinterpret_cast<Out*>(data[O] + i * strides[O]) = std::get<O>(results)), ...);
        }
      },
      grain);
  iter.cast_outputs();
}

template <class R, class... A>
struct MultipleOutputs {
  using Outputs = R;
  using Inputs = std::tuple<A...>;
};

}  // namespace detail

template <class F>
void cpu_kernel(TensorIteratorBase& iter, const F& f, std::int64_t grain = kGrainSize) {
  detail::run_rows<typename detail::FunctionTraits<F>::template apply<detail::Row>>(iter, f, grain);
}

namespace detail {

// Flattened, because `g` must be compiled for the same instruction set, and may be too long to be
// inlined otherwise.
template <class M, class G, std::size_t... I>
OPGEN_NOINLINE __attribute__((flatten)) void vector_row(const G& g, std::int64_t n, M* out,
                                                        const M* const* in,
                                                        std::index_sequence<I...> all) {
  vector_row_here<M, 16>(g, n, out, in, all);
}
#if OPGEN_LOOPS_AVX2
template <class M, class G, std::size_t... I>
OPGEN_NOINLINE OPGEN_TARGET_FMA __attribute__((flatten)) void vector_row_fma(
    const G& g, std::int64_t n, M* out, const M* const* in, std::index_sequence<I...> all) {
  vector_row_here<M, 32>(g, n, out, in, all);
}
#endif

// A row with the largest vectors that this processor has.
template <class M, class G, std::size_t... I>
OPGEN_ALWAYS_INLINE void widest_vector_row(const G& g, std::int64_t n, M* out, const M* const* in,
                                           std::index_sequence<I...> all) {
#if OPGEN_LOOPS_AVX2
  if constexpr (CompiledApart<G>) {
    if (use_avx512()) return compiled_row<64>(g, n, out, in);
    if (use_fma()) return compiled_row<32>(g, n, out, in);
  } else {
    if (use_fma()) return vector_row_fma<M>(g, n, out, in, all);
  }
#endif
  vector_row<M>(g, n, out, in, all);
}

template <class M>
inline constexpr std::int64_t kVectorBlock = 4096 / sizeof(M);

// Calls row(out, in, n) for a row of elements of type T, converted to M and collected in blocks
// unless they are contiguous elements of M.
template <class T, class M>
OPGEN_NOINLINE void run_in_blocks(FunctionRef<void(M*, const M* const*, std::int64_t)> row,
                                  int inputs, [[maybe_unused]] bool wide, char** data,
                                  const std::int64_t* strides, std::int64_t n) {
  constexpr int most = 3;
  constexpr std::int64_t item = sizeof(T);
  bool direct[most + 1], all = true;
  for (int k = 0; k <= inputs; ++k) {
    direct[k] = std::is_same_v<T, M> && strides[k] == item;
    all = all && direct[k];
  }
  const M* in[most] = {};
  if (all) {
    for (int k = 0; k < inputs; ++k) in[k] = reinterpret_cast<const M*>(data[k + 1]);
    return row(reinterpret_cast<M*>(data[0]), in, n);
  }
  alignas(64) M blocks[most + 1][kVectorBlock<M>];
  for (std::int64_t i = 0; i < n; i += kVectorBlock<M>) {
    const std::int64_t count = n - i < kVectorBlock<M> ? n - i : kVectorBlock<M>;
    for (int k = 0; k < inputs; ++k) {
      const char* from = data[k + 1] + i * strides[k + 1];
      in[k] = direct[k + 1] ? reinterpret_cast<const M*>(from) : blocks[k + 1];
      // A single number is converted once.
      if (direct[k + 1] || (i != 0 && strides[k + 1] == 0)) continue;
#if OPGEN_LOOPS_AVX2
      if (wide) {
        load_row_fma<T>(blocks[k + 1], from, strides[k + 1], count);
        continue;
      }
#endif
      load_row<T>(blocks[k + 1], from, strides[k + 1], count);
    }
    char* to = data[0] + i * strides[0];
    // The results replace the first input, unless it is a single number.
    M* out = direct[0] ? reinterpret_cast<M*>(to) : blocks[strides[1] == 0 ? 0 : 1];
    row(out, in, count);
    if (direct[0]) continue;
#if OPGEN_LOOPS_AVX2
    if (wide) {
      store_row_fma<T>(to, strides[0], out, count);
      continue;
    }
#endif
    store_row<T>(to, strides[0], out, count);
  }
}

template <class T, class G, std::size_t... I>
void run_vectors(TensorIteratorBase& iter, const G& g, std::int64_t grain,
                 std::index_sequence<I...> all) {
  using M = opmath_type<T>;
  using RowType = Row<T, Repeat<T, I>...>;
  const bool wide = use_fma();
  const auto row = [&g, all](M* out, const M* const* in, std::int64_t n) {
    widest_vector_row<M>(g, n, out, in, all);
  };
  if constexpr (std::is_same_v<T, M>) {
    const TensorBase* const* tensors = contiguous_tensors(iter);
    if (OPGEN_LIKELY(tensors != nullptr && iter.ntensors() == RowType::operands &&
                     RowType::has_dtypes(tensors))) {
      const std::int64_t n = tensors[0]->numel();
      if (OPGEN_LIKELY(n <= grain)) {
        const M* in[] = {static_cast<const M*>(tensors[I + 1]->data_ptr())...};
        return row(static_cast<M*>(tensors[0]->data_ptr()), in, n);
      }
    }
  }
  check_row(iter, static_cast<RowType*>(nullptr));
  for_each_row(
      iter,
      [&row, wide](char** data, const std::int64_t* strides, std::int64_t n) {
        run_in_blocks<T, M>(row, static_cast<int>(sizeof...(I)), wide, data, strides, n);
      },
      grain);
  iter.cast_outputs();
}

}  // namespace detail

// Applies `g`, a function of 1 to 3 vectors of opmath_type<T> of any width, to operands of type T.
// Each element has the same bits wherever it lies. Where the processor has fused multiply-add,
// the loop uses it.
template <class T, class G>
void cpu_kernel_vec(TensorIteratorBase& iter, const G& g, std::int64_t grain = kGrainSize) {
  constexpr std::size_t inputs = detail::vector_inputs<G, Vec<opmath_type<T>>>;
  static_assert(inputs != 0, "cpu_kernel_vec<T>: a function of 1 to 3 vectors");
  detail::run_vectors<T>(iter, g, grain, std::make_index_sequence<inputs>{});
}

// Applies `g`, as above, to n adjacent numbers, float or double: for loops of your own. `out` may
// be one of the inputs.
template <class T, class G, class... In>
void vector_loop(const G& g, std::int64_t n, T* out, const In*... in) {
  static_assert((std::is_same_v<In, T> && ...), "vector_loop: inputs of the output's type");
  const T* const inputs[] = {in...};
  detail::widest_vector_row<T>(g, n, out, inputs, std::index_sequence_for<In...>());
}

namespace detail {

// A function of elements and the same function of vectors.
template <class F, class V, class RowType>
struct WithVectorForm;
template <class F, class V, class R, class... In>
struct WithVectorForm<F, V, Row<R, In...>> {
  static_assert((std::is_same_v<R, In> && ...),
                "cpu_kernel_vec: the inputs and the output must have the same type");
  using VectorForm = V;
  HeldFunction<F> scalar;
  HeldFunction<V> vector;
  OPGEN_ALWAYS_INLINE R operator()(In... in) const { return scalar(in...); }
};

}  // namespace detail

template <class F, class V>
void cpu_kernel_vec(TensorIteratorBase& iter, const F& f, const V& on_vectors,
                    std::int64_t grain = kGrainSize) {
  using RowType = typename detail::FunctionTraits<F>::template apply<detail::Row>;
  detail::run_rows<RowType>(iter, detail::WithVectorForm<F, V, RowType>{f, on_vectors}, grain);
}

template <class T, class F>
void cpu_kernel_opmath(TensorIteratorBase& iter, const F& f, std::int64_t grain) {
  using M = opmath_type<T>;
  if constexpr (std::is_invocable_v<F, M>) {
    detail::run_opmath<T>(iter, f, grain, std::make_index_sequence<1>{});
  } else if constexpr (std::is_invocable_v<F, M, M>) {
    detail::run_opmath<T>(iter, f, grain, std::make_index_sequence<2>{});
  } else if constexpr (std::is_invocable_v<F, M, M, M>) {
    detail::run_opmath<T>(iter, f, grain, std::make_index_sequence<3>{});
  } else {
    detail::run_opmath<T>(iter, f, grain, std::make_index_sequence<4>{});
  }
}

template <class F>
void cpu_kernel_multiple_outputs(TensorIteratorBase& iter, const F& f,
                                 std::int64_t grain = kGrainSize) {
  using Operands = typename detail::FunctionTraits<F>::template apply<detail::MultipleOutputs>;
  using Outputs = typename Operands::Outputs;
  using Inputs = typename Operands::Inputs;
  detail::run_multiple(iter, f, grain, static_cast<Outputs*>(nullptr),
                       static_cast<Inputs*>(nullptr),
                       std::make_index_sequence<std::tuple_size_v<Outputs>>{},
                       std::make_index_sequence<std::tuple_size_v<Inputs>>{});
}

// Calls `f` once per element, from the first to the last.
template <class F>
void cpu_serial_kernel(TensorIteratorBase& iter, F&& f) {
  using Function = std::remove_cvref_t<F>;
  using RowType = typename detail::FunctionTraits<Function>::template apply<detail::Row>;
  detail::check_row(iter, static_cast<RowType*>(nullptr));
  detail::for_each_row_in_order(iter,
                                [&f](char** data, const std::int64_t* strides, std::int64_t n) {
                                  RowType::strided(f, data, strides, n);
                                });
  iter.cast_outputs();
}

// Applies `f` to the operands if their common dtype is that of one of the types `T`; otherwise
// returns false. `f` is a function of elements of type opmath_type<T>; or it takes
// std::type_identity<opmath_type<T>>, is called once before the loop, and returns such a function.
template <class... T, class F>
bool ufunc_loop(TensorIteratorBase& iter, const F& f) {
  return (detail::run_ufunc<T>(iter, f) || ...);
}
[[noreturn]] inline void ufunc_not_implemented(const TensorIteratorBase& iter, const char* name) {
  detail::throw_unsupported_dtype(name, iter.common_dtype());
}

}  // namespace opgen

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
