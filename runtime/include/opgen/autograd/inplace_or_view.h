// inplace_or_view.h: the key ADInplaceOrView: counts in-place changes and records the base of each
// view.
#pragma once

#include "opgen/tensor/tensor.h"

namespace opgen {

struct FunctionSchema;
struct KernelFunction;

// Where a view was created. autograd rejects in-place changes of some views.
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
// Returns the base of a view, which is never itself a view; undefined if the tensor is not a view.
[[nodiscard]] OPGEN_API TensorBase view_base(const TensorBase& tensor) noexcept;
// Returns Default for a tensor that is not a view.
[[nodiscard]] OPGEN_API CreationMeta creation_meta(const TensorBase& tensor) noexcept;
OPGEN_API void set_creation_meta(const TensorBase& view, CreationMeta meta);
// Makes `view` a view of `base`, or of the base of `base`.
OPGEN_API void mark_view(const TensorBase& view, const TensorBase& base, CreationMeta meta);

// Call it after code other than an operator has made `view` on the bytes of `from`. Records what an
// operator that returns a view records, so that in-place changes of one change the history of the
// other, and the view has its part of the tangent.
OPGEN_API void record_view(const TensorBase& view, const TensorBase& from);

// Call it after code other than an operator has changed the tensor in place. Throws Error outside
// of inference mode for a tensor that was made in it.
OPGEN_API void increment_version(const TensorBase& tensor);

namespace detail {

// Returns the kernel for ADInplaceOrView of an operator with this schema: a fallthrough, which
// costs nothing, if the schema neither writes an argument nor returns a view of one.
[[nodiscard]] OPGEN_API KernelFunction choose_inplace_or_view_kernel(const FunctionSchema& schema);

}  // namespace detail
}  // namespace opgen
