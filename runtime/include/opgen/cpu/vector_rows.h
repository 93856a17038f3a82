// vector_rows.h: loops over a function of vectors, and their compilation for one instruction set.
//
// g++ divides an operation on vectors that are longer than a register of the function in which the
// operation stands, and only then inlines that function into another one: what a source for every
// processor contains computes with halves of vectors, in loops for AVX2, too. A source for one
// instruction set, with no precompiled header before it, has whole ones:
//
//   #include <opgen/cpu/target_avx2.h>  // and another source with target_avx512.h
//   #ifdef OPGEN_ROWS_TARGET
//   (Include the functions here: a header that includes this file and vec_math.h, but no tensors.)
//   OPGEN_COMPILE_ROW(OPGEN_ROWS_BYTES, float, Exp);
//   #endif
//
// cpu_kernel_vec and vector_loop (loops.h) call these rows if the function says so:
//
//   struct Exp {
//     using CompiledApart = void;
//     template <class V>
//     OPGEN_ALWAYS_INLINE V operator()(const V& x) const { return opgen::vec::exp(x); }
//   };
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "opgen/core/macros.h"
#include "opgen/cpu/vec.h"

namespace opgen::detail {

// What a loop keeps of a function: a copy of a small one, so that the compiler can hold what it
// captured in registers, and choose between its branches before the loop. Through a reference, each
// store of an element might change what was captured.
template <class F>
using HeldFunction =
    std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, const F, const F&>;

// The number of vectors that G takes: 1 to 3, or 0 if it takes none.
template <class G, class V>
inline constexpr std::size_t vector_inputs = std::is_invocable_v<const G&, V>         ? 1
                                             : std::is_invocable_v<const G&, V, V>    ? 2
                                             : std::is_invocable_v<const G&, V, V, V> ? 3
                                                                                      : 0;

// A row of contiguous elements; the last ones are computed with the rest of a vector unused. Calls
// `g` in one place, because its code may be long.
template <class M, int bytes, class G, std::size_t... I>
OPGEN_ALWAYS_INLINE void vector_row_here(const G& given, std::int64_t n, M* out, const M* const* in,
                                         std::index_sequence<I...>) {
  using V = Vec<M, bytes>;
  HeldFunction<G> g = given;
  M lanes[sizeof...(I)][V::size], results[V::size];
  const M* at[] = {in[I]...};
  M* to = out;
  std::int64_t left = n;
  while (left > 0) {
    if (OPGEN_UNLIKELY(left < V::size)) {
      for (std::int64_t k = 0; k < V::size; ++k) ((lanes[I][k] = at[I][k < left ? k : 0]), ...);
      ((at[I] = lanes[I]), ...);
      to = results;
    }
    g(V::load(at[I])...).store(to);
    left -= V::size;
    to += V::size;
    ((at[I] += V::size), ...);
  }
  left += V::size;
  for (std::int64_t k = 0; left < V::size && k < left; ++k) out[n - left + k] = results[k];
}
// Whether a source for each instruction set contains the rows of G.
template <class G>
concept CompiledApart = requires {
  typename G::CompiledApart;
};

// out[i] = g(in[0][i], …) for n contiguous elements, with vectors of `bytes`.
#ifdef OPGEN_ROWS_TARGET
#define OPGEN_ROWS OPGEN_ROWS_TARGET __attribute__((flatten))
template <int bytes, class M, class G>
OPGEN_ROWS void compiled_row(const G& g, std::int64_t n, M* out, const M* const* in) {
  constexpr auto all = std::make_index_sequence<vector_inputs<G, Vec<M, bytes>>>();
  vector_row_here<M, bytes>(g, n, out, in, all);
}
#define OPGEN_COMPILE_ROW(bytes, T, ...)                            \
  template void opgen::detail::compiled_row<bytes, T, __VA_ARGS__>( \
      const __VA_ARGS__&, std::int64_t, T*, const T* const*)
#else
#define OPGEN_ROWS
template <int bytes, class M, class G>
void compiled_row(const G& g, std::int64_t n, M* out, const M* const* in);
#endif

}  // namespace opgen::detail
