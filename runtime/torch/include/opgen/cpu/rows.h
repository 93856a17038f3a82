// rows.h: the functions that loops.h needs from ATen: rows of an iterator, the processor's
// instruction set, and errors.
#pragma once

#include <ATen/TensorIterator.h>
#include <c10/util/Load.h>

#include <cstdint>
#include <initializer_list>

#include "opgen/core/error.h"
#include "opgen/core/macros.h"
#include "opgen/core/parallel.h"
#include "opgen/tensor/tensor.h"

#include "../../../../include/opgen/cpu/has_f16c.h"

namespace opgen::detail {

[[noreturn]] __attribute__((weak, cold)) void throw_kernel_dtypes(
    const TensorIteratorBase& iter, std::initializer_list<ScalarType> dtypes, int noutputs) {
  OPGEN_INTERNAL_ASSERT(
      iter.ntensors() == static_cast<int>(dtypes.size()) && iter.noutputs() == noutputs,
      "a kernel with ", dtypes.size() - static_cast<std::size_t>(noutputs), " inputs and ",
      noutputs, " outputs runs over an iterator with ", iter.ninputs(), " inputs and ",
      iter.noutputs(), " outputs");
  int i = 0;
  for (const ScalarType dtype : dtypes) {
    OPGEN_INTERNAL_ASSERT(iter.dtype(i) == dtype, "operand ", i, " has dtype ", iter.dtype(i),
                          ", but the kernel's function takes ", dtype);
    ++i;
  }
  OPGEN_INTERNAL_ASSERT(false, "the operands have the dtypes of the kernel's function");
}
// Calls `row` for each row of a block of rows.
template <class Row>
auto rows_of_blocks(const TensorIteratorBase& iter, const Row& row) {
  constexpr int most = 32;
  const int operands = iter.ntensors();
  OPGEN_INTERNAL_ASSERT(operands <= most, "a kernel runs over too many operands: ", operands);
  return [&row, operands](char** first, const std::int64_t* strides, std::int64_t n,
                          std::int64_t rows) {
    char* data[most];
    for (std::int64_t i = 0; i < rows; ++i) {
      for (int k = 0; k < operands; ++k) data[k] = first[k] + i * strides[operands + k];
      row(data, strides, n);
    }
  };
}
// Calls `row` for all elements, in any order.
template <class Row>
void for_each_row(TensorIteratorBase& iter, const Row& row, std::int64_t grain) {
  iter.for_each(rows_of_blocks(iter, row), grain);
}
// Calls `row` for all elements in the iterator's order, in this thread.
template <class Row>
void for_each_row_in_order(TensorIteratorBase& iter, const Row& row) {
  iter.serial_for_each(rows_of_blocks(iter, row), {0, iter.numel()});
}
constexpr const TensorBase* const* contiguous_tensors(const TensorIteratorBase&) {
  return nullptr;
}
// ATen's iterator computes comparisons in the dtype of an output that the caller gave.
constexpr const TensorBase* find_output_of(const TensorIteratorBase&, ScalarType) {
  return nullptr;
}
constexpr void drop_temporary_output(const TensorIteratorBase&) {}
[[nodiscard]] inline bool use_avx2() noexcept {
#if defined(__x86_64__)
  static const bool can = __builtin_cpu_supports("avx2") != 0;
  return can;
#else
  return false;
#endif
}
[[nodiscard]] inline bool use_fma() noexcept {
#if defined(__x86_64__)
  static const bool can = use_avx2() && __builtin_cpu_supports("fma") != 0 && has_f16c();
  return can;
#else
  return false;
#endif
}
[[nodiscard]] inline bool use_avx512() noexcept {
#if defined(__x86_64__)
  static const bool can = use_fma() && __builtin_cpu_supports("avx512f") != 0 &&
                          __builtin_cpu_supports("avx512vl") != 0 &&
                          __builtin_cpu_supports("avx512bw") != 0 &&
                          __builtin_cpu_supports("avx512dq") != 0;
  return can;
#else
  return false;
#endif
}
// A byte of a bool tensor need not be 0 or 1.
template <class T>
OPGEN_ALWAYS_INLINE T element_at(const T* at) noexcept {
  return c10::load(at);
}

}  // namespace opgen::detail
