// autograd_view.h: the ADInplaceOrView kernels of views: they tell autograd the base of each view,
// and how to make the view again. (PyTorch's own fallback rejects views that take a SymInt.)
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/InferenceMode.h>
#include <torch/library.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/autograd/autograd_nodes.h"
#include "opgen/dispatch/operator.h"
#include "opgen/tensor/kept.h"

namespace opgen {

namespace detail {

// Calls `use` with each output of several that is a view, and its number.
template <std::size_t... views, class R, class F>
void for_views(R& result, const F& use) {
  if constexpr (sizeof...(views) > 0) {
    (use(std::get<views>(result), views), ...);
  } else {
    for (std::size_t i = 0; i < result.size(); ++i) use(result[i], i);
  }
}

// A stored call of the view `Op` that can be repeated with another base. For several outputs,
// `index` selects one; `views` are those of a tuple that are views.
template <class Op, class Views, class R, class... A>
class ViewAgain;
template <class Op, std::size_t... views, class R, class... A>
class ViewAgain<Op, std::index_sequence<views...>, R, A...> final
    : public torch::autograd::ViewFunc {
 public:
  ViewAgain(std::tuple<kept_t<A>...> arguments, std::size_t index)
      : arguments_(std::move(arguments)), index_(index) {}

  Tensor operator()(const Tensor& base) const override {
    const R result =
        std::apply([&](const auto&... each) { return Op::call(base, each...); }, arguments_);
    if constexpr (std::is_same_v<R, Tensor>) {
      return result;
    } else {
      Tensor found;
      for_views<views...>(result, [&](const Tensor& view, std::size_t index) {
        if (index == index_) found = view;
      });
      return found;
    }
  }
  std::vector<SymInt> get_symints() const override {
    std::vector<SymInt> found;
    for_each_symint(arguments_, [&](const SymInt& size) { found.push_back(size); });
    return found;
  }
  std::size_t num_symints() const override { return get_symints().size(); }
  std::unique_ptr<ViewFunc> clone_and_set(
      std::optional<std::vector<SymInt>> symints,
      std::optional<std::vector<Tensor>> /*tensors*/) const override {
    auto clone = std::make_unique<ViewAgain>(arguments_, index_);
    if (symints.has_value()) clone->set_symints(*std::move(symints));
    return clone;
  }

 protected:
  void set_symints(std::vector<SymInt> symints) override {
    auto next = symints.begin();
    for_each_symint(arguments_, [&](SymInt& size) { size = *next++; });
  }

 private:
  std::tuple<kept_t<A>...> arguments_;
  std::size_t index_;
};

template <class Op>
Tensor no_base_of(const Tensor&) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, Op::name,
                              ": the base of a view cannot be computed from the view");
}

inline torch::autograd::CreationMeta creation(bool several) {
  using torch::autograd::CreationMeta;
  if (c10::InferenceMode::is_enabled()) return CreationMeta::INFERENCE_MODE;
  if (!at::GradMode::is_enabled()) return CreationMeta::NO_GRAD_MODE;
  return several ? CreationMeta::MULTI_OUTPUT_NODE : CreationMeta::DEFAULT;
}

}  // namespace detail

// Runs a view of its first argument below autograd. `views` are the outputs that are views, if it
// returns several values.
template <class Op, class Views, class Schema = typename Op::schema>
struct TrackedView;
template <class Op, std::size_t... views, class R, class... A>
struct TrackedView<Op, std::index_sequence<views...>, R(const Tensor&, A...)> {
  static R call(c10::DispatchKeySet keys, const Tensor& self, A... arguments) {
    std::tuple<detail::kept_t<A>...> kept(detail::keep(arguments)...);
    R result;
    {
      const at::AutoDispatchBelowADInplaceOrView guard;
      result = Op::redispatch(keys & c10::after_ADInplaceOrView_keyset, self,
                              std::forward<A>(arguments)...);
    }
    if constexpr (std::is_same_v<R, Tensor>) {
      return track(self, result, kept, 0, detail::creation(false));
    } else {
      detail::for_views<views...>(result, [&](Tensor& view, std::size_t i) {
        view = track(self, view, kept, i, detail::creation(true));
      });
      return result;
    }
  }

 private:
  static Tensor track(const Tensor& base, const Tensor& view,
                      const std::tuple<detail::kept_t<A>...>& kept, std::size_t index,
                      torch::autograd::CreationMeta creation) {
    using Again =
        detail::ViewAgain<Op, std::index_sequence<views...>, R, std::remove_cvref_t<A>...>;
    return torch::autograd::as_view(base, view, /*is_bw_differentiable=*/true,
                                    /*is_fw_differentiable=*/true,
                                    std::make_unique<Again>(kept, index), &detail::no_base_of<Op>,
                                    creation);
  }
};

template <class Op, std::size_t... views>
torch::CppFunction tracked_view() {
  using Kernel = TrackedView<Op, std::index_sequence<views...>>;
  return torch::CppFunction::makeFromUnboxedFunction(
      c10::CompileTimeFunctionPointer<std::remove_pointer_t<decltype(&Kernel::call)>,
                                      &Kernel::call>());
}

}  // namespace opgen
