// error.h: OPGEN_CHECK and similar macros as ATen's checks, so that the exceptions are those that
// PyTorch turns into Python's.
#pragma once

#include <c10/core/DispatchKey.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <string>
#include <utility>

#include "opgen/core/macros.h"
#include "opgen/core/sym_int.h"

namespace opgen {

using c10::Error;
using c10::IndexError;
using c10::NotImplementedError;
using c10::OutOfMemoryError;
using c10::TypeError;
using c10::ValueError;

}  // namespace opgen

namespace opgen::detail {

// torch.compile and torch.export interpret a NotImplementedError from a Meta kernel as "no kernel"
// and drop its text, so while they trace, this throws a RuntimeError. Meta is an included key only
// while fake tensors are processed.
[[noreturn]] inline void throw_not_implemented(c10::SourceLocation where, std::string text) {
  if (c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::Meta)) {
    throw c10::Error(where, std::move(text));
  }
  throw c10::NotImplementedError(where, std::move(text));
}

}  // namespace opgen::detail

#define OPGEN_CHECK(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
// For conditions made with sym_eq, sym_le and so on. If sizes are symbolic and the condition is
// undecided, the compiled program checks it.
#define OPGEN_SYM_CHECK(condition, ...) \
  TORCH_CHECK(::opgen::detail::expect_true((condition), __FILE__, __LINE__), ##__VA_ARGS__)
#define OPGEN_CHECK_INDEX(condition, ...) TORCH_CHECK_INDEX(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_VALUE(condition, ...) TORCH_CHECK_VALUE(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_TYPE(condition, ...) TORCH_CHECK_TYPE(condition, ##__VA_ARGS__)
#define OPGEN_CHECK_NOT_IMPLEMENTED(condition, ...)                  \
  if (C10_UNLIKELY_OR_CONST(!(condition))) {                         \
    ::opgen::detail::throw_not_implemented(                          \
        {__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)},  \
        std::string(TORCH_CHECK_MSG(condition, "", ##__VA_ARGS__))); \
  }
#define OPGEN_INTERNAL_ASSERT(condition, ...) TORCH_INTERNAL_ASSERT(condition, ##__VA_ARGS__)
#define OPGEN_WARN(...) TORCH_WARN(__VA_ARGS__)
#define OPGEN_WARN_ONCE(...) TORCH_WARN_ONCE(__VA_ARGS__)
