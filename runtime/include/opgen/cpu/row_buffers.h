// row_buffers.h: rows of elements in the type that they are computed in, for loops of your own.
//
//   std::vector<float> buffer(n);
//   const float* x = row_as<float>(row_of_halves, n, buffer.data());
//   … compute buffer from x …
//   store_row_as(halves, buffer.data(), n);
#pragma once

#include <cstdint>
#include <type_traits>

#include "opgen/cpu/convert_rows.h"

namespace opgen {

namespace detail {

template <class T, class M>
void load_elements(void* to, const char* from, std::int64_t stride, std::int64_t n) {
  if constexpr (std::is_same_v<T, M>) {
    move_elements(static_cast<char*>(to), sizeof(T), from, stride, n, sizeof(T));
  } else {
#if OPGEN_LOOPS_AVX2
    if (use_fma()) return load_row_fma<T>(static_cast<M*>(to), from, stride, n);
#endif
    load_row<T>(static_cast<M*>(to), from, stride, n);
  }
}
template <class T, class M>
void store_elements(char* to, std::int64_t stride, const M* from, std::int64_t n) {
  if constexpr (std::is_same_v<T, M>) {
    move_elements(to, stride, reinterpret_cast<const char*>(from), sizeof(T), n, sizeof(T));
  } else {
#if OPGEN_LOOPS_AVX2
    if (use_fma()) return store_row_fma<T>(to, stride, from, n);
#endif
    store_row<T>(to, stride, from, n);
  }
}

}  // namespace detail

// Returns n adjacent elements as elements of M: `at` itself, or `buffer`, into which they are
// converted.
template <class M, class T>
[[nodiscard]] const M* row_as(const T* at, std::int64_t n, M* buffer) {
  if constexpr (std::is_same_v<T, M>) {
    return at;
  } else {
    detail::load_elements<T, M>(buffer, reinterpret_cast<const char*>(at), sizeof(T), n);
    return buffer;
  }
}
// Returns where to compute a row: `at` itself, or `buffer`, which store_row_as() converts.
template <class M, class T>
[[nodiscard]] M* row_to_fill(T* at, M* buffer) {
  if constexpr (std::is_same_v<T, M>) {
    return at;
  } else {
    return buffer;
  }
}
// Converts n adjacent elements to T.
template <class T, class M>
void store_row_as(T* to, const M* from, std::int64_t n) {
  detail::store_elements<T, M>(reinterpret_cast<char*>(to), sizeof(T), from, n);
}

}  // namespace opgen
