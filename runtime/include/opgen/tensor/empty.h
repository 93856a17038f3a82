// empty.h: new, uninitialised tensors, without a dispatcher call.
#pragma once

#include <optional>

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

// Returns the keys of a new tensor: its backend, its autograd key and view tracking.
[[nodiscard]] OPGEN_API DispatchKeySet default_key_set(DispatchKey key) noexcept;

// Returns an uninitialised tensor. Absent options take their defaults. Throws ValueError for a
// negative size.
[[nodiscard]] OPGEN_API TensorBase empty(IntArrayRef sizes, const TensorOptions& options = {},
                                         std::optional<MemoryFormat> format = std::nullopt);
// Returns a strided, row-major tensor: the most frequent case, without TensorOptions.
[[nodiscard]] OPGEN_API TensorBase empty_contiguous(IntArrayRef sizes, ScalarType dtype,
                                                    Device device);
[[nodiscard]] OPGEN_API TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                                 const TensorOptions& options = {});
// Returns a tensor on memory that the caller owns. The memory must stay valid until
// `deleter(context)` is called. That happens once: when the last tensor on it is destroyed, on any
// thread, or before this function throws. Strides count elements.
[[nodiscard]] OPGEN_API TensorBase from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                             const TensorOptions& options, void* context = nullptr,
                                             void (*deleter)(void*) = nullptr);

// The same, for sizes that may be symbols on target torch.
[[nodiscard]] inline TensorBase empty_strided_symint(SymIntArrayRef sizes, SymIntArrayRef strides,
                                                     const TensorOptions& options) {
  return empty_strided(sizes, strides, options);
}

}  // namespace opgen::detail
