// functionalize.h: operators that write arguments, as functionalization wants them: the functional
// variant is called, and its results replace what was to be written.
#pragma once

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/operator.h"
#include "opgen/structured.h"

namespace opgen {

namespace detail {

template <class T>
bool is_functional([[maybe_unused]] const T& argument) {
  if constexpr (kHoldsTensors<T>) {
    return at::functionalization::impl::isFunctionalTensor(argument);
  } else {
    return false;
  }
}

// The tensors inside an argument, with all that was written to them.
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
  } else {
    if (!impl::isFunctionalTensor(argument)) return argument;
    impl::sync(argument);
    return impl::from_functional_tensor(argument);
  }
}

template <class T>
auto to_functional(const T& result) {
  if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, std::vector<Tensor>>) {
    return at::functionalization::impl::to_functional_tensor(result);
  } else {
    return result;
  }
}

template <class T, class R>
void replace_functional(const T& written, const R& result) {
  namespace impl = at::functionalization::impl;
  impl::propagate_xla_data(written, result);
  impl::replace_(written, result);
  impl::commit_update(written);
  impl::sync(written);
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

// A factory that writes `out` is not told what the functional one is: it has that of `out`.
inline constexpr std::size_t kDtypeOfOut = static_cast<std::size_t>(-1);
inline constexpr std::size_t kLayoutOfOut = static_cast<std::size_t>(-2);
inline constexpr std::size_t kDeviceOfOut = static_cast<std::size_t>(-3);
inline constexpr std::size_t kPinnedOfOut = static_cast<std::size_t>(-4);

namespace detail {

// The argument at `i`, or what `out`, the last of all, is.
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
  } else {
    return (std::get<i>(all));
  }
}

}  // namespace detail

// `Given`: the positions in Op of the arguments that FunctionalOp takes; `Written`: of those that
// Op writes; `Returned`: of those among them that it returns. FunctionalOp returns the `own`
// results of Op that are no argument, then what Op would have written.
template <class Op, class FunctionalOp, std::size_t own, class Given, class Written, class Returned,
          class Schema = typename Op::schema>
struct Functionalize;
template <class Op, class FunctionalOp, std::size_t own, std::size_t... given,
          std::size_t... written, std::size_t... given_back, class R, class... A>
struct Functionalize<Op, FunctionalOp, own, std::index_sequence<given...>,
                     std::index_sequence<written...>, std::index_sequence<given_back...>, R(A...)> {
  static R call(A... arguments) {
    std::tuple<A&...> all(arguments...);
    if (!(detail::is_functional(std::get<written>(all)) && ...)) {
      TORCH_CHECK(!(detail::is_functional(detail::given_at<given>(all)) || ...), Op::name,
                  ": a tensor outside functionalization cannot be written with what is inside it");
      at::AutoDispatchSkipFunctionalize guard;
      return Op::call(std::forward<A>(arguments)...);
    }
    const auto result = run(all);
    replace(all, result, std::make_index_sequence<sizeof...(written)>{});
    return returned(all, result, std::make_index_sequence<own>{});
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
  template <class Result, std::size_t... i>
  static R returned(const std::tuple<A&...>& all, [[maybe_unused]] const Result& result,
                    std::index_sequence<i...>) {
    if constexpr (own > 0) {
      return R(detail::to_functional(detail::result_at<i>(result))...);
    } else {
      return detail::return_outputs<R>(std::get<given_back>(all)...);
    }
  }
};

}  // namespace opgen
