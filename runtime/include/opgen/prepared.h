// prepared.h: Prepared, one call of a structured operator that is checked once and run many times.
//
//   opgen::Prepared<at::native::structured_add_out, at::_ops::add_out> add(a, b, 1, out);
//   for (…) { …new values in a and b…; add(); }
//
// Impl is the kernel's struct and OutOp its out= operator, whose arguments the constructor takes.
// It runs meta: shapes, dtypes and overlaps are checked, `out` is resized, the iteration is set up.
// Each call then runs only the kernel, without dispatch, autograd, version counters, guards and
// checks. The object keeps the tensors. Between calls their values may change, but not their sizes,
// strides, dtype and storage. Strings and generators are not kept and must outlive the object. If
// meta made temporaries of another dtype, meta runs again before each call, so that the result is
// always right.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/registration/boxing.h"
#include "opgen/registration/structured.h"

namespace opgen {

namespace detail {
// Keeps a copy of a list.
template <class T, std::size_t N>
struct TensorsOf<SmallVector<T, N>> : TensorsOf<T> {};
}  // namespace detail

template <class Impl, class OutOp, class Signature = typename OutOp::schema>
class Prepared;

template <class Impl, class OutOp, class R, class... A>
class Prepared<Impl, OutOp, R(A...)> {
  static constexpr std::size_t kOutputs = Impl::opgen_outputs;
  static constexpr std::make_index_sequence<sizeof...(A) - kOutputs> kInputs{};
  static constexpr std::make_index_sequence<kOutputs> kOuts{};
  static constexpr bool kIterates = std::is_base_of_v<TensorIteratorBase, Impl>;

 public:
  explicit Prepared(const std::remove_cvref_t<A>&... arguments)
      : arguments_(Owner<A>(arguments)...), outputs_(make_outputs(kOuts)) {
    constexpr std::size_t first = sizeof...(A) - kOutputs;
    detail::set_call<Impl, OutOp, first, first, detail::kNoPosition>(outputs_, arguments_);
    set_up(kInputs);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  void operator()() {
    if (OPGEN_UNLIKELY(used_up_)) set_up(kInputs);
    run(kInputs, kOuts);
    if constexpr (kIterates) {
      impl_->cast_outputs();
      used_up_ = once_ || impl_->ntensors() != operands_;
    }
    outputs_.finish();
  }
  [[nodiscard]] const Tensor& output(std::size_t i = 0) const { return *out_pointers(kOuts)[i]; }
  // Returns whether meta runs again before each call.
  [[nodiscard]] bool is_set_up_each_time() const noexcept { return once_; }

 private:
  template <class P>
  using Owner = typename detail::OwnerOf<std::remove_cvref_t<P>>::type;
  using Outputs = detail::WrittenOutputs<kOutputs, detail::WrittenSink<Impl>>;

  template <std::size_t... O>
  [[nodiscard]] Outputs make_outputs(std::index_sequence<O...>) {
    // Uses the CPU's key, because a guard would keep its device current as long as this object
    // lives.
    return Outputs(DispatchKey::CPU, detail::kOutKind<Impl>,
                   std::get<sizeof...(A) - kOutputs + O>(arguments_)...);
  }
  template <std::size_t... O>
  [[nodiscard]] std::array<const Tensor*, kOutputs> out_pointers(std::index_sequence<O...>) const {
    return {&std::get<sizeof...(A) - kOutputs + O>(arguments_)...};
  }
  template <std::size_t I>
  [[nodiscard]] decltype(auto) argument() {
    using P = std::tuple_element_t<I, std::tuple<A...>>;
    return detail::passed<typename Impl::Tensor>(
        detail::as_parameter<const std::remove_cvref_t<P>&>(std::get<I>(arguments_)));
  }

  template <std::size_t... I>
  void set_up(std::index_sequence<I...>) {
    impl_.emplace();
    impl_->opgen_bind(outputs_);
    if constexpr (requires { typename Impl::meta_return_ty; }) {
      precomputed_.emplace(impl_->meta(argument<I>()...));
    } else {
      impl_->meta(argument<I>()...);
    }
    detail::check_meta<OutOp, true>(*impl_, outputs_, kOutputs);
    if constexpr (kIterates) {
      operands_ = impl_->ntensors();
      once_ = impl_->has_replaced_operands();
    }
    used_up_ = false;
  }
  template <std::size_t... I, std::size_t... O>
  void run(std::index_sequence<I...>, std::index_sequence<O...>) {
    using T = typename Impl::Tensor;
    if constexpr (requires { typename Impl::meta_return_ty; }) {
      impl_->opgen_impl(*precomputed_, argument<I>()..., detail::passed<T>(outputs_.tensor(O))...);
    } else {
      impl_->impl(argument<I>()..., detail::passed<T>(outputs_.tensor(O))...);
    }
  }

  struct Nothing {};
  template <class T>
  struct MetaReturn {
    using type = Nothing;
  };
  template <class T>
  requires requires { typename T::meta_return_ty; }
  struct MetaReturn<T> {
    using type = typename T::meta_return_ty;
  };

  std::tuple<Owner<A>...> arguments_;
  Outputs outputs_;
  std::optional<Impl> impl_;
  std::optional<typename MetaReturn<Impl>::type> precomputed_;
  int operands_ = 0;
  bool once_ = false;
  bool used_up_ = false;
};

}  // namespace opgen
