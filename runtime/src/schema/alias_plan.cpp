// alias_plan.cpp: converts alias annotations to positions.
#include "schema/alias_plan.h"

#include <mutex>
#include <set>

#include "dispatch/schema_functions.h"
#include "opgen/schema/function_schema.h"

namespace opgen::detail {

namespace {

// Returns whether, for example, "a|b" and "a" share a set. A wildcard may alias anything, so it
// shares no set.
bool share_set(std::string_view left, std::string_view right) {
  while (!left.empty()) {
    std::size_t bar = left.find('|');
    std::string_view name = left.substr(0, bar);
    for (std::string_view rest = right; !rest.empty();) {
      std::size_t other = rest.find('|');
      if (rest.substr(0, other) == name && name != "*") return true;
      rest = other == std::string_view::npos ? std::string_view() : rest.substr(other + 1);
    }
    left = bar == std::string_view::npos ? std::string_view() : left.substr(bar + 1);
  }
  return false;
}

// Compares the sets of an argument before or after the call.
bool share_set(const std::vector<AliasInfo>& arguments, const std::vector<AliasInfo>& returns) {
  for (const AliasInfo& argument : arguments) {
    for (const AliasInfo& result : returns) {
      if (share_set(argument.before, result.before)) return true;
      if (share_set(argument.after, result.before)) return true;
    }
  }
  return false;
}

}  // namespace

AliasPlan make_alias_plan(const FunctionSchema& schema) {
  AliasPlan plan;
  plan.arguments = static_cast<std::uint16_t>(schema.arguments.size());
  plan.returns = static_cast<std::uint16_t>(schema.returns.size());
  for (std::uint16_t i = 0; i < plan.arguments; ++i) {
    if (schema.arguments[i].is_written()) plan.written.push_back(i);
  }
  for (std::uint16_t r = 0; r < plan.returns; ++r) {
    std::uint16_t returned = 0;
    for (std::uint16_t i = 0; i < plan.arguments; ++i) {
      const SchemaArgument& source = schema.arguments[i];
      if (!share_set(source.aliases, schema.returns[r].aliases)) continue;
      if (source.is_written()) {
        returned = static_cast<std::uint16_t>(i + 1);
      } else {
        plan.views.push_back({r, i});
      }
      break;
    }
    plan.returned.push_back(returned);
  }
  return plan;
}

const AliasPlan& shared_alias_plan(const FunctionSchema& schema) {
  static std::set<AliasPlan>& plans = *new std::set<AliasPlan>;
  AliasPlan plan = make_alias_plan(schema);
  std::lock_guard lock(alias_plans_mutex());
  return *plans.insert(std::move(plan)).first;
}

}  // namespace opgen::detail
