// kernel_macros.h: how meta functions and kernels are defined: as for the runtime, but that a meta
// function is compiled twice, for sizes that are known and for symbolic ones. The generated macro
// has the two entry points, and ends in the class template that the author's body is a member of.
#pragma once

#include "../../../include/opgen/kernel_macros.h"

#undef OPGEN_PRECOMPUTE_META_FUNC
#define OPGEN_PRECOMPUTE_META_FUNC(name) \
  static_assert(true);                   \
  OPGEN_PRECOMPUTE_META_##name::meta
#undef OPGEN_PRECOMPUTE_META_FUNC2
#define OPGEN_PRECOMPUTE_META_FUNC2(name, overload) \
  static_assert(true);                              \
  OPGEN_PRECOMPUTE_META_##name##_##overload::meta
