// iterator_run.cpp: what was built, and walking it: whole, in parts, or over threads.
#include "opgen/iterator.h"

#include <algorithm>
#include <cstdlib>

namespace opgen {

std::int64_t TensorIteratorBase::num_output_elements() const {
  settle();
  std::int64_t n = 1;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (operands_[0].stride_bytes[d] != 0 || shape_[d] == 0) n *= shape_[d];
  }
  return n;
}

void TensorIteratorBase::throw_no_common_dtype() {
  OPGEN_INTERNAL_ASSERT(false,
                        "this iteration has inputs of several dtypes, which were not promoted");
  __builtin_unreachable();
}

bool TensorIteratorBase::is_contiguous() const {
  if (is_simple()) return true;
  if (numel() == 1) return true;
  if (shape_.size() != 1) return false;
  for (const OperandInfo& op : operands_) {
    if (op.stride_bytes[0] != static_cast<std::int64_t>(elementSize(op.current_dtype))) {
      return false;
    }
  }
  return true;
}

bool TensorIteratorBase::has_replaced_operands() const noexcept {
  for (const OperandInfo& op : operands_) {
    if (op.replaced) return true;
  }
  return false;
}

bool TensorIteratorBase::is_dim_reduced(std::int64_t dim) const {
  settle();
  std::size_t d = static_cast<std::size_t>(dim);
  for (const OperandInfo& op : operands_) {
    if (op.is_output && op.stride_bytes[d] == 0 && shape_[d] > 1) return true;
  }
  return false;
}

void TensorIteratorBase::remove_operand(int i) {
  settle();
  OPGEN_INTERNAL_ASSERT(i >= 0 && i < ntensors());
  if (i < num_outputs_) --num_outputs_;
  operands_.erase(operands_.begin() + i);
}

// -- running

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
  std::size_t n = operands_.size();
  std::size_t ndim = shape_.size();
  PtrVector data(n);
  SmallVector<std::int64_t, 8> strides(2 * n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const OperandInfo& op = operands_[k];
    data[k] = static_cast<char*>(op.data);
    if (ndim > 0) strides[k] = op.stride_bytes[0];
    if (ndim > 1) strides[n + k] = op.stride_bytes[1];
  }
  if (ndim <= 1) {
    for (std::size_t k = 0; k < n; ++k) data[k] += begin * strides[k];
    loop(data.data(), strides.data(), end - begin, 1);
    return;
  }

  // Where `begin` is.
  DimVector index(ndim);
  std::int64_t rest = begin;
  for (std::size_t d = 0; d < ndim; ++d) {
    index[d] = rest % shape_[d];
    rest /= shape_[d];
  }
  PtrVector at(n);
  for (std::int64_t done = begin; done < end;) {
    for (std::size_t k = 0; k < n; ++k) {
      at[k] = data[k];
      for (std::size_t d = 0; d < ndim; ++d) at[k] += index[d] * operands_[k].stride_bytes[d];
    }
    // A whole block of rows if one starts here, else the rest of a row.
    std::int64_t inner = std::min(shape_[0] - index[0], end - done);
    std::int64_t outer = 1;
    if (inner == shape_[0]) outer = std::min(shape_[1] - index[1], (end - done) / shape_[0]);
    loop(at.data(), strides.data(), inner, outer);
    done += inner * outer;

    // `inner` ends a row unless this was the last call.
    std::int64_t carry = outer;
    index[0] = 0;
    for (std::size_t d = 1; d < ndim; ++d) {
      index[d] += carry;
      if (index[d] < shape_[d]) break;
      index[d] = 0;
      carry = 1;
    }
  }
}

void TensorIteratorBase::narrow(std::int64_t dim, std::int64_t start, std::int64_t size) {
  settle();
  std::size_t d = static_cast<std::size_t>(dim);
  OPGEN_INTERNAL_ASSERT(dim >= 0 && d < shape_.size() && size >= 1 && start + size <= shape_[d]);
  shape_[d] = size;
  view_offsets_.resize(shape_.size(), 0);
  view_offsets_[d] += start;
  for (OperandInfo& op : operands_) {
    op.data = static_cast<char*>(op.data) + op.stride_bytes[d] * start;
  }
}

void TensorIteratorBase::borrow(const TensorIteratorBase& other) {
  other.settle();
  shape_ = other.shape_;
  perm_ = other.perm_;
  view_offsets_ = other.view_offsets_;
  num_outputs_ = other.num_outputs_;
  common_dtype_ = other.common_dtype_;
  common_device_ = other.common_device_;
  is_reduction_ = other.is_reduction_;
  is_meta_ = other.is_meta_;
  all_ops_same_shape_ = other.all_ops_same_shape_;
  coalesced_ = other.coalesced_;
  operands_.clear();
  for (const OperandInfo& source : other.operands_) {
    OperandInfo& op = operands_.emplace_back();
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
  settle();
  // The largest dimension along which outputs differ.
  std::size_t split = shape_.size();
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (operands_[0].stride_bytes[d] == 0) continue;
    if (split == shape_.size() || shape_[d] > shape_[split]) split = d;
  }
  std::int64_t n = numel();
  if (split == shape_.size() || n < kGrainSize || shape_[split] < 2) {
    TensorIteratorBase all;
    all.borrow(*this);
    f(all);
    return;
  }
  std::int64_t per_index = n / shape_[split];
  std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / std::max<std::int64_t>(1, per_index));
  parallel_for(0, shape_[split], grain, [&](std::int64_t begin, std::int64_t end) {
    TensorIteratorBase part;
    part.borrow(*this);
    part.narrow(static_cast<std::int64_t>(split), begin, end - begin);
    f(part);
  });
}

bool TensorIteratorBase::can_use_32bit_indexing() const {
  settle();
  constexpr std::int64_t most = INT32_MAX;
  if (numel() > most) return false;
  for (const OperandInfo& op : operands_) {
    std::int64_t reach = 1;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      reach += (shape_[d] - 1) * std::abs(op.stride_bytes[d]);
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
  std::size_t split = shape_.size();
  std::int64_t farthest = -1;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (shape_[d] < 2 || is_dim_reduced(static_cast<std::int64_t>(d))) continue;
    for (const OperandInfo& op : operands_) {
      std::int64_t reach = (shape_[d] - 1) * std::abs(op.stride_bytes[d]);
      if (reach <= farthest) continue;
      farthest = reach;
      split = d;
    }
  }
  OPGEN_CHECK(split < shape_.size(), "32 bits do not hold the offsets of a reduction over ",
              numel(), " elements");
  std::int64_t half = shape_[split] / 2;
  for (std::int64_t begin : {std::int64_t(0), half}) {
    TensorIteratorBase part;
    part.borrow(*this);
    part.narrow(static_cast<std::int64_t>(split), begin, begin == 0 ? half : shape_[split] - half);
    part.with_32bit_indexing(f);
  }
}

}  // namespace opgen
