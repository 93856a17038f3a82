// sizes.h: the two kinds of sizes for which the body of a meta function is compiled. The names that
// the body uses stand for different types in each.
#pragma once

#include <ATen/core/ATen_fwd.h>

#include "opgen/core/release.h"
#include "opgen/symbolic/symbolic_meta.h"

namespace opgen {

// Known sizes, with ATen's own classes.
struct ConcreteSizes {
  using Tensor = at::Tensor;
  using Int = std::int64_t;
  using IntArrayRef = at::IntArrayRef;
  using DimVector = at::DimVector;
  using ITensorListRef = at::ITensorListRef;
  using IOptTensorListRef = at::IOptTensorListRef;
  using OptionalTensorRef = at::OptionalTensorRef;
  using TensorIteratorConfig = at::TensorIteratorConfig;
  using MetaBase = at::impl::MetaBase;
  using TensorIteratorBase = detail::IteratorBase;
};

// Sizes that are symbols while torch.compile and torch.export trace. If a compiler error names
// this struct: declare a size as `auto` or `Int`, and a list of sizes as `IntArrayRef` or
// `DimVector`.
struct SymbolicSizes {
  using Tensor = SymbolicTensor;
  using Int = SymInt;
  using IntArrayRef = SymIntArrayRef;
  using DimVector = at::SymDimVector;
  using ITensorListRef = SymbolicTensorList;
  using IOptTensorListRef = OptionalSymbolicTensorList;
  using OptionalTensorRef = OptionalSymbolicTensor;
  using TensorIteratorConfig = SymbolicIteratorConfig;
  using MetaBase = SymbolicMetaBase;
  using TensorIteratorBase = SymbolicIteratorBase;
};

}  // namespace opgen

// For class templates over `Sizes`, because names of a dependent base class are not found without a
// using-declaration.
#define OPGEN_NAMES_OF_MetaBase(Sizes)         \
  using opgen_Base = typename Sizes::MetaBase; \
  OPGEN_META_NAMES(Sizes)
#define OPGEN_NAMES_OF_TensorIteratorBase(Sizes)                        \
  using opgen_Base = typename Sizes::TensorIteratorBase;                \
  using TensorIteratorConfig = typename Sizes::TensorIteratorConfig;    \
  OPGEN_META_NAMES(Sizes)                                               \
  using opgen_Base::build;                                              \
  using opgen_Base::build_unary_op;                                     \
  using opgen_Base::build_borrowing_unary_op;                           \
  using opgen_Base::build_output_borrowing_argument_owning_unary_op;    \
  using opgen_Base::build_unary_float_op;                               \
  using opgen_Base::build_borrowing_unary_float_op;                     \
  using opgen_Base::build_borrowing_unary_force_boolean_op;             \
  using opgen_Base::build_binary_op;                                    \
  using opgen_Base::build_borrowing_binary_op;                          \
  using opgen_Base::build_binary_float_op;                              \
  using opgen_Base::build_borrowing_binary_float_op;                    \
  using opgen_Base::build_comparison_op;                                \
  using opgen_Base::build_borrowing_comparison_op;                      \
  using opgen_Base::build_borrowing_except_last_argument_comparison_op; \
  using opgen_Base::build_ternary_op;                                   \
  using opgen_Base::dtype;                                              \
  using opgen_Base::input_dtype;                                        \
  using opgen_Base::common_dtype;                                       \
  using opgen_Base::device;                                             \
  using opgen_Base::device_type;                                        \
  using opgen_Base::ntensors;                                           \
  using opgen_Base::noutputs;                                           \
  using opgen_Base::ninputs;                                            \
  using opgen_Base::tensor;                                             \
  using opgen_Base::output;                                             \
  using opgen_Base::input;
#define OPGEN_META_NAMES(Sizes)                                \
  using Tensor = typename Sizes::Tensor;                       \
  using Int = typename Sizes::Int;                             \
  using IntArrayRef = typename Sizes::IntArrayRef;             \
  using DimVector = typename Sizes::DimVector;                 \
  using ITensorListRef = typename Sizes::ITensorListRef;       \
  using IOptTensorListRef = typename Sizes::IOptTensorListRef; \
  using OptionalTensorRef = typename Sizes::OptionalTensorRef; \
  using opgen_Base::maybe_get_output;                          \
  using opgen_Base::set_output_strided;                        \
  using opgen_Base::set_output_raw_strided;                    \
  using opgen_Base::set_output_contiguous;
