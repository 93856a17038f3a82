// named_operator.cpp: the names under which the text of an error may know an operator.
#include "opgen/core/named_operator.h"

#include <algorithm>

namespace opgen::detail {

namespace {

constexpr std::string_view kBefore = "\n  in ";

// Returns the full name in `place`: "photo::blur.out".
std::string_view full_name(std::string_view place) noexcept {
  if (place.substr(0, kBefore.size()) != kBefore) return {};
  return place.substr(kBefore.size(), place.find('(') - kBefore.size());
}

bool starts_with(std::string_view text, std::string_view start, char next) noexcept {
  return !start.empty() && text.size() > start.size() && text.substr(0, start.size()) == start &&
         text[start.size()] == next;
}

}  // namespace

std::size_t length_of_operator_before_colon(std::string_view text,
                                            std::string_view place) noexcept {
  const std::string_view name = full_name(place);
  const std::size_t colons = name.find("::");
  // Without the namespace, without the overload, and without the mark of an in-place variant: what
  // the variants of an operator share says "blur: ...".
  const std::string_view local = colons == std::string_view::npos ? name : name.substr(colons + 2);
  const std::string_view base = local.substr(0, local.find('.'));
  const std::string_view root =
      !base.empty() && base.back() == '_' ? base.substr(0, base.size() - 1) : base;
  for (const std::string_view each : {name, local, base, root}) {
    if (starts_with(text, each, ':')) {
      return std::min(text.find_first_not_of(' ', each.size() + 1), text.size());
    }
  }
  return 0;
}

bool begins_with_operator(std::string_view text, std::string_view place) noexcept {
  return starts_with(text, full_name(place), ' ');
}

}  // namespace opgen::detail
