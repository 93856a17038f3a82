// fake_call.h: how the Python part of a library calls its meta functions for fakes, and what C++
// asks of Python meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/macros.h"
#include "opgen/dispatch/values.h"

namespace opgen::detail {

// Functions of Python. After each call for symbols, `failed` tells whether Python raised an
// exception, which it keeps. Numbers of operations are those of SymOperation, SymComparison and
// SymDecision.
struct PythonFunctions {
  std::int32_t failed;
  std::int64_t (*compute)(std::int32_t operation, std::int64_t a, std::int64_t b);
  std::int64_t (*compare)(std::int32_t comparison, std::int64_t a, std::int64_t b);
  std::int64_t (*decide)(std::int32_t decision, std::int64_t condition);
  std::int64_t (*guard_int)(std::int64_t a);
  // Writes the text of a symbol.
  void (*print)(std::int64_t a, char* text, std::int64_t size);
  // Calls an operator of PyTorch; arguments and results are words. Returns whether it raised an
  // exception. With `fakes`, tensors among the results become fakes.
  std::int32_t (*call)(const char* name, const char* overload, Word* stack, std::int32_t fakes);
  // Writes the text of the exception that is kept, and forgets it.
  void (*take_error)(char* text, std::int64_t size);
};

// A fake as Python sees it: see FakeParts.
struct FakeDescription {
  std::int64_t object;
  std::int64_t storage;
  std::int64_t base;  // the object of which it is a view, or -1
  std::int64_t ndim;
  const std::int64_t* sizes;
  const std::int64_t* strides;
  std::int64_t storage_offset;
  std::int32_t dtype;
  std::int32_t device_type;
  std::int32_t device_index;
  std::int32_t layout;
  std::int32_t format;
  std::int32_t is_resized;
};

// Whether the Python part of the library is imported.
[[nodiscard]] OPGEN_API bool has_python() noexcept;
// Throws Error with the text of the exception that Python keeps, if it does.
OPGEN_API OPGEN_COLD void rethrow_from_python();

// Called by call_dispatcher() while a meta function runs for fakes.
OPGEN_API void call_from_fake(const char* name, const char* overload, Word* stack);
// Called by call_dispatcher() for operators with numbers.
OPGEN_API void call_by_python(const char* name, const char* overload, Word* stack);

}  // namespace opgen::detail
