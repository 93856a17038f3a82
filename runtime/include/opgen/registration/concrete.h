// concrete.h: the arguments of an operator as meta and impl take them: here as they are. For
// targets with symbolic sizes, sizes become numbers.
#pragma once

namespace opgen::detail {

template <class T>
[[nodiscard]] constexpr const T& concrete(const T& argument) noexcept {
  return argument;
}

}  // namespace opgen::detail
