// error.h: the runtime's exceptions and checks. At the end of a kernel they become exceptions that
// PyTorch turns into Python's (registration/boxing.h).
#pragma once

#include "../../../../include/opgen/core/error.h"

// For conditions made with sym_eq, sym_le and so on. If sizes are symbolic and the condition is
// undecided, the compiled program checks it.
#undef OPGEN_SYM_CHECK
#define OPGEN_SYM_CHECK(condition, ...) \
  OPGEN_CHECK(::opgen::detail::expect_true((condition)), __VA_ARGS__)
