// error.h: OPGEN_CHECK and its kin, as ATen's checks: the exceptions are those that PyTorch turns
// into Python's.
#pragma once

#include <c10/core/DispatchKey.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <string>
#include <utility>

#include "opgen/macros.h"
#include "opgen/sym_int.h"

namespace opgen::detail {

// torch.compile and torch.export take NotImplementedError of a Meta kernel for a kernel that is not
// there, and drop its text: there it is a RuntimeError. Meta is in no set of keys to include but
// while fake tensors are served.
[[noreturn]] inline void throw_not_implemented(c10::SourceLocation where, std::string text) {
  if (c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::Meta)) {
    throw c10::Error(where, std::move(text));
  }
  throw c10::NotImplementedError(where, std::move(text));
}

}  // namespace opgen::detail

#define OPGEN_CHECK(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
// For what sym_eq, sym_le, ... say of sizes: where they are symbolic, and it is open whether the
// condition holds, the compiled program checks it.
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
