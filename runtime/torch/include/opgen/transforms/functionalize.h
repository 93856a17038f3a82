// functionalize.h: the Functionalize kernels of operators that write arguments: they call the
// functional variant, and its results replace the written tensors.
#pragma once

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/dispatch/operator.h"
#include "opgen/registration/composite.h"
#include "opgen/registration/structured.h"

namespace opgen {

namespace detail {

template <class T>
bool is_functional([[maybe_unused]] const T& argument) {
  if constexpr (std::is_same_v<T, std::optional<TensorList>>) {
    return argument.has_value() && at::functionalization::impl::isFunctionalTensor(*argument);
  } else if constexpr (kHoldsTensors<T>) {
    return at::functionalization::impl::isFunctionalTensor(argument);
  } else {
    return false;
  }
}

// Returns whether a written argument contains no tensor: an optional argument that is not given, or
// an empty list.
template <class T>
bool is_absent([[maybe_unused]] const T& argument) {
  if constexpr (requires { argument.has_value(); }) {
    return !argument.has_value();
  } else if constexpr (requires { argument.empty(); }) {
    return argument.empty();
  } else {
    return !argument.defined();
  }
}

// Returns the tensors inside an argument, after synchronising all writes to them.
template <class T>
auto from_functional(const T& argument) {
  namespace impl = at::functionalization::impl;
  if constexpr (!kHoldsTensors<T>) {
    return argument;
  } else if constexpr (std::is_same_v<T, TensorList> || std::is_same_v<T, ITensorListRef>) {
    if (!impl::isFunctionalTensor(argument)) {
      return std::vector<Tensor>(argument.begin(), argument.end());
    }
    impl::sync(argument);
    return impl::from_functional_tensor(argument);
  } else if constexpr (std::is_same_v<T, std::optional<TensorList>>) {
    using Tensors = std::optional<std::vector<Tensor>>;
    return argument.has_value() ? Tensors(from_functional(*argument)) : Tensors();
  } else {
    if (!impl::isFunctionalTensor(argument)) return argument;
    impl::sync(argument);
    return impl::from_functional_tensor(argument);
  }
}

template <class T>
auto to_functional(const T& result) {
  if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, std::vector<Tensor>> ||
                std::is_same_v<T, std::optional<Tensor>>) {
    return at::functionalization::impl::to_functional_tensor(result);
  } else {
    return result;
  }
}

template <class T, class R>
void replace_functional(const T& written, const R& result) {
  namespace impl = at::functionalization::impl;
  if constexpr (requires { written.has_value(); }) {
    if (written.has_value()) replace_functional(*written, *result);
  } else {
    if (is_absent(written)) return;
    impl::propagate_xla_data(written, result);
    impl::replace_(written, result);
    impl::commit_update(written);
    impl::sync(written);
  }
}

template <std::size_t i, class R>
const auto& result_at(const R& result) {
  if constexpr (requires { std::tuple_size<R>::value; }) {
    return std::get<i>(result);
  } else {
    static_assert(i == 0);
    return result;
  }
}

}  // namespace detail

// A factory that writes `out` does not pass a dtype to the functional variant: the dtype of `out`
// is used.
inline constexpr std::size_t kDtypeOfOut = static_cast<std::size_t>(-1);
inline constexpr std::size_t kLayoutOfOut = static_cast<std::size_t>(-2);
inline constexpr std::size_t kDeviceOfOut = static_cast<std::size_t>(-3);
inline constexpr std::size_t kPinnedOfOut = static_cast<std::size_t>(-4);
// An option that is not passed: the result takes it from another tensor.
inline constexpr std::size_t kNotGiven = static_cast<std::size_t>(-5);

namespace detail {

// Returns the argument at `i`, or the property of `out`, the last argument.
template <std::size_t i, class... A>
decltype(auto) given_at(const std::tuple<A&...>& all) {
  [[maybe_unused]] const auto& out = std::get<sizeof...(A) - 1>(all);
  if constexpr (i == kDtypeOfOut) {
    return std::optional<ScalarType>(out.scalar_type());
  } else if constexpr (i == kLayoutOfOut) {
    return std::optional<Layout>(out.layout());
  } else if constexpr (i == kDeviceOfOut) {
    return std::optional<Device>(out.device());
  } else if constexpr (i == kPinnedOfOut) {
    return std::optional<bool>();
  } else if constexpr (i == kNotGiven) {
    return std::nullopt;
  } else {
    return (std::get<i>(all));
  }
}

}  // namespace detail

// A position in `Returned` for a result that is not an argument.
inline constexpr std::size_t kFresh = static_cast<std::size_t>(-1) / 2;

// Likewise, for the argument at `position` or, if that is not given, the result `fresh`.
inline constexpr std::size_t kEither = kFresh / 2;
constexpr std::size_t either(std::size_t position, std::size_t fresh) {
  return kEither + position * 1024 + fresh;
}

namespace detail {

// Returns one return as a value T: an argument, or a new result wrapped by `wrap`.
template <std::size_t at, class T, class All, class Result, class Wrap>
T return_at([[maybe_unused]] const All& all, [[maybe_unused]] const Result& result,
            [[maybe_unused]] const Wrap& wrap) {
  if constexpr (at >= kFresh) {
    return wrap(result_at<at - kFresh>(result));
  } else if constexpr (at >= kEither) {
    const auto& argument = std::get<(at - kEither) / 1024>(all);
    if (argument.has_value()) return *argument;
    const std::optional<Tensor> fresh = wrap(result_at<(at - kEither) % 1024>(result));
    if constexpr (std::is_same_v<T, Tensor>) {
      return fresh.has_value() ? *fresh : Tensor();
    } else {
      return fresh;
    }
  } else if constexpr (requires { std::get<at>(all).vec(); }) {
    return std::get<at>(all).vec();
  } else {
    return T(std::get<at>(all));
  }
}

// Returns all returns of an operator as R, a value or a tuple of values.
template <class R, std::size_t... returned, class All, class Result, class Wrap>
R returns(const All& all, const Result& result, const Wrap& wrap) {
  if constexpr (sizeof...(returned) == 1) {
    return (return_at<returned, R>(all, result, wrap), ...);
  } else {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return R(return_at<returned, std::tuple_element_t<i, R>>(all, result, wrap)...);
    }
    (std::make_index_sequence<sizeof...(returned)>{});
  }
}

}  // namespace detail

// Template parameters: `Given`, the positions in Op of the arguments that FunctionalOp takes;
// `Written`, the positions of those that Op writes; `Returned`, for each return the position of
// its argument, or kFresh + i for the i-th new result. FunctionalOp returns the `own` new results
// of Op, then the new values of the written arguments.
template <class Op, class FunctionalOp, std::size_t own, class Given, class Written, class Returned,
          class Schema = typename Op::schema>
struct Functionalize;
template <class Op, class FunctionalOp, std::size_t own, std::size_t... given,
          std::size_t... written, std::size_t... returned, class R, class... A>
struct Functionalize<Op, FunctionalOp, own, std::index_sequence<given...>,
                     std::index_sequence<written...>, std::index_sequence<returned...>, R(A...)> {
  static R call(A... arguments) {
    std::tuple<A&...> all(arguments...);
    const bool reads_inside = (detail::is_functional(detail::given_at<given>(all)) || ...);
    const bool writes_inside = (detail::is_functional(std::get<written>(all)) || ...);
    if (!reads_inside && !writes_inside) {
      at::AutoDispatchSkipFunctionalize guard;
      return Op::call(std::forward<A>(arguments)...);
    }
    TORCH_CHECK(
        ((detail::is_absent(std::get<written>(all)) ||
          detail::is_functional(std::get<written>(all))) &&
         ...),
        Op::name,
        ": a tensor outside of functionalization cannot be written with values from inside");
    const auto result = run(all);
    replace(all, result, std::make_index_sequence<sizeof...(written)>{});
    if constexpr (own == 0 && !std::is_object_v<R>) {
      return detail::return_outputs<R>(std::get<returned>(all)...);
    } else if constexpr (own == 0 && detail::kHoldsReferences<R>) {
      return detail::return_outputs<R>(std::get<returned>(all)...);
    } else {
      const auto wrap = [](const auto& fresh) { return detail::to_functional(fresh); };
      return detail::returns<R, returned...>(all, result, wrap);
    }
  }

 private:
  static auto run(const std::tuple<A&...>& all) {
    const auto inside = std::make_tuple(detail::from_functional(detail::given_at<given>(all))...);
    at::AutoDispatchSkipFunctionalize guard;
    return std::apply([](const auto&... each) { return FunctionalOp::call(each...); }, inside);
  }
  template <class Result, std::size_t... i>
  static void replace(const std::tuple<A&...>& all, const Result& result,
                      std::index_sequence<i...>) {
    (detail::replace_functional(std::get<written>(all), detail::result_at<own + i>(result)), ...);
  }
};

// The functional twin of `Op`, with schema `Schema`, on any backend: calls Op with clones of the
// arguments that it writes (at the positions `Written`) and returns its new results (at the
// positions `Fresh` among its returns), then the clones.
template <class Op, class Fresh, class Written, class Schema>
struct FunctionalTwin;
template <class Op, std::size_t... fresh, std::size_t... written, class R, class... A>
struct FunctionalTwin<Op, std::index_sequence<fresh...>, std::index_sequence<written...>, R(A...)> {
  static R call(A... arguments) {
    return run(std::tuple<A&...>(arguments...), std::index_sequence_for<A...>{});
  }

 private:
  template <std::size_t... i>
  static R run(const std::tuple<A&...>& all, std::index_sequence<i...>) {
    auto given = std::make_tuple(given_at<i>(all)...);
    using Result = decltype(Op::call(std::get<i>(given)...));
    if constexpr (sizeof...(fresh) == 0) {
      static_cast<void>(Op::call(std::get<i>(given)...));
      return R(std::move(std::get<written>(given))...);
    } else {
      const Result result = Op::call(std::get<i>(given)...);
      return R(own_at<fresh>(result, given)..., std::move(std::get<written>(given))...);
    }
  }
  // Returns a result of Op; nothing if it is an argument that was given.
  template <std::size_t at, class Result, class Given>
  static auto own_at(const Result& result, [[maybe_unused]] const Given& given) {
    if constexpr (at < kEither) {
      return detail::result_at<at>(result);
    } else {
      const bool is_given = std::get<(at - kEither) / 1024>(given).has_value();
      return is_given ? std::optional<Tensor>()
                      : std::optional<Tensor>(detail::result_at<(at - kEither) % 1024>(result));
    }
  }
  // Returns the argument at `i`, or a clone of it if it is written.
  template <std::size_t i>
  static auto given_at(const std::tuple<A&...>& all) {
    if constexpr (((i == written) || ...)) {
      return clone_arg(std::get<i>(all));
    } else {
      return std::get<i>(all);
    }
  }
};

namespace detail {

// Returns whether an argument requires a gradient or has a forward gradient.
template <class T>
bool wants_gradient([[maybe_unused]] const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>) {
    if (!argument.defined()) return false;
    return (at::GradMode::is_enabled() && argument.requires_grad()) ||
           argument._fw_grad(/*level=*/0).defined();
  } else if constexpr (!kHoldsTensors<T>) {
    return false;
  } else if constexpr (requires { argument.has_value(); }) {
    return argument.has_value() && wants_gradient(*argument);
  } else if constexpr (std::is_same_v<T, List<std::optional<Tensor>>>) {
    for (std::size_t i = 0; i < argument.size(); ++i) {
      if (wants_gradient(argument.get(i))) return true;
    }
    return false;
  } else {
    for (const Tensor& tensor : argument) {
      if (wants_gradient(tensor)) return true;
    }
    return false;
  }
}

}  // namespace detail

// A position among the results of a twin that writes, for a tensor without elements.
inline constexpr std::size_t kPadding = static_cast<std::size_t>(-1);

// The twin of `Op` that writes what Op writes and returns its new results (at the positions
// `Fresh` among its returns). For an optional argument that was given, it returns a tensor without
// elements.
template <class Writer, class Op, class Fresh, class Schema = typename Writer::schema>
struct WriterTwin;
template <class Writer, class Op, std::size_t... fresh, class R, class... A>
struct WriterTwin<Writer, Op, std::index_sequence<fresh...>, R(A...)> {
  static R call(A... arguments) {
    if constexpr (sizeof...(fresh) == 0) {
      static_cast<void>(Op::call(arguments...));
    } else {
      const auto result = Op::call(arguments...);
      return R(fresh_at<fresh>(result, std::tuple<A&...>(arguments...))...);
    }
  }
  // If a gradient is requested, Autograd uses Op's own formula. Otherwise the graph keeps the
  // twin.
  static R call_autograd(A... arguments) {
    if ((detail::wants_gradient(arguments) || ...)) return call(std::forward<A>(arguments)...);
    at::AutoDispatchBelowAutograd guard;
    return Writer::call(std::forward<A>(arguments)...);
  }

 private:
  template <std::size_t at, class Result>
  static Tensor fresh_at([[maybe_unused]] const Result& result,
                         [[maybe_unused]] const std::tuple<A&...>& all) {
    if constexpr (at == kPadding) {
      constexpr std::size_t first = std::get<0>(std::tuple(fresh...));
      return fresh_at<first>(result, all).new_empty({0});
    } else if constexpr (at < kEither) {
      return detail::result_at<at>(result);
    } else {
      const auto& argument = std::get<(at - kEither) / 1024>(all);
      if (argument.has_value()) return argument->new_empty({0});
      return detail::result_at<(at - kEither) % 1024>(result);
    }
  }
};

// Runs `Op` as a call of its twin. torch.compile and torch.export trace the twin, whose effects
// they understand. `Returned` is as for Functionalize.
template <class Op, class Writer, class Returned, class Schema = typename Op::schema>
struct DecomposeToWriter;
template <class Op, class Writer, std::size_t... returned, class R, class... A>
struct DecomposeToWriter<Op, Writer, std::index_sequence<returned...>, R(A...)> {
  static R call(A... arguments) {
    // The twin calls Op, which calls this function again if there is no kernel for the given
    // tensors.
    thread_local bool is_running = false;
    TORCH_CHECK_NOT_IMPLEMENTED(!is_running, "'", Op::name,
                                "' has no kernel for the backend of these arguments");
    is_running = true;
    const Finally end{is_running};
    [[maybe_unused]] const std::tuple<A&...> all(arguments...);
    const auto same = [](const auto& fresh) { return fresh; };
    if constexpr (!std::is_void_v<decltype(Writer::call(arguments...))>) {
      return detail::returns<R, returned...>(all, Writer::call(arguments...), same);
    } else {
      Writer::call(arguments...);
      if constexpr (std::is_void_v<R>) {
        return;
      } else if constexpr (detail::kHoldsReferences<R>) {
        return detail::return_outputs<R>(std::get<returned>(all)...);
      } else {
        return detail::returns<R, returned...>(all, std::tuple<>(), same);
      }
    }
  }

 private:
  struct Finally {
    bool& is_running;
    ~Finally() { is_running = false; }
  };
};

// The functional twin of the view `Op`: returns a copy of the view's elements.
template <class Twin, class Op, class Schema = typename Twin::schema>
struct ViewTwin;
template <class Twin, class Op, class R, class... A>
struct ViewTwin<Twin, Op, R(A...)> {
  static R call(A... arguments) { return clone_view(Op::call(std::forward<A>(arguments)...)); }
};

}  // namespace opgen
