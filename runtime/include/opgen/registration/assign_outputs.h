// assign_outputs.h: the part of composite.h that both targets share. Included after
// detail::assign_result, which copies one result.
#pragma once

#include <cstddef>
#include <tuple>

namespace opgen {

// Copies the result of a functional operator, a tensor, a list of tensors or a tuple of these, to
// `outs`.
template <class R, class... O>
void assign_outputs(const R& result, O&&... outs) {
  if constexpr (requires { std::tuple_size<R>::value; }) {
    static_assert(std::tuple_size_v<R> == sizeof...(O),
                  "there must be one out argument for each result");
    std::apply([&](const auto&... results) { (detail::assign_result(outs, results), ...); },
               result);
  } else {
    static_assert(sizeof...(O) == 1, "one result needs one out argument");
    (detail::assign_result(outs, result), ...);
  }
}

}  // namespace opgen
