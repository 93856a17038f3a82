// functionalize.h: operators that write arguments, as functionalization wants them: the functional
// variant is called, and its results replace what was to be written.
#pragma once

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/operator.h"
#include "opgen/outputs.h"

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
      TORCH_CHECK(!(detail::is_functional(std::get<given>(all)) || ...), Op::name,
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
    const auto inside = std::make_tuple(detail::from_functional(std::get<given>(all))...);
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
