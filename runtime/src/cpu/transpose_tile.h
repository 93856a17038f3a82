// transpose_tile.h: copies a small block of a transposed operand row by row. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opgen::detail {

// Sets to[y][x] to element (x, y) of the source, in which elements with adjacent y are adjacent and
// those with adjacent x are `step` bytes apart. `to` has rows of `columns` elements without gaps.
using TransposeTile = void (*)(char* to, const char* from, std::int64_t step, std::int64_t rows,
                               std::int64_t columns);
// Returns the function for elements of this size; null if there is none.
[[nodiscard]] TransposeTile transpose_tile_of(std::size_t itemsize) noexcept;

}  // namespace opgen::detail
