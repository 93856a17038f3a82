// operator_trace.h: finds the operators that a thread is executing. Internal.
#pragma once

#include <string>

namespace opgen::detail {

// Returns the operators whose kernels are on this thread's stack, the innermost first, each as "\n
// in aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)". Calls cost nothing
// extra: the stack is compared with the addresses of all registered kernels. A kernel that ended
// with a tail call, or that is registered boxed, is not found. Returns an empty string while
// another thread changes the dispatcher.
[[nodiscard]] std::string operator_trace();

}  // namespace opgen::detail
