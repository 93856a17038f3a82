// operator_trace.h: which operators a thread is in. Internal.
#pragma once

#include <string>

namespace opgen::detail {

// Returns the operators whose kernels are on this thread's stack, the innermost first, each as "\n
// in aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)". Costs calls nothing:
// the stack is compared with the addresses of all registered kernels. A kernel that ended in a tail
// call, or that is registered boxed, is missing. Empty while another thread changes the dispatcher.
[[nodiscard]] std::string operator_trace();

}  // namespace opgen::detail
