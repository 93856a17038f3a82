// stub_table.h: default bodies of kernels that nobody has written yet, as generated code writes
// them.
#pragma once

#include <cstddef>
#include <cstring>

#include "opgen/macros.h"

// Weak, so that the author's definition wins; in a section of their own, so that the report knows
// them by address.
#define OPGEN_STUB __attribute__((weak, noinline, section("opgen_stubs")))

// The bounds of this shared object's stubs, set by the linker; null if it has none.
extern "C" {
extern const char __start_opgen_stubs[] __attribute__((weak, visibility("hidden")));
extern const char __stop_opgen_stubs[] __attribute__((weak, visibility("hidden")));
}

namespace opgen {

struct KernelStub {
  const char* op;         // "aten::add.out"
  const char* key;        // "CPU"
  const char* signature;  // what to write, as the author writes it
  const void* address;    // of the function that the linker chose
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

// NotImplementedError with operator, key and the text to write.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_missing_kernel(const KernelStub& stub);

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
