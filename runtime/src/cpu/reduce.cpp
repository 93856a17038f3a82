// reduce.cpp: the iteration of a reduction.
#include "opgen/cpu/reduce.h"

#include <algorithm>

#include "opgen/cpu/reduce_of.h"
#include "opgen/iterator/iterator_config.h"
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

namespace {

// Returns `result` with size 1 in the dimensions of the mask. Its input has `ndim` dimensions.
TensorBase with_reduced_dims(const TensorBase& result, std::int64_t ndim, DimMask mask) {
  DimVector sizes(result.sizes());
  DimVector strides(result.strides());
  if (result.dim() != ndim) {
    for (std::int64_t d = 0; d < ndim; ++d) {
      if (!has_dim(mask, d)) continue;
      sizes.insert(sizes.begin() + d, 1);
      strides.insert(strides.begin() + d, 0);
    }
  }
  return detail::alias_with_sizes_and_strides(result, sizes, strides, result.storage_offset());
}

}  // namespace

TensorIterator make_reduction(const TensorBase& result, const TensorBase& self, DimMask mask) {
  return TensorIterator::reduce_op(with_reduced_dims(result, self.dim(), mask), self);
}

TensorIterator make_reduction_of(const TensorBase& result, const TensorBase& a, const TensorBase& b,
                                 DimMask mask) {
  return TensorIteratorConfig()
      .set_check_mem_overlap(false)
      .is_reduction(true)
      .resize_outputs(false)
      .check_all_same_dtype(false)
      .add_owned_output(with_reduced_dims(result, std::max(a.dim(), b.dim()), mask))
      .add_owned_const_input(a)
      .add_owned_const_input(b)
      .build();
}

namespace detail {

constinit decltype(fold_finder) fold_finder = nullptr;

NumberedElements::NumberedElements(const TensorIteratorBase& iter) : sizes(iter.shape()) {
  for (int k = 0; k < 2; ++k) {
    data[k] = static_cast<const char*>(iter.data_ptr(k + 1));
    strides[k] = DimVector(iter.strides(k + 1));
  }
}

ReductionPlan NumberedElements::plan(const TensorIteratorBase& iter) const {
  ReductionPlan plan(iter);
  if (iter.numel() == 0) return plan;
  // The dimensions in the order in which the plan took them. Folded ones whose numbers follow each
  // other are one row.
  std::size_t of_output = 0;
  plan.row = plan.rows = 1;
  plan.fold_sizes.clear();
  plan.fold_strides.clear();
  bool has_row = false;
  std::int64_t step = 1;
  for (std::size_t d = 0; d < sizes.size(); step *= sizes[d++]) {
    if (iter.strides(0)[d] != 0 || sizes[d] == 1) {
      plan.in_strides[of_output++] = step;
    } else if (!has_row) {
      has_row = true;
      plan.row = sizes[d];
      plan.row_stride = step;
    } else if (plan.rows == 1 && step == plan.row_stride * plan.row) {
      plan.row *= sizes[d];
    } else {
      plan.fold_sizes.push_back(sizes[d]);
      plan.fold_strides.push_back(step);
      plan.rows *= sizes[d];
    }
  }
  return plan;
}

NumberedCursor::NumberedCursor(const NumberedElements& elements, std::int64_t at, std::int64_t step)
    : elements_(elements), dim_(0), size_(1), stride_{} {
  const DimVector& sizes = elements.sizes;
  for (int k = 0; k < 2; ++k) address_[k] = elements.data[k];
  std::int64_t before = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const std::int64_t index = at % sizes[d];
    at /= sizes[d];
    index_.push_back(index);
    for (int k = 0; k < 2; ++k) address_[k] += index * elements.strides[k][d];
    if (before == step && sizes[d] != 1) {
      dim_ = d;
      size_ = sizes[d];
      for (int k = 0; k < 2; ++k) stride_[k] = elements.strides[k][d];
    }
    before *= sizes[d];
  }
  // A single element has no step.
  if (size_ == 1) {
    index_.clear();
    index_.push_back(0);
    dim_ = 0;
  }
}

void NumberedCursor::carry() noexcept {
  const std::size_t ndim = size_ == 1 ? 0 : elements_.sizes.size();
  for (std::size_t d = dim_; d < ndim && index_[d] == elements_.sizes[d];) {
    index_[d] = 0;
    for (int k = 0; k < 2; ++k) address_[k] -= elements_.sizes[d] * elements_.strides[k][d];
    if (++d == ndim) break;
    ++index_[d];
    for (int k = 0; k < 2; ++k) address_[k] += elements_.strides[k][d];
  }
}

}  // namespace detail

}  // namespace opgen
