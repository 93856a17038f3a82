// alias_plan.cpp: alias annotations into positions.
#include "alias_plan.h"

#include <mutex>
#include <set>

#include "opgen/function_schema.h"

namespace opgen::detail {

namespace {

// "a|b" and "a" share a set; so do a wildcard and every set.
bool share_set(std::string_view left, std::string_view right) {
  while (!left.empty()) {
    std::size_t bar = left.find('|');
    std::string_view name = left.substr(0, bar);
    for (std::string_view rest = right; !rest.empty();) {
      std::size_t other = rest.find('|');
      if (rest.substr(0, other) == name) return true;
      rest = other == std::string_view::npos ? std::string_view() : rest.substr(other + 1);
    }
    left = bar == std::string_view::npos ? std::string_view() : left.substr(bar + 1);
  }
  return false;
}

}  // namespace

AliasPlan make_alias_plan(const FunctionSchema& schema) {
  AliasPlan plan;
  plan.arguments = static_cast<std::uint16_t>(schema.arguments.size());
  plan.returns = static_cast<std::uint16_t>(schema.returns.size());
  for (std::uint16_t i = 0; i < plan.arguments; ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    if (argument.alias && argument.alias->is_write) plan.written.push_back(i);
  }
  for (std::uint16_t r = 0; r < plan.returns; ++r) {
    const std::optional<AliasInfo>& alias = schema.returns[r].alias;
    std::uint16_t returned = 0;
    for (std::uint16_t i = 0; alias && i < plan.arguments; ++i) {
      const std::optional<AliasInfo>& source = schema.arguments[i].alias;
      if (!source || !share_set(source->before, alias->before)) continue;
      if (source->is_write) {
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
  // Never destroyed: kernels of other libraries may run while this one's static objects go.
  static std::mutex& mutex = *new std::mutex;
  static std::set<AliasPlan>& plans = *new std::set<AliasPlan>;
  AliasPlan plan = make_alias_plan(schema);
  std::lock_guard lock(mutex);
  return *plans.insert(std::move(plan)).first;
}

}  // namespace opgen::detail
