// concrete.h: the dispatcher's arguments for meta and impl, where sizes are numbers.
#pragma once

#include <optional>

#include "opgen/core/sym_lists.h"
#include "opgen/tensor/tensor.h"

namespace opgen::detail {

template <class T>
[[nodiscard]] constexpr const T& concrete(const T& argument) noexcept {
  return argument;
}
[[nodiscard]] inline std::int64_t concrete(const SymInt& size) {
  return size.guard_int(__FILE__, __LINE__);
}
[[nodiscard]] inline IntArrayRef concrete(const SymIntArrayRef& sizes) {
  return as_numbers(sizes);
}
[[nodiscard]] inline std::optional<std::int64_t> concrete(const std::optional<SymInt>& size) {
  if (!size.has_value()) return std::nullopt;
  return concrete(*size);
}
[[nodiscard]] inline std::optional<IntArrayRef> concrete(const OptionalSymIntArrayRef& sizes) {
  if (!sizes.has_value()) return std::nullopt;
  return as_numbers(*sizes);
}

}  // namespace opgen::detail
