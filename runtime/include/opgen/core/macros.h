// macros.h: the runtime's ABI number, visibility, branch hints, storage of hot thread-locals.
#pragma once

// Raise it in the first change after a release with which a library that was compiled with the
// headers of that release would not work, or a library of this one with that release's runtime:
// another layout, or another function in a header. It is in the names of the shared libraries.
#define OPGEN_RUNTIME_ABI 2

#define OPGEN_API __attribute__((visibility("default")))
#define OPGEN_HIDDEN __attribute__((visibility("hidden")))
#define OPGEN_NOINLINE __attribute__((noinline))
#define OPGEN_COLD __attribute__((noinline, cold))
#define OPGEN_ALWAYS_INLINE inline __attribute__((always_inline))
#define OPGEN_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define OPGEN_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)

// One load from a fixed offset of the thread pointer; a call would cost a dispatch 10 instructions.
#define OPGEN_TLS __attribute__((tls_model("initial-exec")))

#define OPGEN_CONCAT_IMPL(a, b) a##b
#define OPGEN_CONCAT(a, b) OPGEN_CONCAT_IMPL(a, b)
#define OPGEN_UNIQUE_NAME(prefix) OPGEN_CONCAT(prefix, __COUNTER__)
