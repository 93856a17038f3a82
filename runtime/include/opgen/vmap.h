// vmap.h: vmap, which runs a function of one example on a whole batch, and what batching rules are
// made of.
//
// Inside, a tensor of the batch is a wrapper that shows the sizes of one example. Operators get to
// the key Batched: to a rule if one is registered, else to a fallback that runs the operator once
// for each example and stacks the results. A wrapper has no data; no kernel but a rule sees it.
#pragma once

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "opgen/library.h"

namespace opgen {

namespace batching {

// ---- For rules ---------------------------------------------------------------------------------

// The tensor of the whole batch, its batch dimension, and the vmap that made the wrapper: 1 for the
// outermost.
struct Batched {
  TensorBase value;
  std::int64_t dim = 0;
  std::int64_t level = 0;
};
// Null if the tensor is no wrapper.
[[nodiscard]] OPGEN_API const Batched* find_batched(const TensorBase& tensor) noexcept;
[[nodiscard]] OPGEN_API TensorBase make_batched(const TensorBase& value, std::int64_t dim,
                                                std::int64_t level);

// The level of the innermost vmap among the tensors, which a rule deals with; 0 if there is none.
[[nodiscard]] OPGEN_API std::int64_t level_of(const TensorBase& tensor) noexcept;
template <class... T>
[[nodiscard]] std::int64_t innermost_level(const T&... tensors) noexcept {
  std::int64_t level = 0;
  ((level = level_of(tensors) > level ? level_of(tensors) : level), ...);
  return level;
}

// A tensor as a rule sees it: with the batch dimension in front, or the same for every example.
struct Unwrapped {
  TensorBase value;
  bool batched = false;
};
[[nodiscard]] OPGEN_API Unwrapped unwrap(const TensorBase& tensor, std::int64_t level);

// A rule for operators that work element by element and broadcast: one call on the whole batch. The
// fallback uses it by itself for those with the tag `pointwise`.
[[nodiscard]] OPGEN_API CppFunction pointwise();

// ---- For vmap ----------------------------------------------------------------------------------

// What an operator that draws random numbers does; it is told by its Generator argument or by the
// tag `nondeterministic_seeded`.
enum class Randomness : std::uint8_t { Error, Different };

// One vmap on this thread.
class OPGEN_API Scope {
 public:
  explicit Scope(Randomness randomness);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  // No dimension: every example gets the tensor.
  [[nodiscard]] TensorBase enter(const TensorBase& tensor, std::optional<std::int64_t> dim);
  [[nodiscard]] TensorBase leave(const TensorBase& tensor, std::int64_t dim) const;

 private:
  std::int64_t level_ = 0;
  std::int64_t batch_size_ = -1;
  Randomness outer_;
};

}  // namespace batching

using BatchDims = std::vector<std::optional<std::int64_t>>;

// A function of batches from a function of examples: takes tensors, returns a tensor, a tuple or a
// vector of tensors. `in_dims` says where in each argument the batch is (0 if not said; nullopt: it
// has none), `out_dim` where the results get it. May be nested.
template <class F>
[[nodiscard]] auto vmap(F function, BatchDims in_dims = {}, std::int64_t out_dim = 0,
                        batching::Randomness randomness = batching::Randomness::Error) {
  return [=](const auto&... arguments) {
    OPGEN_CHECK(in_dims.empty() || in_dims.size() == sizeof...(arguments), "vmap: ", in_dims.size(),
                " in_dims for ", sizeof...(arguments), " arguments");
    batching::Scope scope(randomness);
    std::size_t i = 0;
    auto enter = [&](const auto& argument) {
      using T = std::remove_cvref_t<decltype(argument)>;
      return T(scope.enter(argument, in_dims.empty() ? 0 : in_dims[i++]));
    };
    // Braces: from the first argument to the last.
    std::tuple<std::remove_cvref_t<decltype(arguments)>...> entered{enter(arguments)...};
    auto result = std::apply(function, entered);
    using R = decltype(result);
    if constexpr (std::is_base_of_v<TensorBase, R>) {
      return R(scope.leave(result, out_dim));
    } else if constexpr (requires { std::tuple_size<R>::value; }) {
      std::apply([&](auto&... each) { ((each = scope.leave(each, out_dim)), ...); }, result);
      return result;
    } else {
      for (auto& each : result) each = scope.leave(each, out_dim);
      return result;
    }
  };
}

}  // namespace opgen
