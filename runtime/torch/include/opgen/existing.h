// existing.h: C++ functions that are there as kernels: those of the runtime, over ATen's types.
#pragma once

#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>

#include <vector>

#include "opgen/operator.h"

namespace opgen::detail {

// A size as a number where the function takes one. Declared before what looks for it.
template <class To>
requires std::is_same_v<To, std::int64_t> To concrete_as(const c10::SymInt& size) {
  return size.guard_int(__FILE__, __LINE__);
}
template <class To>
requires std::is_same_v<To, at::IntArrayRef> To concrete_as(const c10::SymIntArrayRef& sizes) {
  return C10_AS_INTARRAYREF_SLOW(sizes);
}

}  // namespace opgen::detail

#include "../../../include/opgen/existing.h"
