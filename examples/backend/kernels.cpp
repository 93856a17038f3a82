// kernels.cpp: the operators' meta functions, which all devices share, and their kernels for the
// CPU.
#include <opgen/kernel.h>

#include <demo/ops/add_meta.h>
#include <demo/ops/add_native.h>
#include <demo/ops/mul_meta.h>
#include <demo/ops/mul_native.h>
#include <demo/ops/sub_meta.h>
#include <demo/ops/sub_native.h>

#define BINARY(name, operation)                                                               \
  OPGEN_META_FUNC(name)(const Tensor& self, const Tensor& other) {                            \
    build_borrowing_binary_op(maybe_get_output(), self, other);                               \
  }                                                                                           \
  OPGEN_IMPL_FUNC(name##_out_cpu)(const Tensor&, const Tensor&, const Tensor&) {              \
    opgen::dispatch<opgen::NumberTypes>(common_dtype(), #name, [&]<class scalar_t> {          \
      opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return operation; }); \
    });                                                                                       \
  }
BINARY(add, a + b)
BINARY(mul, a* b)
BINARY(sub, a - b)
