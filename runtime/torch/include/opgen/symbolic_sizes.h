// symbolic_sizes.h: whether two shapes are equal, where sizes may be symbolic and even unknown.
#pragma once

#include <cstddef>

#include "opgen/sym_int.h"
#include "opgen/tensor.h"

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
// If that is open, the compiled program checks it.
inline bool expect_equal(SymIntArrayRef a, SymIntArrayRef b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!sym_eq(a[i], b[i]).expect_true(__FILE__, __LINE__)) return false;
  }
  return true;
}

}  // namespace opgen::detail
