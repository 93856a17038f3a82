// storage_bytes.h: computes how many bytes a storage must have for sizes and strides. Both targets
// use it, each with its own OPGEN_CHECK.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/error.h"

namespace opgen::detail {

// See checked_storage_bytes(). A template because each target has its own class for lists of sizes.
template <class Numbers>
[[nodiscard]] std::size_t storage_bytes(const Numbers& sizes, const Numbers& strides,
                                        std::int64_t storage_offset, std::size_t itemsize) {
  OPGEN_CHECK(sizes.size() == strides.size(), "sizes ", sizes, " and strides ", strides,
              " differ in number");
  OPGEN_CHECK_VALUE(storage_offset >= 0, "storage offset ", storage_offset, " is negative");
  std::int64_t first = storage_offset;
  std::int64_t last = storage_offset;
  bool overflow = false;
  bool empty = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    OPGEN_CHECK_VALUE(sizes[d] >= 0, "a tensor cannot have a negative size: ", sizes);
    if (sizes[d] == 0) empty = true;
    if (sizes[d] <= 1) continue;  // the stride does not matter
    std::int64_t reach = 0;
    overflow |= __builtin_mul_overflow(sizes[d] - 1, strides[d], &reach);
    std::int64_t& end = strides[d] < 0 ? first : last;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  if (empty) return 0;
  std::int64_t bytes = 0;
  overflow |= __builtin_add_overflow(last, std::int64_t(1), &bytes);
  overflow |= __builtin_mul_overflow(bytes, itemsize, &bytes);
  OPGEN_CHECK(!overflow, "elements of sizes ", sizes, ", strides ", strides, " and offset ",
              storage_offset, " do not fit into any memory");
  OPGEN_CHECK_VALUE(first >= 0, "sizes ", sizes, ", strides ", strides, " and offset ",
                    storage_offset, " reach before the first byte of the storage");
  return static_cast<std::size_t>(bytes);
}

}  // namespace opgen::detail
