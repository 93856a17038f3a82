// kernel_stubs.h: the default bodies of kernels that are not written yet, and of functions of
// formulas.
#pragma once

#include <cstddef>
#include <cstring>

#include "opgen/core/macros.h"

// Stubs are weak, so that the linker prefers the author's definition. They are in a separate
// section, so that the report recognises them by their addresses.
#define OPGEN_STUB __attribute__((weak, noinline, section("opgen_stubs")))

// The bounds of this shared object's stubs, set by the linker; null if it has none.
extern "C" {
extern const char __start_opgen_stubs[] __attribute__((weak, visibility("hidden")));
extern const char __stop_opgen_stubs[] __attribute__((weak, visibility("hidden")));
}

namespace opgen {

struct MissingKernel {
  const char* op;         // "aten::add.out"
  const char* key;        // "CPU"
  const char* signature;  // the text to write
};
struct MissingFunction {
  const char* name;        // "mylib::scale_backward"
  const char* op;          // the operator whose formula calls it
  const char* definition;  // the text to write
};
struct KernelStub : MissingKernel {
  const void* address;  // address of the function that the linker chose
};

template <class R, class... A>
const void* kernel_address(R (*function)(A...)) noexcept {
  return reinterpret_cast<const void*>(function);
}
// The first word of a pointer to a non-virtual member is its address (Itanium C++ ABI).
template <class C, class R, class... A>
const void* kernel_address(R (C::*function)(A...)) noexcept {
  const void* address;
  std::memcpy(&address, &function, sizeof address);
  return address;
}
template <class C, class R, class... A>
const void* kernel_address(R (C::*function)(A...) const) noexcept {
  const void* address;
  std::memcpy(&address, &function, sizeof address);
  return address;
}

// Returns the row of a stub table for a kernel and the function that defines it, by default its
// stub.
template <class Function>
KernelStub kernel_stub(const MissingKernel& kernel, Function function) noexcept {
  return {kernel, kernel_address(function)};
}

// Throws NotImplementedError with operator, key and the text to write.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_missing_kernel(const MissingKernel& kernel);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_missing_function(const MissingFunction& function);

class OPGEN_API StubTable {
 public:
  StubTable(const char* library, const KernelStub* stubs, std::size_t count, const void* begin,
            const void* end);
  template <std::size_t N>
  StubTable(const char* library, const KernelStub (&stubs)[N], const void* begin, const void* end)
      : StubTable(library, stubs, N, begin, end) {}
  ~StubTable();
  StubTable(const StubTable&) = delete;
  StubTable& operator=(const StubTable&) = delete;

 private:
  const char* library_;
  const KernelStub* stubs_;
  std::size_t count_;
  const char* begin_;
  const char* end_;
  friend struct StubRegistry;
};

}  // namespace opgen
