// rows.h: what the loops of loops.h ask of this runtime: rows of an iterator, the processor, and
// errors. Target torch has a header of this name for ATen's iterator.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "opgen/core/parallel.h"
#include "opgen/device/dispatch_stub.h"
#include "opgen/iterator/tensor_iterator.h"

namespace opgen::detail {

// Throws Error: the operands, outputs first, do not have these dtypes.
OPGEN_API void throw_kernel_dtypes(const TensorIteratorBase& iter,
                                   std::initializer_list<ScalarType> dtypes, int noutputs);
// Calls `row` for all elements, in any order. Walks in tiles if the operands differ in which
// dimension is the fastest.
OPGEN_API void for_each_row(TensorIteratorBase& iter, TensorIteratorBase::loop1d_t row,
                            std::int64_t grain);
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
template <class T>
OPGEN_ALWAYS_INLINE T element_at(const T* at) noexcept {
  return *at;
}

}  // namespace opgen::detail
