// symbolic_iterator.h: the definitions of SymbolicIteratorBase's members, for the translation
// units that register kernels. They are hidden and inline, so a library has one copy.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "opgen/symbolic/dtype_iterator.h"
#include "opgen/symbolic/symbolic_layout.h"

#define OPGEN_ONCE __attribute__((weak, visibility("hidden")))

namespace opgen {

namespace detail {

inline SymDimVector broadcast_shape(const std::vector<SymbolicTensor>& operands, std::size_t first,
                                    bool& same_shape) {
  SymDimVector shape;
  bool found = false;
  for (std::size_t i = first; i < operands.size(); ++i) {
    if (!operands[i].defined()) continue;
    const SymIntArrayRef sizes = operands[i].sizes();
    if (!std::exchange(found, true)) {
      shape.assign(sizes.begin(), sizes.end());
    } else if (!known_equal(sizes, shape)) {
      same_shape = false;
      shape = broadcast_sizes(shape, sizes);
    }
  }
  return shape;
}

// Returns whether the sizes of the given output `o` will change. In-place outputs keep theirs.
inline bool will_resize(const std::vector<SymbolicTensor>& operands, std::size_t noutputs,
                        std::size_t o, const SymDimVector& shape, const IterationLayout& layout) {
  const SymIntArrayRef sizes = operands[o].sizes();
  bool is_input = false;
  for (std::size_t i = noutputs; i < operands.size(); ++i) {
    is_input |= operands[i].is_same(operands[o]);
  }
  if (layout.resize_outputs && !is_input && known_different(sizes, shape)) return true;
  OPGEN_CHECK(layout.is_reduction || expect_equal(sizes, shape), "output with shape ", sizes,
              " doesn't match the broadcast shape ", SymIntArrayRef(shape));
  return false;
}

// Returns an input as ATen's iterator uses it. On the CPU, an input whose dtype is not the common
// one becomes a dense copy, whose strides then count. (On other devices elements are converted as
// they are loaded. A tensor of PyTorch with only the Meta key counts as another device.)
inline SymbolicTensor as_iterated(const SymbolicTensor& input, std::optional<ScalarType> common) {
  const bool converted = common.has_value() && input.scalar_type() != *common && is_on_cpu(input);
  if (!converted || input.is_non_overlapping_and_dense()) return input;
  const SymIntArrayRef given = input.sizes();
  const SymDimVector sizes(given.begin(), given.end());
  const IterationLayout layout;
  return dense_stand_in(input, LayoutRule({&input}, 0, sizes, layout).reordered(), *common);
}

}  // namespace detail

OPGEN_ONCE SymbolicIteratorBase::SymbolicIteratorBase() = default;
OPGEN_ONCE SymbolicIteratorBase::~SymbolicIteratorBase() {
  delete types_;
}

OPGEN_ONCE void SymbolicIteratorBase::iterate(std::vector<SymbolicTensor> operands, int noutputs,
                                              const detail::IterationLayout& layout,
                                              BuildTypes build_types) {
  operands_ = std::move(operands);
  noutputs_ = noutputs;
  const auto nout = static_cast<std::size_t>(noutputs);
  for (const SymbolicTensor& operand : operands_) {
    OPGEN_CHECK(!operand.defined() || operand.layout() == kStrided,
                "unsupported tensor layout: ", operand.layout());
  }
  if (layout.check_mem_overlap) detail::check_overlap(operands_, nout);

  bool same_shape = !layout.static_shape.has_value();
  const SymDimVector shape =
      layout.static_shape.has_value()
          ? *layout.static_shape
          : detail::broadcast_shape(operands_, layout.resize_outputs ? nout : 0, same_shape);
  std::vector<bool> resized(nout);
  for (std::size_t o = 0; o < nout; ++o) {
    resized[o] = operands_[o].defined() && detail::will_resize(operands_, nout, o, shape, layout);
  }

  // Sizes of 1 broadcast and need no check. A tensor without dimensions is used as it is.
  const std::vector<std::int64_t> ones(shape.size(), 1);
  std::vector<Tensor> stand_ins;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const bool scalar = i >= nout && operands_[i].defined() && operands_[i].dim() == 0;
    stand_ins.push_back(scalar ? operands_[i] : detail::stand_in(operands_[i], ones));
  }
  delete types_;
  types_ = new detail::DtypeIterator(nout);
  build_types(*types_, stand_ins.data());

  std::vector<SymbolicTensor> iterated = operands_;
  std::vector<const SymbolicTensor*> laid_out;
  for (std::size_t i = 0; i < iterated.size(); ++i) {
    const bool counts = iterated[i].defined() && (i >= nout || !resized[i]);
    if (i >= nout) iterated[i] = detail::as_iterated(iterated[i], types_->found_common_dtype());
    laid_out.push_back(counts ? &iterated[i] : nullptr);
  }
  const detail::OutputLayout found =
      detail::LayoutRule(std::move(laid_out), noutputs, shape, layout)(same_shape);
  for (std::size_t o = 0; o < nout; ++o) {
    const auto i = static_cast<std::int64_t>(o);
    TensorOptions options = types_->options(i);
    if (operands_[o].defined() && !resized[o]) {
      set_output_raw_strided(i, operands_[o].sym_sizes(), {}, options);
    } else {
      if (found.format.has_value()) options = options.memory_format(*found.format);
      set_output_raw_strided(i, found.sizes, found.strides, options);
      operands_[o] = maybe_get_output(i);
    }
  }
}

OPGEN_ONCE void SymbolicIteratorBase::build(SymbolicIteratorConfig& config) {
  const auto nout = config.outputs_.size();
  std::vector<SymbolicTensor> operands = config.outputs_;
  operands.insert(operands.end(), config.inputs_.begin(), config.inputs_.end());
  const auto ntensors = operands.size();
  iterate(std::move(operands), static_cast<int>(nout), config.layout_,
          [&](detail::DtypeIterator& types, const Tensor* tensors) {
            for (std::size_t i = 0; i < ntensors; ++i) {
              i < nout ? config.types_.add_owned_output(tensors[i])
                       : config.types_.add_owned_input(tensors[i]);
            }
            if (config.layout_.static_shape.has_value()) {
              const std::vector<std::int64_t> ones(config.layout_.static_shape->size(), 1);
              config.types_.declare_static_shape(ones);
            }
            types.build(config.types_);
          });
}

#define OPGEN_BUILD_UNARY(name, plain)                                                             \
  OPGEN_ONCE void SymbolicIteratorBase::name(const SymbolicTensor& out, const SymbolicTensor& a) { \
    iterate({out, a}, 1, {}, [](detail::DtypeIterator& types, const Tensor* each) {                \
      types.plain(each[0], each[1]);                                                               \
    });                                                                                            \
  }
#define OPGEN_BUILD_BINARY(name, plain)                                                          \
  OPGEN_ONCE void SymbolicIteratorBase::name(const SymbolicTensor& out, const SymbolicTensor& a, \
                                             const SymbolicTensor& b) {                          \
    iterate({out, a, b}, 1, {}, [](detail::DtypeIterator& types, const Tensor* each) {           \
      types.plain(each[0], each[1], each[2]);                                                    \
    });                                                                                          \
  }
OPGEN_BUILD_UNARY(build_unary_op, build_unary_op)
OPGEN_BUILD_UNARY(build_borrowing_unary_op, build_unary_op)
OPGEN_BUILD_UNARY(build_output_borrowing_argument_owning_unary_op, build_unary_op)
OPGEN_BUILD_UNARY(build_unary_float_op, build_unary_float_op)
OPGEN_BUILD_UNARY(build_borrowing_unary_float_op, build_unary_float_op)
OPGEN_BUILD_UNARY(build_borrowing_unary_force_boolean_op, build_borrowing_unary_force_boolean_op)
OPGEN_BUILD_BINARY(build_binary_op, build_binary_op)
OPGEN_BUILD_BINARY(build_borrowing_binary_op, build_binary_op)
OPGEN_BUILD_BINARY(build_binary_float_op, build_binary_float_op)
OPGEN_BUILD_BINARY(build_borrowing_binary_float_op, build_binary_float_op)
OPGEN_BUILD_BINARY(build_comparison_op, build_comparison_op)
OPGEN_BUILD_BINARY(build_borrowing_comparison_op, build_comparison_op)
OPGEN_BUILD_BINARY(build_borrowing_except_last_argument_comparison_op, build_comparison_op)
#undef OPGEN_BUILD_UNARY
#undef OPGEN_BUILD_BINARY

OPGEN_ONCE void SymbolicIteratorBase::build_ternary_op(const SymbolicTensor& out,
                                                       const SymbolicTensor& a,
                                                       const SymbolicTensor& b,
                                                       const SymbolicTensor& c) {
  iterate({out, a, b, c}, 1, {}, [](detail::DtypeIterator& types, const Tensor* each) {
    types.build_ternary_op(each[0], each[1], each[2], each[3]);
  });
}

OPGEN_ONCE ScalarType SymbolicIteratorBase::dtype(std::int64_t i) const {
  return types_->dtype(i);
}
OPGEN_ONCE ScalarType SymbolicIteratorBase::input_dtype(std::int64_t i) const {
  return types_->input_dtype(i);
}
OPGEN_ONCE ScalarType SymbolicIteratorBase::common_dtype() const {
  return types_->common_dtype();
}
OPGEN_ONCE Device SymbolicIteratorBase::device(std::int64_t i) const {
  return types_->device(i);
}

}  // namespace opgen

#undef OPGEN_ONCE
