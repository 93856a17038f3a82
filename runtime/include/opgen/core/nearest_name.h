// nearest_name.h: "did you mean" for names in messages.
#pragma once

#include <cstddef>
#include <string_view>

#include "opgen/core/macros.h"

namespace opgen::detail {

// Returns the number of characters to add, remove or change, and of neighbours to swap, to get from
// `a` to `b`.
[[nodiscard]] OPGEN_API std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the largest distance at which a name may be meant by `word`.
[[nodiscard]] inline std::size_t most_edits(std::string_view word) noexcept {
  return word.size() / 3 + 1;
}

// Finds the name that a word is most likely to mean: offer() it each, then read `name`, which is
// empty if none is similar.
struct NearestName {
  explicit NearestName(std::string_view asked) : word(asked), best(most_edits(asked)) {}

  void offer(std::string_view candidate) {
    const std::size_t edits = edit_distance(word, candidate);
    if (edits >= best) return;
    best = edits;
    name = candidate;
  }

  std::string_view word;
  std::string_view name;
  std::size_t best;
};

}  // namespace opgen::detail
