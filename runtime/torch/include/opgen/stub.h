// stub.h: the default bodies of kernels that are not written yet, and of functions of formulas.
#pragma once

#include "opgen/core/error.h"

// Stubs are weak, so that the linker prefers the author's definition. They are in a separate
// section, by which opgen build recognises the remaining stubs.
#ifdef __ELF__
#define OPGEN_STUB __attribute__((weak, noinline, section("opgen_stubs")))
#else
#define OPGEN_STUB __attribute__((weak, noinline))
#endif

namespace opgen {

struct MissingKernel {
  const char* op;         // "mylib::shift"
  const char* key;        // "CPU"
  const char* signature;  // the text to write
};
struct MissingFunction {
  const char* name;        // "mylib::scale_backward"
  const char* op;          // the operator whose formula calls it
  const char* definition;  // the text to write
};

// Throws NotImplementedError with operator, key and the text to write; for fake tensors a
// RuntimeError.
[[noreturn]] inline void throw_missing_kernel(const MissingKernel& kernel) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, kernel.op, " has no ", kernel.key, " kernel yet; write\n  ",
                              kernel.signature, " { … }");
}
[[noreturn]] inline void throw_missing_function(const MissingFunction& function) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, "the gradient of ", function.op, " needs ", function.name,
                              ", which is not written yet: write ", function.definition);
}

}  // namespace opgen
