// view_history.h: histories of views whose base, or which themselves, were changed in place.
// Internal.
#pragma once

#include "autograd/view_part.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/inplace_or_view.h"

namespace opgen::autograd::internal {

// Where a view lies in its base; the offset counts from the base's.
struct SliceGeometry {
  DimVector base_sizes;
  DimVector base_strides;
  DimVector sizes;
  DimVector strides;
  std::int64_t offset = 0;

  [[nodiscard]] static SliceGeometry of(const TensorBase& view, const TensorBase& base);
};

// Whether the view lies in a tensor of the base's sizes and strides: it may reach beyond the base.
[[nodiscard]] bool holds_slice(const TensorBase& full, const SliceGeometry& geometry) noexcept;

// Linear functions; all have gradients. `full` has the sizes of the base, `part` those of the view.
// Returns the view's part of `full`, in a new tensor.
[[nodiscard]] TensorBase take_slice(const TensorBase& full, const SliceGeometry& geometry);
// Returns zeros with `part` in their place; what overlaps is added up.
[[nodiscard]] TensorBase put_slice(const TensorBase& part, const SliceGeometry& geometry);
// Returns `full` with zeros in place of the view's part.
[[nodiscard]] TensorBase without_slice(const TensorBase& full, const SliceGeometry& geometry);

// Whether changes of the base give the view a new history.
[[nodiscard]] inline bool follows_base(const TensorBase& tensor, const ViewPart& view) noexcept {
  return (view.creation == CreationMeta::Default || view.creation == CreationMeta::MultiOutput) &&
         view.version != tensor.unsafeGetTensorImpl()->version();
}
OPGEN_HIDDEN void make_view_history(const TensorBase& tensor, ViewPart& view);
// Gives a view the history that follows from its base, if an in-place change made its own old.
inline void update_view_history(const TensorBase& tensor) {
  ViewPart* view = find_view(tensor);
  if (view != nullptr && follows_base(tensor, *view)) make_view_history(tensor, *view);
}

}  // namespace opgen::autograd::internal
