// symbolic_layout.h: computes sizes and strides of an iteration's outputs from symbolic sizes, by
// the rules of ATen's TensorIterator on the CPU.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "opgen/symbolic/symbolic_meta.h"
#include "opgen/symbolic/symbolic_sizes.h"

namespace opgen::detail {

// The sizes and strides of an output, or a memory format if the rule gives one.
struct OutputLayout {
  at::SymDimVector sizes, strides;
  std::optional<MemoryFormat> format;
};

class LayoutRule {
 public:
  // `operands` has outputs first. Operands that are not given or will be resized are null.
  LayoutRule(std::vector<const SymbolicTensor*> operands, int noutputs,
             const at::SymDimVector& shape, const IterationLayout& layout)
      : operands_(std::move(operands)), noutputs_(noutputs), shape_(shape), layout_(layout) {}

  OutputLayout operator()(bool same_shape) const {
    if (same_shape && !layout_.is_reduction) {
      if (std::optional<OutputLayout> found = without_reordering()) return *std::move(found);
    }
    return reordered();
  }
  // Returns dense strides in the operands' order of dimensions.
  OutputLayout reordered() const { return along(order()); }

 private:
  template <class Predicate>
  bool all(Predicate&& holds) const {
    for (const SymbolicTensor* operand : operands_) {
      if (operand != nullptr && !holds(*operand)) return false;
    }
    return true;
  }

  std::optional<OutputLayout> without_reordering() const {
    const auto contiguous = [](MemoryFormat format) {
      return [format](const SymbolicTensor& operand) { return operand.is_contiguous(format); };
    };
    if (all(contiguous(MemoryFormat::Contiguous))) {
      return OutputLayout{shape_, {}, MemoryFormat::Contiguous};
    }
    if (layout_.linear) return std::nullopt;
    if (shape_.size() == 4 && all(contiguous(MemoryFormat::ChannelsLast))) {
      return OutputLayout{shape_, {}, MemoryFormat::ChannelsLast};
    }
    const SymbolicTensor* last = nullptr;
    for (const SymbolicTensor* operand : operands_) last = operand != nullptr ? operand : last;
    const auto like_last = [last](const SymbolicTensor& operand) {
      return operand.is_non_overlapping_and_dense() &&
             known_equal(operand.strides(), last->strides());
    };
    if (last == nullptr || !all(like_last)) return std::nullopt;
    const SymIntArrayRef strides = last->strides();
    return OutputLayout{shape_, {strides.begin(), strides.end()}, std::nullopt};
  }

  // Returns the dimensions in order of increasing strides.
  at::SmallVector<std::int64_t, 6> order() const {
    const auto ndim = static_cast<std::int64_t>(shape_.size());
    at::SmallVector<std::int64_t, 6> order;
    for (std::int64_t d = ndim; d-- > 0;) order.push_back(d);
    if (layout_.linear) return order;
    // An insertion sort: an undecided comparison must not end the search.
    for (std::size_t i = 1; i < order.size(); ++i) {
      std::size_t moved = i;
      for (std::size_t j = i; j-- > 0;) {
        const int before = compare(order[j], order[moved]);
        if (before < 0) break;
        if (before > 0) std::swap(order[j], order[std::exchange(moved, j)]);
      }
    }
    return order;
  }

  // Returns 1 if dimension a belongs after b, -1 if before it, and 0 if no operand decides.
  int compare(std::int64_t a, std::int64_t b) const {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i] == nullptr) continue;
      const SymInt stride_a = stride(*operands_[i], a), stride_b = stride(*operands_[i], b);
      const bool broadcast_a = guard_or_false(sym_eq(stride_a, 0));
      const bool broadcast_b = guard_or_false(sym_eq(stride_b, 0));
      if (layout_.is_reduction && static_cast<int>(i) < noutputs_ && broadcast_a != broadcast_b) {
        return broadcast_b ? 1 : -1;
      }
      if (broadcast_a || broadcast_b) continue;
      if (const int known = compare_strides(stride_a, stride_b)) return known;
      if (guard_or_false(sym_gt(shape_[a], shape_[b]))) return 1;
    }
    return 0;
  }

  static int compare_strides(const SymInt& a, const SymInt& b) {
    if (guard_or_false(sym_lt(a, b))) return -1;
    if (guard_or_false(sym_gt(a, b))) return 1;
    if (guard_or_false(sym_eq(a, b))) return 0;
    // The comparison is undecided, but a multiple cannot be smaller.
    if (guard_or_false(sym_eq(b % a, 0))) return -1;
    return guard_or_false(sym_eq(a % b, 0)) ? 1 : 0;
  }

  // Returns 0 for a dimension that is broadcast.
  SymInt stride(const SymbolicTensor& operand, std::int64_t dim) const {
    const auto missing = static_cast<std::int64_t>(shape_.size()) - operand.dim();
    if (dim < missing) return 0;
    const SymIntArrayRef sizes = operand.sizes();
    const std::int64_t own = dim - missing;
    if (!layout_.static_shape.has_value() && guard_or_false(sym_eq(sizes[own], 1)) &&
        !guard_or_false(sym_eq(shape_[dim], 1))) {
      return 0;
    }
    return operand.strides()[own];
  }

  OutputLayout along(const at::SmallVector<std::int64_t, 6>& order) const {
    const std::size_t ndim = shape_.size();
    bool row_major = true;
    for (std::size_t i = 0; i < ndim; ++i) {
      row_major &= order[i] == static_cast<std::int64_t>(ndim - 1 - i);
    }
    if (row_major) return {shape_, {}, std::nullopt};
    at::SymDimVector strides(ndim);
    SymInt next = 1;
    for (const std::int64_t dim : order) {
      strides[dim] = next;
      next = next * shape_[dim];
    }
    return {shape_, strides, std::nullopt};
  }

  std::vector<const SymbolicTensor*> operands_;
  int noutputs_;
  const at::SymDimVector& shape_;
  const IterationLayout& layout_;
};

}  // namespace opgen::detail
