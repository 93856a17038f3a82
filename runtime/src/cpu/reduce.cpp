// reduce.cpp: the iteration of a reduction.
#include "opgen/cpu/reduce.h"

#include "opgen/tensor/shape_utils.h"

namespace opgen {

TensorIterator make_reduction(const TensorBase& result, const TensorBase& self,
                              OptionalIntArrayRef dims, bool keepdim) {
  opgen::DimMask mask = opgen::make_dim_mask(dims, self.dim());
  DimVector expected = opgen::shape_from_dim_mask(self.sizes(), mask, keepdim);
  OPGEN_CHECK(result.sizes() == IntArrayRef(expected), "the output of a reduction of sizes ",
              self.sizes(), " has sizes ", result.sizes(), " instead of ", expected);
  return make_reduction(result, self, mask);
}

TensorIterator make_reduction(const TensorBase& result, const TensorBase& self, DimMask mask) {
  DimVector sizes(result.sizes());
  DimVector strides(result.strides());
  if (result.dim() != self.dim()) {
    for (std::int64_t d = 0; d < self.dim(); ++d) {
      if (!has_dim(mask, d)) continue;
      sizes.insert(sizes.begin() + d, 1);
      strides.insert(strides.begin() + d, 0);
    }
  }
  return TensorIterator::reduce_op(
      detail::alias_with_sizes_and_strides(result, sizes, strides, result.storage_offset()), self);
}

}  // namespace opgen
