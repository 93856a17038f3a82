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

// A stored call of the view `Op` that can be repeated with another base. For several outputs,
// `index` selects one.
template <class Op, class R, class... A>
class ViewAgain final : public torch::autograd::ViewFunc {
 public:
  ViewAgain(std::tuple<kept_t<A>...> arguments, std::size_t index)
      : arguments_(std::move(arguments)), index_(index) {}

  Tensor operator()(const Tensor& base) const override {
    const R result =
        std::apply([&](const auto&... each) { return Op::call(base, each...); }, arguments_);
    if constexpr (std::is_same_v<R, Tensor>) {
      return result;
    } else {
      return result[index_];
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

// Runs a view of its first argument below autograd.
template <class Op, class Schema = typename Op::schema>
struct TrackedView;
template <class Op, class R, class... A>
struct TrackedView<Op, R(const Tensor&, A...)> {
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
      for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = track(self, result[i], kept, i, detail::creation(true));
      }
      return result;
    }
  }

 private:
  static Tensor track(const Tensor& base, const Tensor& view,
                      const std::tuple<detail::kept_t<A>...>& kept, std::size_t index,
                      torch::autograd::CreationMeta creation) {
    using Again = detail::ViewAgain<Op, R, std::remove_cvref_t<A>...>;
    return torch::autograd::as_view(base, view, /*is_bw_differentiable=*/true,
                                    /*is_fw_differentiable=*/true,
                                    std::make_unique<Again>(kept, index), &detail::no_base_of<Op>,
                                    creation);
  }
};

template <class Op>
torch::CppFunction tracked_view() {
  return torch::CppFunction::makeFromUnboxedFunction(
      c10::CompileTimeFunctionPointer<std::remove_pointer_t<decltype(&TrackedView<Op>::call)>,
                                      &TrackedView<Op>::call>());
}

}  // namespace opgen
