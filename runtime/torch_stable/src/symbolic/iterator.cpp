// iterator.cpp: iterations over fakes.
#include "opgen/symbolic/symbolic_iterator.h"

#include "opgen/tensor/memory_overlap.h"

namespace opgen::detail {

void check_overlap(const std::vector<SymbolicTensor>& operands, std::size_t noutputs) {
  for (std::size_t o = 0; o < noutputs; ++o) {
    if (!operands[o].defined()) continue;
    const SymIntArrayRef sizes = operands[o].sizes();
    const SymIntArrayRef strides = operands[o].strides();
    if (operands[o].is_non_overlapping_and_dense()) continue;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      OPGEN_CHECK(!(guard_or_false(sym_eq(strides[d], 0)) && guard_or_false(sym_gt(sizes[d], 1))),
                  "unsupported operation: more than one element of the written-to tensor refers to "
                  "a single memory location. Please clone() the tensor before performing the "
                  "operation.");
    }
  }
}

SymDimVector broadcast_sizes(SymIntArrayRef a, SymIntArrayRef b) {
  const std::size_t ndim = std::max(a.size(), b.size());
  SymDimVector shape(ndim);
  for (std::size_t i = 1; i <= ndim; ++i) {
    const SymInt size_a = i <= a.size() ? a[a.size() - i] : SymInt(1);
    const SymInt size_b = i <= b.size() ? b[b.size() - i] : SymInt(1);
    if (guard_or_false(sym_eq(size_a, 1))) {
      shape[ndim - i] = size_b;
    } else if (guard_or_false(sym_eq(size_b, 1))) {
      shape[ndim - i] = size_a;
    } else {
      OPGEN_SYM_CHECK(sym_eq(size_a, size_b), "The size of tensor a (", size_a,
                      ") must match the size of tensor b (", size_b,
                      ") at non-singleton dimension ", ndim - i);
      shape[ndim - i] = size_a;
    }
  }
  return shape;
}

}  // namespace opgen::detail
