// view_part.h: ViewPart, what a view carries: its base. Internal.
#pragma once

#include "opgen/autograd/inplace_or_view.h"
#include "opgen/tensor/tensor_parts.h"

namespace opgen {

struct ViewPart final : TensorPart {
  static constexpr TensorPartKind kKind = TensorPartKind::View;
  TensorBase base;
  TensorBase tangent_base;  // of which the tangent's view is this tensor's tangent; else `base`
  CreationMeta creation = CreationMeta::Default;
  bool has_tangent_base = true;  // false: the tangent is this tensor's own
  bool is_dual = false;          // made by make_dual(): views of it have views of its tangent
  std::uint32_t version = 0;     // for which the tensor's history is
};

[[nodiscard]] inline ViewPart* find_view(const TensorBase& tensor) noexcept {
  auto* part = detail::find_part<ViewPart>(tensor.unsafeGetTensorImpl());
  return part != nullptr && part->base.defined() ? part : nullptr;
}

}  // namespace opgen
