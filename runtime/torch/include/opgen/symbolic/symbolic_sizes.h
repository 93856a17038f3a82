// symbolic_sizes.h: compares two shapes whose sizes may be symbolic or unknown.
#pragma once

#include <cstddef>

#include "opgen/core/sym_int.h"
#include "opgen/tensor/tensor.h"

namespace opgen::detail {

inline bool known_equal(SymIntArrayRef a, SymIntArrayRef b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!guard_or_false(sym_eq(a[i], b[i]))) return false;
  }
  return true;
}
inline bool known_different(SymIntArrayRef a, SymIntArrayRef b) {
  if (a.size() != b.size()) return true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (guard_or_false(sym_ne(a[i], b[i]))) return true;
  }
  return false;
}
// If the result is undecided, the compiled program checks it.
inline bool expect_equal(SymIntArrayRef a, SymIntArrayRef b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!expect_true(sym_eq(a[i], b[i]), __FILE__, __LINE__)) return false;
  }
  return true;
}

}  // namespace opgen::detail
