// gradients_indexing.cpp: gradients of operators that select elements: zeros, with the gradient in
// its place.
#include <opgen/kernel.h>

#include <aten/ops/diagonal_backward_native.h>
#include <aten/ops/embedding_backward_native.h>
#include <aten/ops/embedding_dense_backward.h>
#include <aten/ops/embedding_dense_backward_native.h>
#include <aten/ops/gather_backward_native.h>
#include <aten/ops/index_add.h>
#include <aten/ops/index_put.h>
#include <aten/ops/index_select_backward_native.h>
#include <aten/ops/masked_select_backward_native.h>
#include <aten/ops/scatter.h>
#include <aten/ops/scatter_add.h>
#include <aten/ops/select_backward_native.h>
#include <aten/ops/value_selecting_reduction_backward_native.h>
#include <aten/ops/zeros.h>
#include <aten/ops/zeros_like.h>

#include "common.h"
#include "devices.h"

using namespace kernels;

// ---- Views ----

OPGEN_KERNEL(select_backward_symint)
(const Tensor& grad_output, SymIntArrayRef input_sizes, int64_t dim, SymInt index) {
  Tensor result = at::zeros(input_sizes, grad_output.options());
  result.select(dim, index).copy_(grad_output, false);
  return result;
}
OPGEN_KERNEL(diagonal_backward_symint)
(const Tensor& grad_output, SymIntArrayRef input_sizes, int64_t offset, int64_t dim1,
 int64_t dim2) {
  Tensor result = at::zeros(input_sizes, grad_output.options());
  result.diagonal(offset, dim1, dim2).copy_(grad_output, false);
  return result;
}

// ---- By indices: made of operators with gradients ----

OPGEN_KERNEL(value_selecting_reduction_backward_symint)
(const Tensor& grad, int64_t dim, const Tensor& indices, SymIntArrayRef sizes, bool keepdim) {
  const Tensor zeros = at::zeros(sizes, grad.options());
  if (keepdim || sizes.empty()) return zeros.scatter(dim, indices, grad);
  return zeros.scatter(dim, indices.unsqueeze(dim), grad.unsqueeze(dim));
}
OPGEN_KERNEL(index_select_backward_symint)
(const Tensor& grad, SymIntArrayRef self_sizes, int64_t dim, const Tensor& index) {
  return at::zeros(self_sizes, grad.options()).index_add(dim, index, grad);
}
OPGEN_KERNEL(gather_backward)
(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
  OPGEN_CHECK_NOT_IMPLEMENTED(!sparse_grad, "gather_backward: sparse gradients are not supported");
  return at::zeros(self.sizes(), grad.options()).scatter_add(dim, index, grad);
}
OPGEN_KERNEL(masked_select_backward)
(const Tensor& grad, const Tensor& input, const Tensor& mask) {
  const DimVector sizes = opgen::infer_size(input.sizes(), mask.sizes());
  check_same_device("masked_select_backward", grad, mask);
  // A mask without dimensions cannot be an index.
  DimVector indexed = sizes;
  if (indexed.empty()) indexed.push_back(1);
  // Dense, in the order of the input's dimensions.
  const Tensor zeros = at::zeros_like(input.expand(indexed), grad.options());
  // Meta has no elements to count.
  if (grad.is_meta()) return sizes.empty() ? zeros.squeeze(0) : zeros;
  const Tensor put = zeros.index_put({std::optional<Tensor>(mask.expand(indexed))}, grad);
  return sizes.empty() ? put.squeeze(0) : put;
}

// ---- Embedding ----

OPGEN_KERNEL(embedding_backward_symint)
(const Tensor& grad, const Tensor& indices, SymInt num_weights, SymInt padding_idx,
 bool scale_grad_by_freq, bool sparse) {
  OPGEN_CHECK_NOT_IMPLEMENTED(!sparse, "embedding_backward: sparse gradients are not supported");
  return at::embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}

// Adds each row of `grad_output` to the row of the result that it was looked up in, except in row
// `padding_idx`; with `scale_grad_by_freq`, divided by how often the row was looked up.
OPGEN_KERNEL(embedding_dense_backward)
(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
 bool scale_grad_by_freq) {
  OPGEN_CHECK(indices.scalar_type() == kLong || indices.scalar_type() == kInt,
              "embedding_dense_backward: expected indices of dtype Long or Int, got ",
              indices.scalar_type());
  check_same_device("embedding_dense_backward", grad_output, indices);
  OPGEN_CHECK(grad_output.dim() >= 1, "embedding_dense_backward: grad_output has no dimension");
  const int64_t width = grad_output.size(-1);
  Tensor grad_weight = at::zeros({num_weights, width}, grad_output.options());
  if (grad_output.is_meta()) return grad_weight;
  OPGEN_CHECK(indices.numel() * width == grad_output.numel(),
              "embedding_dense_backward: indices of sizes ", indices.sizes(),
              " do not fit grad_output of sizes ", grad_output.sizes());
  const Tensor places = opgen::contiguous(to_dtype(indices, kLong));
  const Tensor rows = opgen::contiguous(grad_output);
  const int64_t* place = places.const_data_ptr<int64_t>();
  std::vector<int64_t> counts(scale_grad_by_freq ? static_cast<size_t>(num_weights) : 0, 0);
  for (int64_t i = 0; i < places.numel(); ++i) {
    if (place[i] == padding_idx) continue;
    OPGEN_CHECK_INDEX(place[i] >= 0 && place[i] < num_weights, "index ", place[i],
                      " is out of range for ", num_weights, " rows");
    if (scale_grad_by_freq) ++counts[static_cast<size_t>(place[i])];
  }
  OPGEN_DISPATCH_ALL(grad_output.scalar_type(), "embedding_dense_backward", [&] {
    using wide = wide_t<scalar_t>;
    const scalar_t* from = rows.const_data_ptr<scalar_t>();
    scalar_t* to = grad_weight.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < places.numel(); ++i) {
      if (place[i] == padding_idx) continue;
      // A fraction as an integer is 0, as in PyTorch.
      const Scalar share = scale_grad_by_freq
                               ? 1.0 / static_cast<double>(counts[static_cast<size_t>(place[i])])
                               : 1.0;
      const wide scale = share.to<wide>();
      scalar_t* row = to + place[i] * width;
      for (int64_t k = 0; k < width; ++k) {
        row[k] = static_cast<scalar_t>(
            plus(static_cast<wide>(row[k]), times(static_cast<wide>(from[i * width + k]), scale)));
      }
    }
  });
  return grad_weight;
}
