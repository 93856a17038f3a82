// error.h: OPGEN_CHECK and its kin, as ATen's checks: the exceptions are those that PyTorch turns
// into Python's.
#pragma once

#include <c10/util/Exception.h>

#include "opgen/macros.h"

#define OPGEN_CHECK(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_INDEX(condition, ...) TORCH_CHECK_INDEX(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_VALUE(condition, ...) TORCH_CHECK_VALUE(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_TYPE(condition, ...) TORCH_CHECK_TYPE(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TORCH_CHECK_NOT_IMPLEMENTED(condition, ##__VA_ARGS__)
#define OPGEN_INTERNAL_ASSERT(condition, ...) TORCH_INTERNAL_ASSERT(condition, ##__VA_ARGS__)
#define OPGEN_WARN(...) TORCH_WARN(__VA_ARGS__)
#define OPGEN_WARN_ONCE(...) TORCH_WARN_ONCE(__VA_ARGS__)
