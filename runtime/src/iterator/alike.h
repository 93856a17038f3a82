// alike.h: comparisons of two tensors for the quick set-ups of iterations. Internal.
#pragma once

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

// Returns whether both have the same dtype, device, shape and order of elements, so that nothing
// must be promoted, broadcast or sorted. On target torch-stable, a tensor may have to ask PyTorch,
// which may throw.
OPGEN_NOINLINE inline bool is_like(const TensorImpl* t, const TensorImpl* model) {
  return t->dtype() == model->dtype() && t->device() == model->device() && t->is_contiguous() &&
         t->layout() == kStrided && t->dim() == model->dim() && t->sizes() == model->sizes();
}

// Returns whether element i can be written after element i is read: the tensors share either no
// memory or all of it.
inline bool is_apart_or_same(const TensorImpl* out, const TensorImpl* in) {
  return out->storage() != in->storage() ||
         (out->storage_offset() == in->storage_offset() && out->numel() == in->numel());
}

}  // namespace opgen::detail
