// external_backend.h: makes out= and in-place operators from the functional kernels of an external
// backend, and functional and in-place operators from its out kernels.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/registration/composite.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"

namespace opgen {

namespace detail {

template <TensorLike R, TensorLike O>
void assign_same_shape(const O& self, const R& result) {
  OPGEN_CHECK(self.sizes() == result.sizes(), "Bad in-place call: input tensor size ", self.sizes(),
              " and output tensor size ", result.sizes(), " should match");
  copy_(self, result);
}
template <TensorLike R, class O>
requires requires(const O& tensors) {
  tensors[0].defined();
}
void assign_same_shape(const O& tensors, const std::vector<R>& results) {
  if (tensors.size() != results.size()) throw_output_count(results.size(), tensors.size());
  for (std::size_t i = 0; i < results.size(); ++i) assign_same_shape(tensors[i], results[i]);
}

// Returns dtype, layout, device or pinned memory of a tensor, as an argument of a factory.
template <std::size_t part>
auto option_of(const TensorBase& tensor) {
  if constexpr (part == 0) return std::optional<ScalarType>(tensor.scalar_type());
  if constexpr (part == 1) return std::optional<Layout>(tensor.layout());
  if constexpr (part == 2) return std::optional<Device>(tensor.device());
  if constexpr (part == 3) return std::optional<bool>();
}

}  // namespace detail

// Makes the operator Op from a kernel of its functional variant: copies the results to the
// arguments at `written`, which are resized if `resize` is true. The functional variant has the
// same arguments without the outs. A factory also has the four tensor options at `options` (-1 if
// it is not a factory); they are taken from the out tensor.
template <class Op, class Functional, typename Functional::schema* function, bool resize,
          int options, class Written, class Schema = typename Op::schema,
          class FunctionalSchema = typename Functional::schema>
struct FromFunctional;
template <class Op, class Functional, typename Functional::schema* function, bool resize,
          int options, std::size_t first, std::size_t... others, class R, class... A, class FR,
          class... FA>
struct FromFunctional<Op, Functional, function, resize, options,
                      std::index_sequence<first, others...>, R(A...), FR(FA...)> {
  static R call(A... arguments) {
    auto all = std::forward_as_tuple(arguments...);
    const auto results = run(all, std::index_sequence_for<FA...>());
    assign(results, std::get<first>(all), std::get<others>(all)...);
    if constexpr (std::is_reference_v<R>) {
      return std::get<first>(all);
    } else if constexpr (!std::is_void_v<R>) {
      return first_of(std::tie(std::get<first>(all), std::get<others>(all)...),
                      std::make_index_sequence<std::tuple_size_v<R>>());
    }
  }

 private:
  using All = std::tuple<std::add_lvalue_reference_t<A>...>;

  template <std::size_t... i>
  static FR run(All& all, std::index_sequence<i...>) {
    return function(static_cast<FA>(argument<i>(all))...);
  }
  // Returns the argument of the functional variant at this position.
  template <std::size_t i>
  static decltype(auto) argument(All& all) {
    constexpr int position = static_cast<int>(i);
    if constexpr (options < 0 || position < options) {
      return std::get<i>(all);
    } else if constexpr (position >= options + 4) {
      return std::get<i - 4>(all);
    } else {
      return detail::option_of<i - static_cast<std::size_t>(options)>(std::get<first>(all));
    }
  }
  template <class... O>
  static void assign(const FR& results, O&... outs) {
    if constexpr (resize) {
      assign_outputs(results, outs...);
    } else if constexpr (requires { std::tuple_size<FR>::value; }) {
      std::apply([&](const auto&... each) { (detail::assign_same_shape(outs, each), ...); },
                 results);
    } else {
      (detail::assign_same_shape(outs, results), ...);
    }
  }
  template <class Outs, std::size_t... i>
  static R first_of(Outs outs, std::index_sequence<i...>) {
    return R(std::get<i>(outs)...);
  }
};

namespace detail {

// The Tensor class that an operator returns.
template <class R>
struct ResultTensor {
  using type = R;
};
template <class R, class... Others>
struct ResultTensor<std::tuple<R, Others...>> {
  using type = R;
};

}  // namespace detail

// Makes the functional operator Op from a kernel of its out variant. Passes `outputs` new, empty
// tensors like the argument at `like`, with the dtype of the argument at `dtype` if that has a
// value (-1 if there is no such argument).
template <class Op, class OutOp, typename OutOp::schema* function, std::size_t outputs,
          std::size_t like, int dtype, class Schema = typename Op::schema>
struct FunctionalFromOut;
template <class Op, class OutOp, typename OutOp::schema* function, std::size_t outputs,
          std::size_t like, int dtype, class R, class... A>
struct FunctionalFromOut<Op, OutOp, function, outputs, like, dtype, R(A...)> {
  static R call(A... arguments) { return run(std::make_index_sequence<outputs>{}, arguments...); }

 private:
  template <std::size_t... O>
  static R run(std::index_sequence<O...>, A... arguments) {
    using Result = typename detail::ResultTensor<R>::type;
    constexpr std::int64_t none[] = {0};
    const auto all = std::forward_as_tuple(arguments...);
    TensorOptions options = std::get<like>(all).options();
    if constexpr (dtype >= 0) {
      const std::optional<ScalarType> wanted = std::get<static_cast<std::size_t>(dtype)>(all);
      if (wanted.has_value()) options = options.dtype(*wanted);
    }
    Result made[] = {(static_cast<void>(O), Result(detail::empty(none, options)))...};
    function(arguments..., made[O]...);
    return R(std::move(made[O])...);
  }
};

// Makes the in-place operator Op from a kernel of its out variant, which writes the argument at
// `self` while it reads it.
template <class Op, class OutOp, typename OutOp::schema* function, std::size_t self,
          class Schema = typename Op::schema>
struct InplaceFromOut;
template <class Op, class OutOp, typename OutOp::schema* function, std::size_t self, class R,
          class... A>
struct InplaceFromOut<Op, OutOp, function, self, R(A...)> {
  static R call(A... arguments) {
    auto& written = std::get<self>(std::forward_as_tuple(arguments...));
    function(arguments..., written);
    return written;
  }
};

}  // namespace opgen
