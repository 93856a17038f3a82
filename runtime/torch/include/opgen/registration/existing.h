// existing.h: registers existing C++ functions as kernels: the templates of the runtime, for ATen's
// types.
#pragma once

#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>

#include <vector>

#include "../../../../include/opgen/registration/built_devices.h"
#include "opgen/dispatch/operator.h"

namespace opgen::detail {

// Returns a size as a number, for functions that take a number. Declared before the templates that
// use it.
template <class To>
requires std::is_same_v<To, std::int64_t> To concrete_as(const c10::SymInt& size) {
  return size.guard_int(__FILE__, __LINE__);
}
template <class To>
requires std::is_same_v<To, at::IntArrayRef> To concrete_as(const c10::SymIntArrayRef& sizes) {
  return C10_AS_INTARRAYREF_SLOW(sizes);
}

}  // namespace opgen::detail

#include "../../../../include/opgen/registration/existing.h"
