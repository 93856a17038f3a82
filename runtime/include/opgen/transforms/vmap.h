// vmap.h: vmap runs a function of one example on a whole batch; helpers for batching rules.
//
// Inside, a tensor of the batch is a wrapper with the sizes of one example. Its operators are
// dispatched to the key Batched: to a rule if one is registered, else to a fallback that runs the
// operator once for each example and stacks the results. A wrapper has no data, and only rules
// receive it.
#pragma once

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "opgen/schema/library.h"

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
// Returns null if the tensor is not a wrapper.
[[nodiscard]] OPGEN_API const Batched* find_batched(const TensorBase& tensor) noexcept;
[[nodiscard]] OPGEN_API TensorBase make_batched(const TensorBase& value, std::int64_t dim,
                                                std::int64_t level);

// Returns the level of the innermost vmap among the tensors, the one that a rule handles; 0 if
// there is none.
[[nodiscard]] OPGEN_API std::int64_t level_of(const TensorBase& tensor) noexcept;
template <class... T>
[[nodiscard]] std::int64_t innermost_level(const T&... tensors) noexcept {
  std::int64_t level = 0;
  ((level = level_of(tensors) > level ? level_of(tensors) : level), ...);
  return level;
}

// A tensor for a rule: either the batch dimension is first, or the tensor is the same for every
// example.
struct Unwrapped {
  TensorBase value;
  bool batched = false;
};
[[nodiscard]] OPGEN_API Unwrapped unwrap(const TensorBase& tensor, std::int64_t level);

// Returns a rule for elementwise operators that broadcast. It makes one call on the whole batch.
// The fallback uses it for operators with the tag `pointwise`.
[[nodiscard]] OPGEN_API CppFunction pointwise();

// ---- For vmap ----------------------------------------------------------------------------------

// The behaviour of operators that draw random numbers: those with a Generator argument or the tag
// `nondeterministic_seeded`.
enum class Randomness : std::uint8_t { Error, Different };

// One vmap on this thread.
class OPGEN_API Scope {
 public:
  explicit Scope(Randomness randomness);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  // Wraps a tensor. If `dim` is nullopt, every example receives the whole tensor.
  [[nodiscard]] TensorBase enter(const TensorBase& tensor, std::optional<std::int64_t> dim);
  [[nodiscard]] TensorBase leave(const TensorBase& tensor, std::int64_t dim) const;

 private:
  std::int64_t level_ = 0;
  std::int64_t batch_size_ = -1;
  Randomness outer_;
};

}  // namespace batching

using BatchDims = std::vector<std::optional<std::int64_t>>;

// Turns a function of one example, which takes tensors and returns a tensor, a tuple or a vector of
// tensors, into a function of batches. `in_dims` is the batch dimension of each argument (default
// 0; nullopt for none), `out_dim` that of the results. May be nested.
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
    // Braces: evaluated from the first argument to the last.
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
