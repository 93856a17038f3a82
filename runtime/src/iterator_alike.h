// iterator_alike.h: what the quick set-ups of iterations ask about two tensors. Internal.
#pragma once

#include "opgen/tensor.h"

namespace opgen::detail {

// One dtype, device and shape, and elements in the same order: nothing to promote, to broadcast or
// to sort.
OPGEN_NOINLINE inline bool is_like(const TensorImpl* t, const TensorImpl* model) noexcept {
  return t->dtype() == model->dtype() && t->device() == model->device() && t->is_contiguous() &&
         t->layout() == kStrided && t->dim() == model->dim() && t->sizes() == model->sizes();
}

// Writing element i after reading elements i is safe: no memory in common, or all of it.
inline bool is_apart_or_same(const TensorImpl* out, const TensorImpl* in) noexcept {
  return out->storage() != in->storage() ||
         (out->storage_offset() == in->storage_offset() && out->numel() == in->numel());
}

}  // namespace opgen::detail
