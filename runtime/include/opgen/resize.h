// resize.h: what `out=` does to a tensor of the wrong shape, and resize_.
#pragma once

#include <optional>

#include "opgen/array_ref.h"
#include "opgen/memory_format.h"

namespace opgen {

class TensorBase;

namespace detail {

// Whether `output` has another shape; warns if it also has elements, since their loss is seldom
// meant.
OPGEN_API bool resize_output_check(const TensorBase& output, IntArrayRef sizes);
// Gives `out` this shape, contiguous, if it has another. Returns whether it had.
OPGEN_API bool resize_output(const TensorBase& out, IntArrayRef sizes);
// The same shape: nothing happens, strides stay. Another: contiguous, or in `format`; the storage
// grows if it must and never shrinks.
OPGEN_API const TensorBase& resize_(const TensorBase& self, IntArrayRef sizes,
                                    std::optional<MemoryFormat> format = std::nullopt);
// Lets an output that was just resized take these strides, or this format if `strides` is empty.
OPGEN_API void restride_output(const TensorBase& output, IntArrayRef sizes, IntArrayRef strides,
                               std::optional<MemoryFormat> format);

}  // namespace detail
}  // namespace opgen
