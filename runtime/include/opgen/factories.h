// factories.h: new tensors without operators: empty and empty_strided (empty.h), empty_like, full,
// numbers as tensors.
#pragma once

#include <optional>

#include "opgen/array_ref.h"
#include "opgen/empty.h"
#include "opgen/memory_format.h"
#include "opgen/scalar.h"
#include "opgen/tensor_options.h"

namespace opgen::detail {

// What `options` leaves open is taken from `self`; Preserve, the default format, keeps its order of
// strides.
[[nodiscard]] OPGEN_API TensorBase empty_like(const TensorBase& self,
                                              const TensorOptions& options = {},
                                              std::optional<MemoryFormat> format = std::nullopt);
[[nodiscard]] OPGEN_API TensorBase full(IntArrayRef sizes, const Scalar& value,
                                        const TensorOptions& options);
// With a dtype: what PyTorch's full() takes for a number: Bool, Long, or the default dtypes.
[[nodiscard]] OPGEN_API TensorOptions options_for_number(const Scalar& value,
                                                         const TensorOptions& options);
// A tensor without dimensions that stands for a number: it does not take part in type promotion as
// a tensor would. It has the number's own type: Bool, Long, Double or ComplexDouble.
[[nodiscard]] OPGEN_API TensorBase wrapped_scalar_tensor(const Scalar& value, Device device = kCPU);
// The same without the mark.
[[nodiscard]] OPGEN_API TensorBase scalar_tensor(const Scalar& value, const TensorOptions& options);

}  // namespace opgen::detail
