// as_tensors.h: converts results between the runtime's class Tensor and that of a library.
#pragma once

#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/core/macros.h"

namespace opgen {

// Returns a result with its tensors in another class: a reference, a value, a list or a tuple.
template <class To, class From>
[[nodiscard]] OPGEN_ALWAYS_INLINE To as_tensors(From&& value) {
  if constexpr (std::is_reference_v<To> || std::is_constructible_v<To, From>) {
    return static_cast<To>(std::forward<From>(value));
  } else if constexpr (requires { std::tuple_size<To>::value; }) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return To(as_tensors<std::tuple_element_t<i, To>>(std::get<i>(std::move(value)))...);
    }
    (std::make_index_sequence<std::tuple_size_v<To>>());
  } else {
    return To(std::make_move_iterator(value.begin()), std::make_move_iterator(value.end()));
  }
}

}  // namespace opgen
