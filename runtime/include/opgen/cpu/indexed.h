// indexed.h: loops for kernels in which data select positions along one dimension (gathering,
// scattering), and for kernels that move whole rows. They choose the order of the other dimensions
// by their strides, and divide the work among threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "opgen/core/array_ref.h"
#include "opgen/core/function_ref.h"
#include "opgen/core/macros.h"
#include "opgen/cpu/convert_rows.h"

namespace opgen {

// Returns the position of the first of `n` indices, `stride` elements apart, that is not in
// [low, size); -1 if there is none.
[[nodiscard]] OPGEN_API std::int64_t find_bad_index(const std::int64_t* indices, std::int64_t n,
                                                    std::int64_t stride, std::int64_t low,
                                                    std::int64_t size) noexcept;

// A plane of operands: positions [begin, end) along the indexed dimension, and `run` elements along
// another one, which is the fastest. All strides are in elements.
struct Sheet {
  static constexpr std::size_t kOperands = 3;

  std::array<std::int64_t, kOperands> offsets;    // of the element at position 0 of both
  std::array<std::int64_t, kOperands> steps;      // strides of the indexed dimension
  std::array<std::int64_t, kOperands> run_steps;  // strides of the other one
  std::int64_t begin, end, run;

  // Whether the run of each of the first `n` operands is contiguous memory.
  [[nodiscard]] bool has_rows(std::size_t n) const noexcept {
    if (run == 1) return false;
    for (std::size_t k = 0; k < n; ++k) {
      if (run_steps[k] != 1) return false;
    }
    return true;
  }
  // Whether the run, rather than the indexed dimension, has the smaller strides in the first two
  // operands.
  [[nodiscard]] bool has_faster_run() const noexcept {
    const auto distance = [](const std::array<std::int64_t, kOperands>& strides) {
      return (strides[0] < 0 ? -strides[0] : strides[0]) +
             (strides[1] < 0 ? -strides[1] : strides[1]);
    };
    return run != 1 && distance(run_steps) < distance(steps);
  }
};

// The dimensions that threads may divide. Along the indexed dimension, the order within a thread is
// ascending, so that kOthers keeps the last of several values that are written to one element.
// kNothing runs in one thread, in row-major order.
enum class Divide : std::uint8_t { kNothing, kOthers, kAll };

// Calls f(sheet) for sheets that together cover each index of `sizes` once, on several threads.
// `dim` is the indexed dimension, or -1. `strides` are those of up to three operands; the run is
// along the dimension whose strides are the smallest.
OPGEN_API void for_each_sheet(IntArrayRef sizes, std::int64_t dim,
                              std::initializer_list<IntArrayRef> strides, Divide divide,
                              FunctionRef<void(const Sheet&)> f);

// Copies n elements of `size` bytes (1, 2, 4, 8 or 16); strides in elements, which may be negative.
OPGEN_API void copy_run(char* to, std::int64_t to_stride, const char* from,
                        std::int64_t from_stride, std::int64_t n, std::size_t size) noexcept;

// The same for `count` rows of n elements; steps from row to row in bytes.
OPGEN_API void copy_runs(char* to, std::int64_t to_step, std::int64_t to_stride, const char* from,
                         std::int64_t from_step, std::int64_t from_stride, std::int64_t count,
                         std::int64_t n, std::size_t size) noexcept;

// Copies `count` rows of `length` bytes; steps from row to row in bytes. By vectors, which for rows
// of up to two kilobytes take half of the time of a std::memcpy for each.
OPGEN_API void copy_rows(char* to, std::int64_t to_step, const char* from, std::int64_t from_step,
                         std::int64_t count, std::size_t length) noexcept;

// Copies the element at position indices[k] of operand 1 to position k of operand 0, for each k of
// the sheet. The indices must be in bounds and contiguous. `size` is that of an element in bytes.
OPGEN_API void gather_sheet(const Sheet& sheet, char* to, const char* from,
                            const std::int64_t* indices, std::size_t size) noexcept;
// Copies the element at position k of operand 1 to position indices[k] of operand 0, k ascending.
OPGEN_API void scatter_sheet(const Sheet& sheet, char* to, const char* from,
                             const std::int64_t* indices, std::size_t size) noexcept;

namespace detail {

// The rows of a sheet that are contiguous memory, which compilers vectorise.
template <class T, class U, class F>
OPGEN_ALWAYS_INLINE void update_rows_here(const Sheet& sheet, T* to, U* from,
                                          const std::int64_t* indices, const F& f) {
  const std::int64_t n = sheet.run;
  for (std::int64_t k = sheet.begin; k < sheet.end; ++k) {
    T* row = to + indices[k] * sheet.steps[0];
    U* other = from + k * sheet.steps[1];
    for (std::int64_t j = 0; j < n; ++j) f(row[j], other[j]);
  }
}
template <class T, class U, class F>
OPGEN_NOINLINE void update_rows(const Sheet& sheet, T* to, U* from, const std::int64_t* indices,
                                const F& f) {
  update_rows_here(sheet, to, from, indices, f);
}
#if OPGEN_LOOPS_AVX2
template <class T, class U, class F>
OPGEN_NOINLINE OPGEN_TARGET_AVX2 void update_rows_avx2(const Sheet& sheet, T* to, U* from,
                                                       const std::int64_t* indices, const F& f) {
  update_rows_here(sheet, to, from, indices, f);
}
#endif

}  // namespace detail

// Calls f(element, other) for each k of the sheet, ascending, and each element of the run:
// `element` is at position indices[k] of operand 0, and `other` at position k of operand 1.
template <class T, class U, class F>
void update_sheet(const Sheet& sheet, T* to, U* from, const std::int64_t* indices, const F& f) {
  to += sheet.offsets[0];
  from += sheet.offsets[1];
  const std::int64_t step = sheet.steps[0], other_step = sheet.steps[1];
  if (sheet.has_rows(2)) {
#if OPGEN_LOOPS_AVX2
    if (detail::use_avx2()) return detail::update_rows_avx2(sheet, to, from, indices, f);
#endif
    return detail::update_rows(sheet, to, from, indices, f);
  }
  if (sheet.has_faster_run()) {
    for (std::int64_t k = sheet.begin; k < sheet.end; ++k) {
      T* row = to + indices[k] * step;
      U* other = from + k * other_step;
      for (std::int64_t j = 0; j < sheet.run; ++j) {
        f(row[j * sheet.run_steps[0]], other[j * sheet.run_steps[1]]);
      }
    }
    return;
  }
  for (std::int64_t j = 0; j < sheet.run; ++j) {
    for (std::int64_t k = sheet.begin; k < sheet.end; ++k) {
      f(to[indices[k] * step], from[k * other_step]);
    }
    to += sheet.run_steps[0];
    from += sheet.run_steps[1];
  }
}

namespace detail {

// f(to[i * to_step + indices[i * step] * stride], from[i * from_step]) for each i.
template <class T, class U, class F>
OPGEN_ALWAYS_INLINE void update_row(T* to, std::int64_t to_step, std::int64_t stride, U* from,
                                    std::int64_t from_step, const std::int64_t* indices,
                                    std::int64_t step, std::int64_t n, const F& f) {
  if (step == 1 && from_step == 1 && to_step == 0) {
    for (std::int64_t i = 0; i < n; ++i) f(to[indices[i] * stride], from[i]);
  } else if (step == 1 && from_step == 1 && to_step == 1) {
    for (std::int64_t i = 0; i < n; ++i) f(to[i + indices[i] * stride], from[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      f(to[i * to_step + indices[i * step] * stride], from[i * from_step]);
    }
  }
}

}  // namespace detail

// The same for indices that are themselves an operand: operand 0 is `to`, operand 1 `from`, and
// operand 2 the indices, which must be in bounds. `stride` is that of `to` along the indexed
// dimension; sheet.steps[0] is not used.
template <class T, class U, class F>
void update_indexed_sheet(const Sheet& sheet, T* to, std::int64_t stride, U* from,
                          const std::int64_t* indices, const F& f) {
  to += sheet.offsets[0];
  from += sheet.offsets[1] + sheet.begin * sheet.steps[1];
  indices += sheet.offsets[2] + sheet.begin * sheet.steps[2];
  const std::int64_t count = sheet.end - sheet.begin;
  if (sheet.run != 1 && sheet.run_steps[2] == 1) {
    for (std::int64_t k = 0; k < count; ++k) {
      detail::update_row(to, sheet.run_steps[0], stride, from + k * sheet.steps[1],
                         sheet.run_steps[1], indices + k * sheet.steps[2], 1, sheet.run, f);
    }
    return;
  }
  for (std::int64_t j = 0; j < sheet.run; ++j) {
    detail::update_row(to + j * sheet.run_steps[0], 0, stride, from + j * sheet.run_steps[1],
                       sheet.steps[1], indices + j * sheet.run_steps[2], sheet.steps[2], count, f);
  }
}

}  // namespace opgen
