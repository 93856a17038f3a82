// call_operator.h: calls of PyTorch's own operators, and of other libraries', by name.
//
//   Tensor sum = opgen::call_operator<Tensor>("aten::sum", "dim_IntList", self,
//       opgen::OptionalIntArrayRef({0}), false, std::optional<opgen::ScalarType>());
#pragma once

#include <cstddef>
#include <utility>

#include "opgen/registration/boxing.h"

namespace opgen {

// Each argument must have the C++ type of the schema's: a `Tensor?` is a std::optional<Tensor>, an
// `int[]` an IntArrayRef. Defaults are not filled in. PyTorch's C functions do not pass numbers of
// any kind (`Scalar`): an operator with one is called through the Python package of the library,
// which must be imported, and takes some microseconds longer.
template <class R, class... A>
R call_operator(const char* name, const char* overload, const A&... arguments) {
  constexpr std::size_t results = detail::ResultCount<R>::value;
  constexpr std::size_t room = sizeof...(A) > results ? sizeof...(A) : results;
  detail::Word stack[room == 0 ? 1 : room] = {detail::Value<A>::give(arguments)...};
  detail::call_dispatcher(name, overload, stack, (detail::kHoldsNumbers<A> || ...));
  (detail::forget_layout_of(arguments), ...);
  if constexpr (!std::is_void_v<R>) {
    return detail::take_results<R>(stack, std::make_index_sequence<results>{});
  }
}

}  // namespace opgen
