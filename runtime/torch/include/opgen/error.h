// error.h: OPGEN_CHECK and its kin, as ATen's checks: the exceptions are those that PyTorch turns
// into Python's.
#pragma once

#include <c10/util/Exception.h>

#include "opgen/macros.h"
#include "opgen/sym_int.h"

#define OPGEN_CHECK(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
// For what sym_eq, sym_le, ... say of sizes: where they are symbolic, and it is open whether the
// condition holds, the compiled program checks it.
#define OPGEN_SYM_CHECK(condition, ...) \
  TORCH_CHECK(::opgen::detail::expect_true((condition), __FILE__, __LINE__), ##__VA_ARGS__)
#define OPGEN_CHECK_INDEX(condition, ...) TORCH_CHECK_INDEX(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_VALUE(condition, ...) TORCH_CHECK_VALUE(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_TYPE(condition, ...) TORCH_CHECK_TYPE(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TORCH_CHECK_NOT_IMPLEMENTED(condition, ##__VA_ARGS__)
#define OPGEN_INTERNAL_ASSERT(condition, ...) TORCH_INTERNAL_ASSERT(condition, ##__VA_ARGS__)
#define OPGEN_WARN(...) TORCH_WARN(__VA_ARGS__)
#define OPGEN_WARN_ONCE(...) TORCH_WARN_ONCE(__VA_ARGS__)
