// factories.h: new tensors without operators: empty and empty_strided (empty.h), empty_like, full,
// wrapped numbers.
#pragma once

#include <optional>

#include "opgen/core/array_ref.h"
#include "opgen/core/enumerations.h"
#include "opgen/core/scalar.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/tensor_options.h"

namespace opgen::detail {

// Absent options are taken from `self`. Preserve, the default format, keeps its order of strides.
[[nodiscard]] OPGEN_API TensorBase empty_like(const TensorBase& self,
                                              const TensorOptions& options = {},
                                              std::optional<MemoryFormat> format = std::nullopt);
[[nodiscard]] OPGEN_API TensorBase full(IntArrayRef sizes, const Scalar& value,
                                        const TensorOptions& options);
// Returns the options with a dtype. If they have none, adds the one that PyTorch's full() uses for
// the number: Bool, Long or a default dtype.
[[nodiscard]] OPGEN_API TensorOptions options_for_number(const Scalar& value,
                                                         const TensorOptions& options);
// Returns a zero-dim tensor that wraps a number: type promotion treats it as a number. Its dtype is
// that of the number: Bool, Long, Double or ComplexDouble.
[[nodiscard]] OPGEN_API TensorBase wrapped_scalar_tensor(const Scalar& value, Device device = kCPU);
// Returns a zero-dim tensor that counts as a tensor in type promotion.
[[nodiscard]] OPGEN_API TensorBase scalar_tensor(const Scalar& value, const TensorOptions& options);

}  // namespace opgen::detail
