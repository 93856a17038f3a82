// resize.h: resizes `out=` tensors with the wrong shape; resize_().
#pragma once

#include <optional>

#include "opgen/core/array_ref.h"
#include "opgen/core/enumerations.h"

namespace opgen {

class TensorBase;

namespace tensor_functions {

// Returns whether `output` has another shape. If so, and it has elements, warns that they will be
// lost.
OPGEN_API bool resize_output_check(const TensorBase& output, IntArrayRef sizes);
// If `out` has another shape, makes it a contiguous tensor of this shape. Returns whether it did.
OPGEN_API bool resize_output(const TensorBase& out, IntArrayRef sizes);
// Keeps the strides if the shape is the same; else the tensor becomes contiguous, or has `format`.
// The storage grows if needed and never shrinks.
OPGEN_API const TensorBase& resize_(const TensorBase& self, IntArrayRef sizes,
                                    std::optional<MemoryFormat> format = std::nullopt);
// Sets the strides of an output that was just resized, or those of the format if `strides` is
// empty.
OPGEN_API void restride_output(const TensorBase& output, IntArrayRef sizes, IntArrayRef strides,
                               std::optional<MemoryFormat> format);

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)
}  // namespace opgen
