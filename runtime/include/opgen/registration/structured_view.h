// structured_view.h: structured operators whose outputs are views.
//
//   View<K, Impl, Op, Bases>
//       makes views of arguments as meta declares them; runs impl if there is one
//   InplaceView<K, Impl, Op, SelfPos>
//       sets the sizes and strides of self as meta declares them
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "opgen/registration/structured.h"

namespace opgen {

namespace detail {

// Views of arguments, and new tensors where `bases` has a null.
template <std::size_t N>
class ViewOutputs final : private OutputTensors<N>, public ViewSink {
 public:
  template <class... B>
  explicit ViewOutputs(DispatchKey key, B... bases) noexcept
      : ViewSink(this->tensors, bases_, key), bases_{bases...} {}
  [[nodiscard]] Tensor& tensor(std::size_t i) noexcept { return this->tensors[i]; }

 private:
  const TensorBase* bases_[N];
};

// Returns the argument of which an output is a view; null for position -1.
template <int Position, class Arguments>
const TensorBase* base_of(const Arguments& arguments) noexcept {
  if constexpr (Position < 0) {
    return nullptr;
  } else {
    return &std::get<Position>(arguments);
  }
}

// The key for which an operator runs; Meta if its class has only a meta function.
template <DispatchKey K, class Impl>
inline constexpr DispatchKey kRunAs = requires {
  &Impl::impl;
}
? K : DispatchKey::Meta;

}  // namespace detail

// For each output, the position of the argument of which it is a view; -1 for a new tensor.
template <int... Positions>
struct Bases {};

template <DispatchKey K, class Impl, class Op, class B, class Signature = typename Op::schema>
struct View;
template <DispatchKey K, class Impl, class Op, int... B, class R, class... A>
struct View<K, Impl, Op, Bases<B...>, R(A...)> {
  static R call(A... arguments) {
    detail::check_input_devices<K, Impl, Op>(arguments...);
    constexpr std::make_index_sequence<sizeof...(B)> all{};
    const std::tuple<A&...> given(arguments...);
    detail::ViewOutputs<sizeof...(B)> outputs(K, detail::base_of<B>(given)...);
    Impl op;
    detail::run_structured<detail::kRunAs<K, Impl>, Op>(op, outputs, all, arguments...);
    return detail::take_outputs<R>(outputs, all);
  }
};

template <DispatchKey K, class Impl, class Op, std::size_t SelfPos,
          class Signature = typename Op::schema>
struct InplaceView;
template <DispatchKey K, class Impl, class Op, std::size_t SelfPos, class R, class... A>
struct InplaceView<K, Impl, Op, SelfPos, R(A...)> {
  static R call(A... arguments) {
    detail::check_input_devices<K, Impl, Op>(arguments...);
    auto& self = std::get<SelfPos>(std::tuple<A&...>(arguments...));
    detail::WrittenOutputs<1> outputs(K, OutputSink::Kind::InplaceView, self);
    Impl op;
    detail::run_structured<detail::kRunAs<K, Impl>, Op>(op, outputs, std::index_sequence<0>{},
                                                        arguments...);
    return detail::return_outputs<R>(self);
  }
};

// Both without the operator (see served_kernels.h).
template <DispatchKey K, class Impl, int... Positions>
struct ViewKernel {
  template <class Op>
  using Of = View<K, Impl, Op, Bases<Positions...>>;
};
template <DispatchKey K, class Impl, std::size_t SelfPos = 0>
struct InplaceViewKernel {
  template <class Op>
  using Of = InplaceView<K, Impl, Op, SelfPos>;
};

}  // namespace opgen
