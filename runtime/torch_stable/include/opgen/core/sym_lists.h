// sym_lists.h: lists of numbers as lists of sizes that may be symbols, and back.
#pragma once

#include <cstdint>
#include <optional>

#include "opgen/core/array_ref.h"
#include "opgen/core/sym_int.h"

namespace opgen::detail {

// A SymInt that holds a number has the number's representation.
static_assert(sizeof(SymInt) == sizeof(std::int64_t));

[[nodiscard]] inline SymIntArrayRef as_symbols(IntArrayRef numbers) noexcept {
  return {reinterpret_cast<const SymInt*>(numbers.data()), numbers.size()};
}
// Returns the same memory. The list must belong to a call: a symbol in it becomes the number for
// which the traced program is then valid.
[[nodiscard]] inline IntArrayRef as_numbers(SymIntArrayRef sizes) {
  for (const SymInt& size : sizes) {
    if (OPGEN_UNLIKELY(size.is_symbolic())) {
      const_cast<SymInt&>(size) = size.guard_int(__FILE__, __LINE__);
    }
  }
  return {reinterpret_cast<const std::int64_t*>(sizes.data()), sizes.size()};
}

}  // namespace opgen::detail
