// pointwise.h: defines an element-wise operator of ATen in one line: its meta, and the kernel that
// calls its out= operator.
#pragma once

#include "forward.h"

#define UNARY(op, build, ...)                                            \
  OPGEN_META_FUNC(op)(const Tensor& self) {                              \
    __VA_ARGS__;                                                         \
    build(maybe_get_output(), self);                                     \
  }                                                                      \
  OPGEN_IMPL_FUNC(op##_out_cpu)(const Tensor& self, const Tensor& out) { \
    at::op##_out(writable(out), self);                                   \
  }

#define NOT_COMPLEX(op) \
  OPGEN_CHECK_NOT_IMPLEMENTED(!self.is_complex(), #op " is not supported for complex inputs")

#define NOTHING static_cast<void>(0)

#define BINARY_FUNC(op, meta, kernel, build, ...)                                       \
  meta(const Tensor& self, const Tensor& other) {                                       \
    __VA_ARGS__;                                                                        \
    build(maybe_get_output(), self, other);                                             \
  }                                                                                     \
  OPGEN_IMPL_FUNC(kernel)(const Tensor& self, const Tensor& other, const Tensor& out) { \
    at::op##_out(writable(out), self, other);                                           \
  }

#define BINARY(op, build, ...) \
  BINARY_FUNC(op, OPGEN_META_FUNC(op), op##_out_cpu, build, __VA_ARGS__)

#define BINARY_TENSOR(op, build) \
  BINARY_FUNC(op, OPGEN_META_FUNC2(op, Tensor), op##_out_cpu, build, NOTHING)

#define BINARY_TENSOR_OUT(op, build) \
  BINARY_FUNC(op, OPGEN_META_FUNC2(op, Tensor), op##_Tensor_out_cpu, build, NOTHING)

#define NONE_COMPLEX(op)                                 \
  OPGEN_CHECK(!self.is_complex() && !other.is_complex(), \
              #op " not implemented for complex tensors.")

namespace {

inline void check_alpha(ScalarType dtype, const Scalar& alpha) {
  OPGEN_CHECK(!alpha.isBoolean() || dtype == kBool,
              "Boolean alpha only supported for Boolean results.");
  OPGEN_CHECK(isFloatingType(dtype) || isComplexType(dtype) || alpha.isIntegral(true),
              "For integral input tensors, argument alpha must not be a floating point number.");
  OPGEN_CHECK(isComplexType(dtype) || !alpha.isComplex(),
              "For non-complex input tensors, argument alpha must not be a complex number.");
}

}  // namespace
