// iterator_run.cpp: what was built, and walking it: whole, in parts, or over threads.
#include "opgen/iterator.h"

#include <algorithm>
#include <cstdlib>

namespace opgen {

std::int64_t TensorIteratorBase::num_output_elements() const {
  settle();
  std::int64_t n = 1;
  for (std::size_t d = 0; d < general_->shape.size(); ++d) {
    if (general_->operands[0].stride_bytes[d] != 0 || general_->shape[d] == 0)
      n *= general_->shape[d];
  }
  return n;
}

void TensorIteratorBase::throw_no_common_dtype() {
  OPGEN_CHECK(false,
              "the inputs of this iteration have no common dtype: they have several and are not "
              "promoted, or there are none");
  __builtin_unreachable();
}

bool TensorIteratorBase::is_contiguous() const {
  if (is_simple()) return true;
  if (numel() == 1) return true;
  settle();
  if (general_->shape.size() != 1) return false;
  for (const OperandInfo& op : general_->operands) {
    if (op.stride_bytes[0] != static_cast<std::int64_t>(elementSize(op.current_dtype))) {
      return false;
    }
  }
  return true;
}

bool TensorIteratorBase::has_replaced_operands() const noexcept {
  if (form() != Form::General) return false;
  for (const OperandInfo& op : general_->operands) {
    if (op.replaced) return true;
  }
  return false;
}

bool TensorIteratorBase::is_dim_reduced(std::int64_t dim) const {
  settle();
  std::size_t d = static_cast<std::size_t>(dim);
  for (const OperandInfo& op : general_->operands) {
    if (op.is_output && op.stride_bytes[d] == 0 && general_->shape[d] > 1) return true;
  }
  return false;
}

void TensorIteratorBase::remove_operand(int i) {
  settle();
  OPGEN_INTERNAL_ASSERT(i >= 0 && i < ntensors());
  if (i < num_outputs_) --num_outputs_;
  general_->operands.erase(general_->operands.begin() + i);
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
  std::size_t n = general_->operands.size();
  std::size_t ndim = general_->shape.size();
  PtrVector data(n);
  SmallVector<std::int64_t, 8> strides(2 * n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const OperandInfo& op = general_->operands[k];
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
    index[d] = rest % general_->shape[d];
    rest /= general_->shape[d];
  }
  PtrVector at(n);
  for (std::int64_t done = begin; done < end;) {
    for (std::size_t k = 0; k < n; ++k) {
      at[k] = data[k];
      for (std::size_t d = 0; d < ndim; ++d)
        at[k] += index[d] * general_->operands[k].stride_bytes[d];
    }
    // A whole block of rows if one starts here, else the rest of a row.
    std::int64_t inner = std::min(general_->shape[0] - index[0], end - done);
    std::int64_t outer = 1;
    if (inner == general_->shape[0])
      outer = std::min(general_->shape[1] - index[1], (end - done) / general_->shape[0]);
    loop(at.data(), strides.data(), inner, outer);
    done += inner * outer;

    // `inner` ends a row unless this was the last call.
    std::int64_t carry = outer;
    index[0] = 0;
    for (std::size_t d = 1; d < ndim; ++d) {
      index[d] += carry;
      if (index[d] < general_->shape[d]) break;
      index[d] = 0;
      carry = 1;
    }
  }
}

void TensorIteratorBase::narrow(std::int64_t dim, std::int64_t start, std::int64_t size) {
  settle();
  std::size_t d = static_cast<std::size_t>(dim);
  OPGEN_INTERNAL_ASSERT(dim >= 0 && d < general_->shape.size() && size >= 1 &&
                        start + size <= general_->shape[d]);
  general_->shape[d] = size;
  general_->view_offsets.resize(general_->shape.size(), 0);
  general_->view_offsets[d] += start;
  for (OperandInfo& op : general_->operands) {
    op.data = static_cast<char*>(op.data) + op.stride_bytes[d] * start;
  }
}

void TensorIteratorBase::borrow(const TensorIteratorBase& other) {
  other.settle();
  make_general();
  form_ = Form::General;
  general_->shape = other.general_->shape;
  general_->perm = other.general_->perm;
  general_->view_offsets = other.general_->view_offsets;
  num_outputs_ = other.num_outputs_;
  common_dtype_ = other.common_dtype_;
  common_device_ = other.common_device_;
  is_reduction_ = other.is_reduction_;
  is_meta_ = other.is_meta_;
  all_ops_same_shape_ = other.all_ops_same_shape_;
  coalesced_ = other.coalesced_;
  general_->operands.clear();
  for (const OperandInfo& source : other.general_->operands) {
    OperandInfo& op = general_->operands.emplace_back();
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
  std::size_t split = general_->shape.size();
  for (std::size_t d = 0; d < general_->shape.size(); ++d) {
    if (general_->operands[0].stride_bytes[d] == 0) continue;
    if (split == general_->shape.size() || general_->shape[d] > general_->shape[split]) split = d;
  }
  std::int64_t n = numel();
  if (split == general_->shape.size() || n < kGrainSize || general_->shape[split] < 2) {
    TensorIteratorBase all;
    all.borrow(*this);
    f(all);
    return;
  }
  std::int64_t per_index = n / general_->shape[split];
  std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / std::max<std::int64_t>(1, per_index));
  parallel_for(0, general_->shape[split], grain, [&](std::int64_t begin, std::int64_t end) {
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
  for (const OperandInfo& op : general_->operands) {
    std::int64_t reach = 1;
    for (std::size_t d = 0; d < general_->shape.size(); ++d) {
      reach += (general_->shape[d] - 1) * std::abs(op.stride_bytes[d]);
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
  std::size_t split = general_->shape.size();
  std::int64_t farthest = -1;
  for (std::size_t d = 0; d < general_->shape.size(); ++d) {
    if (general_->shape[d] < 2 || is_dim_reduced(static_cast<std::int64_t>(d))) continue;
    for (const OperandInfo& op : general_->operands) {
      std::int64_t reach = (general_->shape[d] - 1) * std::abs(op.stride_bytes[d]);
      if (reach <= farthest) continue;
      farthest = reach;
      split = d;
    }
  }
  OPGEN_CHECK(split < general_->shape.size(),
              "32 bits do not hold the offsets of a reduction over ", numel(), " elements");
  std::int64_t half = general_->shape[split] / 2;
  for (std::int64_t begin : {std::int64_t(0), half}) {
    TensorIteratorBase part;
    part.borrow(*this);
    part.narrow(static_cast<std::int64_t>(split), begin,
                begin == 0 ? half : general_->shape[split] - half);
    part.with_32bit_indexing(f);
  }
}

}  // namespace opgen
