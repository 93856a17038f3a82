// nearest_name.h: finds the name for "did you mean" in messages.
#pragma once

#include <cstddef>
#include <string_view>

#include "opgen/core/macros.h"

namespace opgen::detail {

// Returns how many characters must be added, removed, changed, or swapped with their neighbour to
// turn `a` into `b`.
[[nodiscard]] OPGEN_API std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the largest edit distance at which a name counts as similar to `word`.
[[nodiscard]] inline std::size_t most_edits(std::string_view word) noexcept {
  return word.size() / 3 + 1;
}

// Finds the name that is most similar to a word. Call offer() with each name, then read `name`,
// which is empty if no name is similar.
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
