// transpose_tile.h: a small block of a transposed operand written out row by row. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opgen::detail {

// to[y][x] = element x of the source column y: the source's elements y lie side by side, its
// elements x are `step` bytes apart. `to` has rows of `columns` elements without gaps.
using TransposeTile = void (*)(char* to, const char* from, std::int64_t step, std::int64_t rows,
                               std::int64_t columns);
// For elements of this size; null if there is none.
[[nodiscard]] TransposeTile transpose_tile_of(std::size_t itemsize) noexcept;

}  // namespace opgen::detail
