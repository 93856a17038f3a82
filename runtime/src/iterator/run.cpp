// run.cpp: queries a built iteration, and runs it as a whole, in parts, or on several threads.
#include "opgen/iterator/tensor_iterator.h"

#include <algorithm>
#include <cstdlib>

namespace opgen {

std::int64_t TensorIteratorBase::num_output_elements() const {
  materialize();
  std::int64_t n = 1;
  for (std::size_t d = 0; d < state_.general->shape.size(); ++d) {
    if (state_.general->operands[0].stride_bytes[d] != 0 || state_.general->shape[d] == 0)
      n *= state_.general->shape[d];
  }
  return n;
}

void TensorIteratorBase::throw_no_common_dtype() {
  OPGEN_CHECK(false,
              "the inputs of this iteration have no common dtype: they have different dtypes and "
              "are not promoted, or there are no inputs");
  __builtin_unreachable();
}

bool TensorIteratorBase::is_contiguous() const {
  if (state_.load_form() == Form::Contiguous) return true;
  if (numel() == 1) return true;
  materialize();
  if (state_.general->shape.size() != 1) return false;
  for (const OperandInfo& op : state_.general->operands) {
    if (op.stride_bytes[0] != static_cast<std::int64_t>(elementSize(op.current_dtype))) {
      return false;
    }
  }
  return true;
}

bool TensorIteratorBase::has_replaced_operands() const noexcept {
  if (state_.load_form() != Form::General) return false;
  for (const OperandInfo& op : state_.general->operands) {
    if (op.replaced) return true;
  }
  return false;
}

bool TensorIteratorBase::is_dim_reduced(std::int64_t dim) const {
  materialize();
  std::size_t d = static_cast<std::size_t>(dim);
  for (const OperandInfo& op : state_.general->operands) {
    if (op.is_output && op.stride_bytes[d] == 0 && state_.general->shape[d] > 1) return true;
  }
  return false;
}

void TensorIteratorBase::remove_operand(int i) {
  materialize();
  OPGEN_INTERNAL_ASSERT(i >= 0 && i < ntensors());
  if (i < state_.num_outputs) --state_.num_outputs;
  state_.general->operands.erase(state_.general->operands.begin() + i);
}

// ---- Run a loop ----

void TensorIteratorBase::for_rows(loop1d_t row, int ntensors, char** data,
                                  const std::int64_t* strides, std::int64_t inner,
                                  std::int64_t outer) {
  if (outer == 1) {
    row(data, strides, inner);
    return;
  }
  PtrVector pointers(data, data + ntensors);
  const std::int64_t* outer_strides = strides + ntensors;
  for (std::int64_t i = 0; i < outer; ++i) {
    row(pointers.data(), strides, inner);
    for (std::size_t k = 0; k < pointers.size(); ++k) pointers[k] += outer_strides[k];
  }
}

void TensorIteratorBase::for_each_2d(loop2d_t loop, std::int64_t grain) {
  std::int64_t n = numel();
  if (n == 0) return;
  parallel_for(0, n, grain,
               [&](std::int64_t begin, std::int64_t end) { serial_for_each_2d(loop, begin, end); });
}

void TensorIteratorBase::serial_for_each_2d(loop2d_t loop, std::int64_t begin,
                                            std::int64_t end) const {
  if (begin >= end) return;
  std::size_t n = state_.general->operands.size();
  std::size_t ndim = state_.general->shape.size();
  PtrVector data(n);
  SmallVector<std::int64_t, 8> strides(2 * n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const OperandInfo& op = state_.general->operands[k];
    data[k] = static_cast<char*>(op.data);
    if (ndim > 0) strides[k] = op.stride_bytes[0];
    if (ndim > 1) strides[n + k] = op.stride_bytes[1];
  }
  if (ndim <= 1) {
    for (std::size_t k = 0; k < n; ++k) data[k] += begin * strides[k];
    loop(data.data(), strides.data(), end - begin, 1);
    return;
  }

  // The index of element `begin`.
  DimVector index(ndim);
  std::int64_t rest = begin;
  for (std::size_t d = 0; d < ndim; ++d) {
    index[d] = rest % state_.general->shape[d];
    rest /= state_.general->shape[d];
  }
  PtrVector at(n);
  for (std::int64_t done = begin; done < end;) {
    for (std::size_t k = 0; k < n; ++k) {
      at[k] = data[k];
      for (std::size_t d = 0; d < ndim; ++d)
        at[k] += index[d] * state_.general->operands[k].stride_bytes[d];
    }
    // Run a whole block of rows if one starts here, else the rest of a row.
    std::int64_t inner = std::min(state_.general->shape[0] - index[0], end - done);
    std::int64_t outer = 1;
    if (inner == state_.general->shape[0])
      outer =
          std::min(state_.general->shape[1] - index[1], (end - done) / state_.general->shape[0]);
    loop(at.data(), strides.data(), inner, outer);
    done += inner * outer;

    // `inner` reaches the end of a row unless this was the last call.
    std::int64_t carry = outer;
    index[0] = 0;
    for (std::size_t d = 1; d < ndim; ++d) {
      index[d] += carry;
      if (index[d] < state_.general->shape[d]) break;
      index[d] = 0;
      carry = 1;
    }
  }
}

void TensorIteratorBase::narrow(std::int64_t dim, std::int64_t start, std::int64_t size) {
  materialize();
  std::size_t d = static_cast<std::size_t>(dim);
  OPGEN_INTERNAL_ASSERT(dim >= 0 && d < state_.general->shape.size() && size >= 1 &&
                        start + size <= state_.general->shape[d]);
  state_.general->shape[d] = size;
  state_.general->view_offsets.resize(state_.general->shape.size(), 0);
  state_.general->view_offsets[d] += start;
  for (OperandInfo& op : state_.general->operands) {
    op.data = static_cast<char*>(op.data) + op.stride_bytes[d] * start;
  }
}

void TensorIteratorBase::borrow(const TensorIteratorBase& other) {
  other.materialize();
  state_.make_general();
  state_.form.store_release(Form::General);
  state_.general->shape = other.state_.general->shape;
  state_.general->perm = other.state_.general->perm;
  state_.general->view_offsets = other.state_.general->view_offsets;
  state_.num_outputs = other.state_.num_outputs;
  state_.common_dtype = other.state_.common_dtype;
  state_.common_device = other.state_.common_device;
  state_.is_reduction = other.state_.is_reduction;
  state_.is_meta = other.state_.is_meta;
  state_.all_ops_same_shape = other.state_.all_ops_same_shape;
  state_.general->operands.clear();
  for (const OperandInfo& source : other.state_.general->operands) {
    OperandInfo& op = state_.general->operands.emplace_back();
    op.stride_bytes = source.stride_bytes;
    op.data = source.data;
    op.borrowed = &source.tensor();
    op.device = source.device;
    op.target_dtype = source.target_dtype;
    op.current_dtype = source.current_dtype;
    op.has_device = source.has_device;
    op.is_output = source.is_output;
    op.is_read_write = source.is_read_write;
  }
}

void TensorIteratorBase::parallel_for_outputs(FunctionRef<void(TensorIteratorBase&)> f) const {
  materialize();
  // Split the largest dimension of the output.
  std::size_t split = state_.general->shape.size();
  for (std::size_t d = 0; d < state_.general->shape.size(); ++d) {
    if (state_.general->operands[0].stride_bytes[d] == 0) continue;
    if (split == state_.general->shape.size() ||
        state_.general->shape[d] > state_.general->shape[split])
      split = d;
  }
  std::int64_t n = numel();
  if (split == state_.general->shape.size() || n < kGrainSize || state_.general->shape[split] < 2) {
    TensorIteratorBase all;
    all.borrow(*this);
    f(all);
    return;
  }
  std::int64_t per_index = n / state_.general->shape[split];
  std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / std::max<std::int64_t>(1, per_index));
  parallel_for(0, state_.general->shape[split], grain, [&](std::int64_t begin, std::int64_t end) {
    TensorIteratorBase part;
    part.borrow(*this);
    part.narrow(static_cast<std::int64_t>(split), begin, end - begin);
    f(part);
  });
}

bool TensorIteratorBase::can_use_32bit_indexing() const {
  materialize();
  constexpr std::int64_t most = INT32_MAX;
  if (numel() > most) return false;
  for (const OperandInfo& op : state_.general->operands) {
    std::int64_t reach = 1;
    for (std::size_t d = 0; d < state_.general->shape.size(); ++d) {
      reach += (state_.general->shape[d] - 1) * std::abs(op.stride_bytes[d]);
    }
    if (reach > most) return false;
  }
  return true;
}

void TensorIteratorBase::with_32bit_indexing(FunctionRef<void(TensorIteratorBase&)> f) const {
  if (can_use_32bit_indexing()) {
    TensorIteratorBase all;
    all.borrow(*this);
    f(all);
    return;
  }
  std::size_t split = state_.general->shape.size();
  std::int64_t farthest = -1;
  for (std::size_t d = 0; d < state_.general->shape.size(); ++d) {
    if (state_.general->shape[d] < 2 || is_dim_reduced(static_cast<std::int64_t>(d))) continue;
    for (const OperandInfo& op : state_.general->operands) {
      std::int64_t reach = (state_.general->shape[d] - 1) * std::abs(op.stride_bytes[d]);
      if (reach <= farthest) continue;
      farthest = reach;
      split = d;
    }
  }
  OPGEN_CHECK(split < state_.general->shape.size(),
              "the offsets do not fit into 32 bits in a reduction over ", numel(), " elements");
  std::int64_t half = state_.general->shape[split] / 2;
  for (std::int64_t begin : {std::int64_t(0), half}) {
    TensorIteratorBase part;
    part.borrow(*this);
    part.narrow(static_cast<std::int64_t>(split), begin,
                begin == 0 ? half : state_.general->shape[split] - half);
    part.with_32bit_indexing(f);
  }
}

}  // namespace opgen
