// memory_overlap.h: finds out whether elements of one tensor, or of two, share memory, and checks
// outputs.
#pragma once

#include <cstdint>

#include "opgen/core/macros.h"

namespace opgen {

class TensorBase;

namespace tensor_functions {

enum class MemOverlap : std::uint8_t { No, Yes, TooHard };
enum class MemOverlapStatus : std::uint8_t { Full, Partial, No, TooHard };

[[nodiscard]] OPGEN_API MemOverlap has_internal_overlap(const TensorBase& tensor) noexcept;
// Full: the same elements at the same addresses. TooHard is returned only for tensors with gaps.
[[nodiscard]] OPGEN_API MemOverlapStatus get_overlap_status(const TensorBase& a,
                                                            const TensorBase& b) noexcept;

// Returns whether some byte belongs to elements of both. The answer is exact, also for tensors with
// gaps: if two such tensors cover a common range of a storage, all addresses are compared, unless
// the strides already show that there is no overlap.
[[nodiscard]] OPGEN_API bool share_elements(const TensorBase& a, const TensorBase& b);
// Returns whether both have the same elements, with the same dtype, at the same addresses.
[[nodiscard]] OPGEN_API bool are_same_elements(const TensorBase& a, const TensorBase& b) noexcept;

// Throws Error if two elements of the tensor, which is written, share memory.
OPGEN_API void assert_no_internal_overlap(const TensorBase& tensor);
// Throws Error unless the output and the input of an elementwise operation share either no elements
// or all.
OPGEN_API void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b);
// Throws Error if an output shares an element with an input. For outputs that are written before
// the whole input is read.
OPGEN_API void assert_no_overlap(const TensorBase& a, const TensorBase& b);

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)
}  // namespace opgen
