// view_history.h: histories of views after an in-place change of the view or of its base. Internal.
#pragma once

#include "autograd/view_part.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/inplace_or_view.h"

namespace opgen::autograd::internal {

// The position of a view in its base. The offset is relative to that of the base.
struct SliceGeometry {
  DimVector base_sizes;
  DimVector base_strides;
  DimVector sizes;
  DimVector strides;
  std::int64_t offset = 0;

  [[nodiscard]] static SliceGeometry of(const TensorBase& view, const TensorBase& base);
};

// Returns whether the view lies in a tensor with the base's sizes and strides. It may reach beyond
// the base.
[[nodiscard]] bool holds_slice(const TensorBase& full, const SliceGeometry& geometry) noexcept;

// These functions are linear, and all have gradients. `full` has the sizes of the base, and `part`
// those of the view. take_slice() returns the view's part of `full`, in a new tensor.
[[nodiscard]] TensorBase take_slice(const TensorBase& full, const SliceGeometry& geometry);
// Returns `part` at its position in a tensor of zeros. Overlapping elements are added up.
[[nodiscard]] TensorBase put_slice(const TensorBase& part, const SliceGeometry& geometry);
// Returns a copy of `full` with zeros in the view's part.
[[nodiscard]] TensorBase without_slice(const TensorBase& full, const SliceGeometry& geometry);

// Returns whether a change of the base gives the view a new history.
[[nodiscard]] inline bool follows_base(const TensorBase& tensor, const ViewPart& view) noexcept {
  return (view.creation == CreationMeta::Default || view.creation == CreationMeta::MultiOutput) &&
         view.version != tensor.unsafeGetTensorImpl()->version();
}
OPGEN_HIDDEN void make_view_history(const TensorBase& tensor, ViewPart& view);
// Gives a view a new history from that of its base, if an in-place change has invalidated the
// view's own.
inline void update_view_history(const TensorBase& tensor) {
  ViewPart* view = find_view(tensor);
  if (view != nullptr && follows_base(tensor, *view)) make_view_history(tensor, *view);
}

}  // namespace opgen::autograd::internal
