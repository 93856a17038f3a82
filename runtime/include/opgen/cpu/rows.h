// rows.h: the functions that loops.h needs from this runtime: rows of an iterator, the processor's
// instruction set, and errors. Target torch has a header with the same name for ATen's iterator.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "opgen/core/parallel.h"
#include "opgen/cpu/element.h"
#include "opgen/iterator/tensor_iterator.h"
#include "opgen/registration/dispatch_stub.h"

namespace opgen::detail {

// Throws Error, which says that the operands should have these dtypes (outputs first).
OPGEN_API void throw_kernel_dtypes(const TensorIteratorBase& iter,
                                   std::initializer_list<ScalarType> dtypes, int noutputs);
// Calls `row` for all elements, in any order. Proceeds in tiles if the fastest dimension is not the
// same for all operands.
OPGEN_API void for_each_row(TensorIteratorBase& iter, TensorIteratorBase::loop1d_t row,
                            std::int64_t grain);
// If the only output is a temporary, the caller's tensor has this dtype, and its element i, in
// memory, belongs to element i of the iteration, returns the caller's tensor, else null.
[[nodiscard]] OPGEN_API const TensorBase* find_output_of(const TensorIteratorBase& iter,
                                                         ScalarType dtype) noexcept;
// Ends the use of that temporary: the loop has written the caller's tensor.
OPGEN_API void drop_temporary_output(TensorIteratorBase& iter);
// Calls `row` for all elements in the iterator's order, in this thread.
inline void for_each_row_in_order(TensorIteratorBase& iter, TensorIteratorBase::loop1d_t row) {
  iter.serial_for_each(row, 0, iter.numel());
}
// Returns the operands if they form one row, else null.
[[nodiscard]] inline const TensorBase* const* contiguous_tensors(const TensorIteratorBase& iter) {
  return iter.contiguous_tensors();
}
// Whether loops compiled for AVX2 may run.
[[nodiscard]] inline bool use_avx2() noexcept {
  return get_cpu_capability() >= CPUCapability::AVX2;
}
// Whether loops compiled for AVX2, FMA and F16C may run.
[[nodiscard]] inline bool use_fma() noexcept {
  return use_avx2();
}
// Whether loops compiled for AVX-512 (F, VL, BW and DQ) may run.
[[nodiscard]] inline bool use_avx512() noexcept {
  return get_cpu_capability() >= CPUCapability::AVX512;
}

}  // namespace opgen::detail
