// alias_plan.h: AliasPlan, the alias annotations of a schema by position of arguments and returns.
// Internal.
#pragma once

#include <cstdint>
#include <vector>

#include "opgen/schema/function_schema.h"

namespace opgen::detail {

struct AliasPlan {
  // The return at position `result` is a view of the argument at position `argument`.
  struct View {
    std::uint16_t result;
    std::uint16_t argument;
    [[nodiscard]] auto operator<=>(const View&) const = default;
  };
  std::uint16_t arguments = 0;
  std::uint16_t returns = 0;
  std::vector<std::uint16_t> written;  // positions of arguments
  std::vector<View> views;
  std::vector<std::uint16_t>
      returned;  // per return: 1 + the position of the written argument that it is, or 0

  [[nodiscard]] auto operator<=>(const AliasPlan&) const = default;
};

[[nodiscard]] AliasPlan make_alias_plan(const FunctionSchema& schema);
// Returns the plan that all operators with the same annotations share, for the life of the process.
// Safe from any thread.
[[nodiscard]] const AliasPlan& shared_alias_plan(const FunctionSchema& schema);

}  // namespace opgen::detail
