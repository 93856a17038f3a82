// memory_overlap.h: whether elements of one tensor or of two share memory; the checks of outputs.
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

// Whether some byte belongs to an element of both; exact for tensors with gaps. If two tensors with
// gaps cover a common range of one storage, their elements are compared one by one, unless their
// strides show that they are apart.
[[nodiscard]] OPGEN_API bool share_elements(const TensorBase& a, const TensorBase& b);
// Whether both have the same elements, of one dtype, at the same addresses.
[[nodiscard]] OPGEN_API bool are_same_elements(const TensorBase& a, const TensorBase& b) noexcept;

// For a tensor that is written. Throws Error if two of its elements share memory.
OPGEN_API void assert_no_internal_overlap(const TensorBase& tensor);
// For an output and an input of an elementwise operation. Throws Error unless they share no
// element, or all.
OPGEN_API void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b);
// For an output that is written before all of an input is read. Throws Error if they share an
// element.
OPGEN_API void assert_no_overlap(const TensorBase& a, const TensorBase& b);

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)

namespace detail {

// Whether two elements of a tensor with gaps share memory. Looks at each element unless the strides
// decide.
[[nodiscard]] OPGEN_API bool repeats_elements(const TensorBase& tensor);

}  // namespace detail
}  // namespace opgen
