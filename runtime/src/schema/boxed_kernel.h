// boxed_kernel.h: OPGEN_BOXED, which makes a boxed kernel from an expression for the runtime's own
// operators. Internal.
#pragma once

#include <utility>

#include "opgen/schema/library.h"

namespace opgen::detail {

inline void put_result(Stack& stack, std::size_t arguments, IValue result) {
  stack.resize(stack.size() - arguments);
  stack.push_back(std::move(result));
}

}  // namespace opgen::detail

// The expression uses the arguments as a[0], a[1], … and has one result.
#define OPGEN_BOXED(count, expression)                                                 \
  ::opgen::CppFunction::makeFromBoxedFunction(                                         \
      [](const ::opgen::OperatorHandle&, ::opgen::DispatchKeySet, ::opgen::Stack& s) { \
        const ::opgen::IValue* a = s.data() + (s.size() - (count));                    \
        ::opgen::detail::put_result(s, count, ::opgen::IValue(expression));            \
      })
