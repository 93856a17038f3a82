// kept.h: stores the arguments of a view so that the view can be made again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

// The type of a stored argument. It owns copies of the caller's memory.
template <class T>
struct Kept {
  using type = T;
};
template <class T>
struct Kept<ArrayRef<T>> {
  using type = std::vector<T>;
};
template <class T>
struct Kept<OptionalArrayRef<T>> {
  using type = std::optional<std::vector<T>>;
};
template <class T>
struct Kept<std::optional<ArrayRef<T>>> {
  using type = std::optional<std::vector<T>>;
};
template <>
struct Kept<std::string_view> {
  using type = std::string;
};
template <>
struct Kept<std::optional<std::string_view>> {
  using type = std::optional<std::string>;
};
template <class A>
using kept_t = typename Kept<std::remove_cvref_t<A>>::type;

template <class T>
kept_t<T> keep(const T& argument) {
  if constexpr (requires { argument->vec(); }) {
    return argument.has_value() ? kept_t<T>(argument->vec()) : std::nullopt;
  } else if constexpr (requires { argument.vec(); }) {
    return argument.vec();
  } else {
    return kept_t<T>(argument);
  }
}

// Calls `f` with every SymInt in a stored argument.
template <class T, class F>
void for_each_symint([[maybe_unused]] T& kept, [[maybe_unused]] const F& f) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, SymInt>) {
    f(kept);
  } else if constexpr (std::is_same_v<Plain, std::vector<SymInt>>) {
    for (auto& size : kept) f(size);
  } else if constexpr (std::is_same_v<Plain, std::optional<SymInt>> ||
                       std::is_same_v<Plain, std::optional<std::vector<SymInt>>>) {
    if (kept.has_value()) for_each_symint(*kept, f);
  } else if constexpr (requires { std::tuple_size<Plain>::value; }) {
    std::apply([&](auto&... each) { (for_each_symint(each, f), ...); }, kept);
  }
}

template <class... T>
bool is_symbolic(const std::tuple<T...>& kept) {
  bool found = false;
  for_each_symint(kept, [&](const SymInt& size) { found = found || size.is_symbolic(); });
  return found;
}

}  // namespace opgen::detail
