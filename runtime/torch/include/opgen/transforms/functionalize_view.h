// functionalize_view.h: the Functionalize kernels of views: a write to the view becomes a write to
// its base, by an operator that returns a new tensor.
#pragma once

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/copy.h>
#include <ATen/ops/reshape.h>
#include <ATen/ops/scatter.h>

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/tensor/kept.h"
#include "opgen/transforms/functionalize.h"

namespace opgen {

namespace detail {

// A stored call of the view `Op` that can be repeated with another base, or with `CopyOp` if views
// are not wanted. `R` is a Tensor or, for several outputs, a vector of tensors.
template <class Op, class CopyOp, class R, class... A>
class OwnView final : public at::functionalization::ViewMeta {
 public:
  OwnView(bool views, std::tuple<kept_t<A>...> arguments, std::int64_t index = 0)
      : ViewMeta(is_symbolic(arguments), /*is_multi_output=*/!std::is_same_v<R, Tensor>,
                 /*is_as_strided=*/false, index),
        views_(views),
        arguments_(std::move(arguments)) {}

  R run(const Tensor& base) const {
    return std::apply(
        [&](const auto&... each) {
          return views_ ? Op::call(base, each...) : CopyOp::call(base, each...);
        },
        arguments_);
  }

  Tensor forward(const Tensor& base) override { return output(run(base)); }

  // Returns `base` with the elements of `view` written into it. The same view of the indices of the
  // base's elements shows where each element belongs. This works for all strides, and for every
  // view whose elements are elements of the base.
  Tensor reverse(const Tensor& base, const Tensor& view) override {
    TORCH_CHECK_NOT_IMPLEMENTED(
        base.scalar_type() == view.scalar_type(), Op::name,
        ": a view whose elements have another type than those of its base cannot be written where "
        "functions must not change their arguments");
    const Tensor places = at::arange(base.sym_numel(), base.options().dtype(kLong));
    const Tensor seen = forward(places.view_symint(base.sym_sizes()));
    const Tensor filled =
        at::scatter(base.reshape({-1}), 0, seen.reshape({-1}), view.reshape({-1}));
    // The result has the strides of the base.
    return at::copy(base, filled.view_symint(base.sym_sizes()));
  }

  std::shared_ptr<ViewMeta> to_out_index(std::int64_t index) override {
    return std::make_shared<OwnView>(views_, arguments_, index);
  }

 private:
  Tensor output(const R& result) const {
    if constexpr (std::is_same_v<R, Tensor>) {
      return result;
    } else {
      return result[static_cast<std::size_t>(out_index)];
    }
  }

  bool views_;
  std::tuple<kept_t<A>...> arguments_;
};

inline Tensor functional_view(const Tensor& view, const Tensor& base,
                              const std::shared_ptr<at::functionalization::ViewMeta>& meta) {
  const auto* wrapper = at::functionalization::impl::unsafeGetFunctionalWrapper(base);
  return at::detail::make_tensor<at::FunctionalTensorWrapper>(view, wrapper, meta);
}

template <class Op, class CopyOp, class R, class... A>
std::shared_ptr<OwnView<Op, CopyOp, R, A...>> own_view(const A&... arguments) {
  const bool views = at::functionalization::impl::getFunctionalizationReapplyViewsTLS();
  return std::make_shared<OwnView<Op, CopyOp, R, A...>>(
      views, std::tuple<kept_t<A>...>(keep(from_functional(arguments))...));
}

}  // namespace detail

// A view and its copying variant.
template <class Op, class CopyOp, class Schema = typename Op::schema>
struct FunctionalizeView;
template <class Op, class CopyOp, class R, class... A>
struct FunctionalizeView<Op, CopyOp, R(const Tensor&, A...)> {
  static R call(const Tensor& self, A... arguments) {
    namespace impl = at::functionalization::impl;
    if (!impl::isFunctionalTensor(self)) {
      at::AutoDispatchSkipFunctionalize guard;
      return Op::call(self, std::forward<A>(arguments)...);
    }
    const auto meta = detail::own_view<Op, CopyOp, R, std::remove_cvref_t<A>...>(arguments...);
    R result;
    {
      at::AutoDispatchSkipFunctionalize guard;
      result = meta->run(impl::from_functional_tensor(self));
    }
    if constexpr (std::is_same_v<R, Tensor>) {
      return detail::functional_view(result, self, meta);
    } else {
      for (std::size_t i = 0; i < result.size(); ++i) {
        const auto index = static_cast<std::int64_t>(i);
        result[i] = detail::functional_view(result[i], self, meta->to_out_index(index));
      }
      return result;
    }
  }
};

// A view that changes its argument's shape, and the variant that returns another tensor.
template <class Op, class ViewOp, class CopyOp, class Schema = typename Op::schema>
struct FunctionalizeInplaceView;
template <class Op, class ViewOp, class CopyOp, class Self, class... A>
struct FunctionalizeInplaceView<Op, ViewOp, CopyOp, Self(Self, A...)> {
  static Self call(Self self, A... arguments) {
    namespace impl = at::functionalization::impl;
    at::AutoDispatchSkipFunctionalize guard;
    if (!impl::isFunctionalTensor(self)) return Op::call(self, std::forward<A>(arguments)...);
    impl::unsafeGetFunctionalWrapper(self)->mutate_view_meta(
        detail::own_view<ViewOp, CopyOp, Tensor, std::remove_cvref_t<A>...>(arguments...));
    return self;
  }
};

}  // namespace opgen
