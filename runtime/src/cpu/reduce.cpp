// reduce.cpp: finds the reduced dimensions of an iteration and the elements of each output.
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

namespace detail {

ReductionPlan::ReductionPlan(const TensorIteratorBase& iter)
    : out(static_cast<char*>(iter.data_ptr(0))), in(static_cast<const char*>(iter.data_ptr(1))) {
  IntArrayRef shape = iter.shape();
  // Without input elements there is nothing to reduce: visit the outputs in their own order.
  if (iter.numel() == 0) {
    const TensorBase& result = iter.tensor(0);
    row = 0;
    outputs = result.numel();
    for (std::size_t d = result.sizes().size(); d-- > 0;) {
      out_sizes.push_back(result.sizes()[d]);
      out_strides.push_back(result.strides()[d] * result.element_size());
      in_strides.push_back(0);
    }
    return;
  }
  bool has_row = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t out_stride = iter.strides(0)[d];
    std::int64_t in_stride = iter.strides(1)[d];
    if (out_stride != 0 || shape[d] == 1) {
      outputs *= shape[d];
      out_sizes.push_back(shape[d]);
      out_strides.push_back(out_stride);
      in_strides.push_back(in_stride);
    } else if (!has_row) {
      has_row = true;
      row = shape[d];
      row_stride = in_stride;
    } else {
      fold_sizes.push_back(shape[d]);
      fold_strides.push_back(in_stride);
      rows *= shape[d];
    }
  }
}

void ReductionPlan::locate_output(std::int64_t i, char*& out_at,
                                  const char*& in_at) const noexcept {
  out_at = out;
  in_at = in;
  for (std::size_t d = 0; d < out_sizes.size(); ++d) {
    std::int64_t index = i % out_sizes[d];
    i /= out_sizes[d];
    out_at += index * out_strides[d];
    in_at += index * in_strides[d];
  }
}

const char* ReductionPlan::locate_row(const char* first, std::int64_t i) const noexcept {
  for (std::size_t d = 0; d < fold_sizes.size(); ++d) {
    first += i % fold_sizes[d] * fold_strides[d];
    i /= fold_sizes[d];
  }
  return first;
}

bool ReductionPlan::folds_across_rows(std::size_t in_item) const noexcept {
  std::int64_t item = static_cast<std::int64_t>(in_item);
  return rows == 1 && !out_sizes.empty() && out_sizes[0] > 1 && in_strides[0] == item &&
         row_stride != item;
}

}  // namespace detail
}  // namespace opgen
