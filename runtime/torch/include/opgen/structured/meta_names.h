// meta_names.h: the names that a meta function uses, for the targets torch and torch-stable:
// members of its base class.
#pragma once

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
