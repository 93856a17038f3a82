// empty.h: new, uninitialised tensors, allocated by PyTorch.
#pragma once

#include <optional>

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

// Returns an uninitialised tensor. Absent options take their defaults.
[[nodiscard]] OPGEN_API TensorBase empty(IntArrayRef sizes, const TensorOptions& options = {},
                                         std::optional<MemoryFormat> format = std::nullopt);
// Returns a strided, row-major tensor: the most frequent case, without TensorOptions.
[[nodiscard]] OPGEN_API TensorBase empty_contiguous(IntArrayRef sizes, ScalarType dtype,
                                                    Device device);
[[nodiscard]] OPGEN_API TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                                 const TensorOptions& options = {});
// Returns a tensor on memory that the caller owns; see kernels-api.md. A deleter needs PyTorch
// 2.11.
[[nodiscard]] OPGEN_API TensorBase from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                             const TensorOptions& options, void* context = nullptr,
                                             void (*deleter)(void*) = nullptr);

// With sizes that may be symbols: for Meta kernels.
[[nodiscard]] OPGEN_API TensorBase empty_symint(SymIntArrayRef sizes,
                                                const TensorOptions& options = {},
                                                std::optional<MemoryFormat> format = std::nullopt);
[[nodiscard]] OPGEN_API TensorBase empty_strided_symint(SymIntArrayRef sizes,
                                                        SymIntArrayRef strides,
                                                        const TensorOptions& options = {});
[[nodiscard]] OPGEN_API TensorBase as_strided_symint(const TensorBase& self, SymIntArrayRef sizes,
                                                     SymIntArrayRef strides,
                                                     std::optional<SymInt> storage_offset);
OPGEN_API bool resize_output_symint(const TensorBase& out, SymIntArrayRef sizes);

}  // namespace opgen::detail
