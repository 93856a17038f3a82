// inplace_or_view.h: what the key ADInplaceOrView does: counts in-place changes and remembers which
// tensor a view was taken from.
#pragma once

#include "opgen/tensor.h"

namespace opgen {

struct FunctionSchema;
struct KernelFunction;

// Where a view was made; autograd refuses to change some of them in place.
enum class CreationMeta : std::uint8_t {
  Default,
  InCustomFunction,  // in the forward of an autograd::Function
  MultiOutput,       // one of several views that a single call returned
  NoGradMode,
  InferenceMode,
};
[[nodiscard]] OPGEN_API const char* toString(CreationMeta meta) noexcept;

// Whether an operator returned this tensor as a view of another, outside of inference mode.
[[nodiscard]] OPGEN_API bool is_view(const TensorBase& tensor) noexcept;
// The tensor that the view was taken from, never itself a view; undefined if it is no view.
[[nodiscard]] OPGEN_API TensorBase view_base(const TensorBase& tensor) noexcept;
// Default for a tensor that is no view.
[[nodiscard]] OPGEN_API CreationMeta creation_meta(const TensorBase& tensor) noexcept;
OPGEN_API void set_creation_meta(const TensorBase& view, CreationMeta meta);
// `view` becomes a view of `base`, or of what `base` is a view of.
OPGEN_API void mark_view(const TensorBase& view, const TensorBase& base, CreationMeta meta);

// After an in-place change by hand: operators count by themselves. Error for a tensor made in
// inference mode, outside of it.
OPGEN_API void increment_version(const TensorBase& tensor);

namespace detail {

// The kernel for ADInplaceOrView of an operator with this schema. A fallthrough, which costs
// nothing, if the schema neither writes to an argument nor returns a view of one.
[[nodiscard]] OPGEN_API KernelFunction choose_inplace_or_view_kernel(const FunctionSchema& schema);

}  // namespace detail
}  // namespace opgen
