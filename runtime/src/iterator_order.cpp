// iterator_order.cpp: the order of dimensions: strides in bytes, fastest dimension first,
// neighbours that are one in memory joined.
#include "opgen/iterator.h"

#include <utility>

namespace opgen {

using detail::IteratorSettings;

namespace {

std::int64_t product(IntArrayRef sizes) noexcept {
  std::int64_t n = 1;
  for (std::int64_t size : sizes) n *= size;
  return n;
}

}  // namespace

// Same shape, and all contiguous or all with the same dense strides: one dimension, no sorting.
bool TensorIteratorBase::fast_set_up(const IteratorSettings& settings) {
  if (is_reduction_ || !all_ops_same_shape_) return false;
  bool contiguous = true;
  for (const OperandInfo& op : general_->operands) {
    if (op.will_resize) continue;
    contiguous = contiguous && op.tensor().is_contiguous();
  }
  if (contiguous) {
    for (int i = 0; i < num_outputs_; ++i) {
      set_iterator_output(i, general_->shape, {},
                          output_options(general_->operands[std::size_t(i)]));
    }
  } else {
    if (settings.enforce_linear_iteration) return false;
    bool channels_last = true;
    bool same_strides = true;
    const TensorBase* model = nullptr;
    for (int i = ntensors(); i-- > 0;) {
      const OperandInfo& op = operand(i);
      if (op.will_resize) continue;
      const TensorBase& t = op.tensor();
      channels_last = channels_last && t.is_contiguous(MemoryFormat::ChannelsLast);
      if (model == nullptr) {
        model = &t;
        same_strides = t.is_non_overlapping_and_dense();
      } else {
        same_strides = same_strides && t.strides() == model->strides();
      }
    }
    if (channels_last) {
      for (int i = 0; i < num_outputs_; ++i) {
        set_iterator_output(i, general_->shape, {},
                            output_options(general_->operands[std::size_t(i)])
                                .memory_format(MemoryFormat::ChannelsLast));
      }
    } else if (same_strides && model != nullptr) {
      DimVector strides(model->strides());
      for (int i = 0; i < num_outputs_; ++i) {
        set_iterator_output(i, general_->shape, strides,
                            output_options(general_->operands[std::size_t(i)]));
      }
    } else {
      return false;
    }
  }
  if (general_->shape.size() > 1) {
    std::int64_t n = product(general_->shape);
    general_->shape.resize(1);
    general_->shape[0] = n;
    coalesced_ = true;
  }
  for (OperandInfo& op : general_->operands) {
    if (!general_->shape.empty()) {
      op.stride_bytes.assign(1, static_cast<std::int64_t>(op.tensor().itemsize()));
    }
  }
  for (std::size_t i = 0; i < general_->shape.size(); ++i)
    general_->perm.push_back(static_cast<std::int64_t>(i));
  return true;
}

void TensorIteratorBase::compute_strides(const DimVector* static_shape) {
  for (OperandInfo& op : general_->operands) {
    const TensorBase& t = op.tensor();
    if (!t.defined() || op.will_resize) continue;
    IntArrayRef strides = t.strides();
    IntArrayRef sizes = static_shape != nullptr ? IntArrayRef(general_->shape) : t.sizes();
    OPGEN_INTERNAL_ASSERT(sizes.size() == strides.size() && sizes.size() <= general_->shape.size());
    std::size_t offset = general_->shape.size() - sizes.size();
    op.stride_bytes.assign(general_->shape.size(), 0);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      bool broadcast = sizes[d] == 1 && general_->shape[offset + d] != 1;
      if (broadcast) continue;
      // Strides of a tensor without elements may be any: what wraps round is not walked over.
      op.stride_bytes[offset + d] = static_cast<std::int64_t>(
          static_cast<std::uint64_t>(strides[d]) * static_cast<std::uint64_t>(t.element_size()));
    }
  }
}

void TensorIteratorBase::reorder_dimensions(bool linear) {
  std::size_t n = general_->shape.size();
  general_->perm.resize(n);
  for (std::size_t i = 0; i < n; ++i) general_->perm[i] = static_cast<std::int64_t>(n - 1 - i);
  if (n > 1 && !linear) {
    // 1: dimension a is slower than b; -1: faster; 0: no operand can tell.
    auto compare = [this](std::size_t a, std::size_t b) {
      for (const OperandInfo& op : general_->operands) {
        if (op.stride_bytes.empty() || op.will_resize) continue;
        std::int64_t stride_a = op.stride_bytes[a];
        std::int64_t stride_b = op.stride_bytes[b];
        // Reduced dimensions come first.
        if (is_reduction_ && op.is_output && (stride_a == 0) != (stride_b == 0)) {
          return stride_b == 0 ? 1 : -1;
        }
        if (stride_a == 0 || stride_b == 0) continue;
        if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
        if (general_->shape[a] > general_->shape[b]) return 1;
      }
      return 0;
    };
    // Insertion sort: comparisons are no order, so the steps decide, and ATen's are these.
    for (std::size_t i = 1; i < n; ++i) {
      std::size_t at = i;
      for (std::size_t j = i; j-- > 0;) {
        int order = compare(static_cast<std::size_t>(general_->perm[j]),
                            static_cast<std::size_t>(general_->perm[at]));
        if (order > 0) {
          std::swap(general_->perm[j], general_->perm[at]);
          at = j;
        } else if (order < 0) {
          break;
        }
      }
    }
  }
  permute_dimensions();
}

void TensorIteratorBase::permute_dimensions() {
  auto permute = [this](SmallVector<std::int64_t, 5>& values) {
    SmallVector<std::int64_t, 5> old(values);
    for (std::size_t i = 0; i < old.size(); ++i)
      values[i] = old[static_cast<std::size_t>(general_->perm[i])];
  };
  permute(general_->shape);
  for (OperandInfo& op : general_->operands) {
    if (!op.stride_bytes.empty()) permute(op.stride_bytes);
  }
}

void TensorIteratorBase::coalesce_dimensions() {
  coalesced_ = true;
  std::size_t n = general_->shape.size();
  if (n <= 1) return;
  // Dimensions a and b are one if stepping b once is stepping a through.
  auto can_coalesce = [this](std::size_t a, std::size_t b) {
    if (general_->shape[a] == 1 || general_->shape[b] == 1) return true;
    for (const OperandInfo& op : general_->operands) {
      if (general_->shape[a] * op.stride_bytes[a] != op.stride_bytes[b]) return false;
    }
    return true;
  };
  auto take_strides = [this](std::size_t to, std::size_t from) {
    for (OperandInfo& op : general_->operands) op.stride_bytes[to] = op.stride_bytes[from];
  };
  std::size_t last = 0;
  for (std::size_t d = 1; d < n; ++d) {
    if (can_coalesce(last, d)) {
      if (general_->shape[last] == 1) take_strides(last, d);
      general_->shape[last] *= general_->shape[d];
    } else {
      ++last;
      if (last != d) {
        take_strides(last, d);
        general_->shape[last] = general_->shape[d];
      }
    }
  }
  general_->shape.resize(last + 1);
  for (OperandInfo& op : general_->operands) op.stride_bytes.resize(last + 1);
}

}  // namespace opgen
