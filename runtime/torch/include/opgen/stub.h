// stub.h: default bodies of kernels that nobody has written yet.
#pragma once

#include "opgen/error.h"

// Weak, so that the author's definition wins when the library is linked.
#define OPGEN_STUB __attribute__((weak, noinline))

namespace opgen {

// NotImplementedError with operator, key and the text to write; for fake tensors a RuntimeError.
[[noreturn]] inline void throw_missing_kernel(const char* op, const char* key,
                                              const char* signature) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, op, " on ", key, " is not written yet: write ", signature);
}

}  // namespace opgen
