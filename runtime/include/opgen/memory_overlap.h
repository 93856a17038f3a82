// memory_overlap.h: whether elements of a tensor, or of two, share memory; the checks that outputs
// must pass.
#pragma once

#include <cstdint>

#include "opgen/macros.h"

namespace opgen {

class TensorBase;

namespace detail {

enum class MemOverlap : std::uint8_t { No, Yes, TooHard };
enum class MemOverlapStatus : std::uint8_t { Full, Partial, No, TooHard };

[[nodiscard]] OPGEN_API MemOverlap has_internal_overlap(const TensorBase& tensor) noexcept;
// Full: the same elements in the same places. TooHard is given only for tensors with gaps.
[[nodiscard]] OPGEN_API MemOverlapStatus get_overlap_status(const TensorBase& a,
                                                            const TensorBase& b) noexcept;

// Whether some byte belongs to an element of both, wherever the gaps are. Of tensors with gaps in
// one range of one storage each element is looked at, unless they plainly lie beside each other.
[[nodiscard]] OPGEN_API bool share_elements(const TensorBase& a, const TensorBase& b);
// The same elements of one dtype in the same places.
[[nodiscard]] OPGEN_API bool are_same_elements(const TensorBase& a, const TensorBase& b) noexcept;

// For a tensor that is written: two of its elements must not be one place.
OPGEN_API void assert_no_internal_overlap(const TensorBase& tensor);
// For an output and an input of an elementwise operation: apart, or the very same elements.
OPGEN_API void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b);
// For an output that is written before all of the input is read.
OPGEN_API void assert_no_overlap(const TensorBase& a, const TensorBase& b);

}  // namespace detail
}  // namespace opgen
