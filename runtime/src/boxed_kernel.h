// boxed_kernel.h: OPGEN_BOXED, a boxed kernel of the runtime's own from an expression. Internal.
#pragma once

#include <utility>

#include "opgen/library.h"

namespace opgen::detail {

inline void put_result(Stack& stack, std::size_t arguments, IValue result) {
  stack.resize(stack.size() - arguments);
  stack.push_back(std::move(result));
}

}  // namespace opgen::detail

// The expression sees the arguments as a[0], a[1], … and gives one result.
#define OPGEN_BOXED(count, expression)                                                 \
  ::opgen::CppFunction::makeFromBoxedFunction(                                         \
      [](const ::opgen::OperatorHandle&, ::opgen::DispatchKeySet, ::opgen::Stack& s) { \
        const ::opgen::IValue* a = s.data() + (s.size() - (count));                    \
        ::opgen::detail::put_result(s, count, ::opgen::IValue(expression));            \
      })
