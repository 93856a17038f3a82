// view_part.h: ViewPart, a view's record of its base. Internal.
#pragma once

#include "opgen/autograd/inplace_or_view.h"
#include "opgen/registration/tracked_call.h"
#include "tensor/tensor_parts.h"

namespace opgen {

struct ViewPart final : TensorPart {
  static constexpr TensorPartKind kKind = TensorPartKind::View;
  TensorBase base;
  TensorBase tangent_base;  // the tensor of whose tangent the view's tangent is a view; if
                            // undefined, `base`
  CreationMeta creation = CreationMeta::Default;
  bool has_tangent_base = true;  // if false, the tensor has its own tangent
  bool is_dual = false;       // made by make_dual(); views of this tensor have views of its tangent
  std::uint32_t version = 0;  // the version to which the tensor's history belongs
};

[[nodiscard]] inline ViewPart* find_view(const TensorBase& tensor) noexcept {
  auto* part = detail::find_part<ViewPart>(tensor.unsafeGetTensorImpl());
  return part != nullptr && part->base.defined() ? part : nullptr;
}

namespace detail {

// autograd_fallback.cpp's part of the hooks that inplace_or_view.cpp sets.
[[nodiscard]] bool any_needs_recording(const TensorSpan* arguments, std::size_t count) noexcept;

}  // namespace detail
}  // namespace opgen
