// order.cpp: orders the dimensions: strides in bytes, fastest dimension first, adjacent dimensions
// coalesced.
#include "iterator/builder.h"

#include <utility>

namespace opgen::detail {

namespace {

std::int64_t product(IntArrayRef sizes) noexcept {
  std::int64_t n = 1;
  for (std::int64_t size : sizes) n *= size;
  return n;
}

}  // namespace

// Handles operands with the same shape that are all contiguous, or all have the same dense strides.
// They become one dimension, without sorting.
bool IteratorBuilder::set_up_one_dimension() {
  if (state_.is_reduction || !state_.all_ops_same_shape) return false;
  bool contiguous = true;
  for (const OperandInfo& op : state_.general->operands) {
    if (op.will_resize) continue;
    contiguous = contiguous && op.tensor().is_contiguous();
  }
  if (contiguous) {
    for (int i = 0; i < state_.num_outputs; ++i) {
      set_output(i, state_.general->shape, {},
                 output_options(state_.general->operands[std::size_t(i)]));
    }
  } else {
    if (settings_.enforce_linear_iteration) return false;
    bool channels_last = true;
    bool same_strides = true;
    const TensorBase* model = nullptr;
    for (int i = ntensors(); i-- > 0;) {
      const OperandInfo& op = state_.general->operands[std::size_t(i)];
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
      for (int i = 0; i < state_.num_outputs; ++i) {
        set_output(i, state_.general->shape, {},
                   output_options(state_.general->operands[std::size_t(i)])
                       .memory_format(MemoryFormat::ChannelsLast));
      }
    } else if (same_strides && model != nullptr) {
      DimVector strides(model->strides());
      for (int i = 0; i < state_.num_outputs; ++i) {
        set_output(i, state_.general->shape, strides,
                   output_options(state_.general->operands[std::size_t(i)]));
      }
    } else {
      return false;
    }
  }
  if (state_.general->shape.size() > 1) {
    std::int64_t n = product(state_.general->shape);
    state_.general->shape.resize(1);
    state_.general->shape[0] = n;
  }
  for (OperandInfo& op : state_.general->operands) {
    if (!state_.general->shape.empty()) {
      op.stride_bytes.assign(1, static_cast<std::int64_t>(op.tensor().itemsize()));
    }
  }
  for (std::size_t i = 0; i < state_.general->shape.size(); ++i)
    state_.general->perm.push_back(static_cast<std::int64_t>(i));
  return true;
}

void IteratorBuilder::compute_strides() {
  for (OperandInfo& op : state_.general->operands) {
    const TensorBase& t = op.tensor();
    if (!t.defined() || op.will_resize) continue;
    IntArrayRef strides = t.strides();
    IntArrayRef sizes = static_shape_ != nullptr ? IntArrayRef(state_.general->shape) : t.sizes();
    OPGEN_INTERNAL_ASSERT(sizes.size() == strides.size() &&
                          sizes.size() <= state_.general->shape.size());
    std::size_t offset = state_.general->shape.size() - sizes.size();
    op.stride_bytes.assign(state_.general->shape.size(), 0);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      bool broadcast = sizes[d] == 1 && state_.general->shape[offset + d] != 1;
      if (broadcast) continue;
      // Strides of a tensor without elements may have any value. Overflow wraps, which is harmless
      // because no element is visited.
      op.stride_bytes[offset + d] = static_cast<std::int64_t>(
          static_cast<std::uint64_t>(strides[d]) * static_cast<std::uint64_t>(t.element_size()));
    }
  }
}

void IteratorBuilder::reorder_dimensions(bool linear) {
  std::size_t n = state_.general->shape.size();
  state_.general->perm.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    state_.general->perm[i] = static_cast<std::int64_t>(n - 1 - i);
  if (n > 1 && !linear) {
    // Returns 1 if dimension a is slower than b, -1 if it is faster, and 0 if the operands do not
    // decide.
    auto compare = [this](std::size_t a, std::size_t b) {
      for (const OperandInfo& op : state_.general->operands) {
        if (op.stride_bytes.empty() || op.will_resize) continue;
        std::int64_t stride_a = op.stride_bytes[a];
        std::int64_t stride_b = op.stride_bytes[b];
        // Reduced dimensions come first.
        if (state_.is_reduction && op.is_output && (stride_a == 0) != (stride_b == 0)) {
          return stride_b == 0 ? 1 : -1;
        }
        if (stride_a == 0 || stride_b == 0) continue;
        if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
        if (state_.general->shape[a] > state_.general->shape[b]) return 1;
      }
      return 0;
    };
    // The comparison is not a strict order, so the result depends on the algorithm. This insertion
    // sort has the same steps as ATen's.
    for (std::size_t i = 1; i < n; ++i) {
      std::size_t at = i;
      for (std::size_t j = i; j-- > 0;) {
        int order = compare(static_cast<std::size_t>(state_.general->perm[j]),
                            static_cast<std::size_t>(state_.general->perm[at]));
        if (order > 0) {
          std::swap(state_.general->perm[j], state_.general->perm[at]);
          at = j;
        } else if (order < 0) {
          break;
        }
      }
    }
  }
  permute_dimensions();
}

void IteratorBuilder::permute_dimensions() {
  auto permute = [this](SmallVector<std::int64_t, 5>& values) {
    SmallVector<std::int64_t, 5> old(values);
    for (std::size_t i = 0; i < old.size(); ++i)
      values[i] = old[static_cast<std::size_t>(state_.general->perm[i])];
  };
  permute(state_.general->shape);
  for (OperandInfo& op : state_.general->operands) {
    if (!op.stride_bytes.empty()) permute(op.stride_bytes);
  }
}

void IteratorBuilder::coalesce_dimensions() {
  std::size_t n = state_.general->shape.size();
  if (n <= 1) return;
  // Dimensions a and b coalesce if one step of b is size(a) steps of a.
  auto can_coalesce = [this](std::size_t a, std::size_t b) {
    if (state_.general->shape[a] == 1 || state_.general->shape[b] == 1) return true;
    for (const OperandInfo& op : state_.general->operands) {
      if (state_.general->shape[a] * op.stride_bytes[a] != op.stride_bytes[b]) return false;
    }
    return true;
  };
  auto take_strides = [this](std::size_t to, std::size_t from) {
    for (OperandInfo& op : state_.general->operands) op.stride_bytes[to] = op.stride_bytes[from];
  };
  std::size_t last = 0;
  for (std::size_t d = 1; d < n; ++d) {
    if (can_coalesce(last, d)) {
      if (state_.general->shape[last] == 1) take_strides(last, d);
      state_.general->shape[last] *= state_.general->shape[d];
    } else {
      ++last;
      if (last != d) {
        take_strides(last, d);
        state_.general->shape[last] = state_.general->shape[d];
      }
    }
  }
  state_.general->shape.resize(last + 1);
  for (OperandInfo& op : state_.general->operands) op.stride_bytes.resize(last + 1);
}

}  // namespace opgen::detail
