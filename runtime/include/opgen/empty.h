// empty.h: fresh, uninitialised tensors, without any operator.
#pragma once

#include <optional>

#include "opgen/tensor.h"

namespace opgen::detail {

// The keys of a fresh tensor: its backend, its autograd and the view tracking that every tensor
// takes part in.
[[nodiscard]] OPGEN_API DispatchKeySet default_key_set(DispatchKey key) noexcept;

// ValueError for a negative size. Absent options take their defaults.
[[nodiscard]] OPGEN_API TensorBase empty(IntArrayRef sizes, const TensorOptions& options = {},
                                         std::optional<MemoryFormat> format = std::nullopt);
// What most calls ask for, without options to look at: strided, row-major.
[[nodiscard]] OPGEN_API TensorBase empty_contiguous(IntArrayRef sizes, ScalarType dtype,
                                                    Device device);
[[nodiscard]] OPGEN_API TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                                 const TensorOptions& options = {});
// Bytes of someone else; `deleter(context)` is called when the last tensor on them is gone, or if
// this throws.
[[nodiscard]] OPGEN_API TensorBase from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                             const TensorOptions& options, void* context = nullptr,
                                             void (*deleter)(void*) = nullptr);

}  // namespace opgen::detail
