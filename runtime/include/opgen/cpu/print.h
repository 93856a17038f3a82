// print.h: which elements of a tensor are printed. For code that prints tensors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

// If a tensor has more than `most` elements, only `edge` of them are printed at each end of a
// dimension.
struct Shown {
  std::int64_t most = 1000;
  std::int64_t edge = 3;
};

// Calls `visit` with each index of a dimension that is printed, and `skip` once for all others.
template <class Visit, class Skip>
void for_each_shown(const TensorBase& tensor, std::size_t dim, const Visit& visit, const Skip& skip,
                    const Shown& shown = {}) {
  const std::int64_t size = tensor.sizes()[dim];
  const bool cut = tensor.numel() > shown.most && size > 2 * shown.edge;
  for (std::int64_t i = 0; i < size; ++i) {
    if (cut && i == shown.edge) {
      skip();
      i = size - shown.edge;
    }
    visit(i);
  }
}

}  // namespace opgen::detail
