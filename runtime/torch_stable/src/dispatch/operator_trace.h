// operator_trace.h: PyTorch's errors do not name the operators that a thread runs. Internal.
#pragma once

#include <string>

namespace opgen::detail {

inline std::string operator_trace() {
  return {};
}

}  // namespace opgen::detail
