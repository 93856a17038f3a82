// elementwise.cpp: sums, GELU, and the step of gradient descent.
#include <opgen/kernel.h>

#include <cmath>

#include <lookup/ops/add_meta.h>
#include <lookup/ops/add_native.h>
#include <lookup/ops/gelu_backward_meta.h>
#include <lookup/ops/gelu_backward_native.h>
#include <lookup/ops/gelu_meta.h>
#include <lookup/ops/gelu_native.h>
#include <lookup/ops/sgd__native.h>

using namespace opgen::types;

namespace {

// P(X < x) for a normally distributed X.
template <class T>
T cumulative(T x) {
  return std::erfc(-x * T(M_SQRT1_2)) / 2;
}

}  // namespace

OPGEN_META_FUNC(add)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(add_out_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<float, double>(common_dtype(), "add", [&]<class scalar_t> {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return a + b; });
  });
}

OPGEN_META_FUNC(gelu)(const Tensor& self) {
  build_borrowing_unary_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(gelu_out_cpu)(const Tensor&, const Tensor&) {
  opgen::dispatch<float, double>(common_dtype(), "gelu", [&]<class scalar_t> {
    opgen::cpu_kernel(*this, [](scalar_t x) -> scalar_t { return x * cumulative(x); });
  });
}

OPGEN_META_FUNC(gelu_backward)(const Tensor& grad_output, const Tensor& self) {
  build_borrowing_binary_op(maybe_get_output(), grad_output, self);
}
OPGEN_IMPL_FUNC(gelu_backward_out_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<float, double>(common_dtype(), "gelu_backward", [&]<class scalar_t> {
    const auto density = static_cast<scalar_t>(M_2_SQRTPI * M_SQRT1_2 / 2);  // 1 / sqrt(2 pi)
    opgen::cpu_kernel(*this, [density](scalar_t g, scalar_t x) -> scalar_t {
      return g * (cumulative(x) + x * density * std::exp(-x * x / 2));
    });
  });
}

// Meta, too: there is nothing to compute, and the tensors have no elements to write.
OPGEN_KERNEL(sgd_)
(Tensor& self, Tensor& velocity, const Tensor& grad, double lr, double momentum) {
  OPGEN_CHECK(self.sym_sizes() == velocity.sym_sizes() && self.sym_sizes() == grad.sym_sizes(),
              "sgd_: self, velocity and grad differ in shape");
  if (self.is_meta()) return;
  OPGEN_CHECK(self.is_contiguous() && velocity.is_contiguous(), "sgd_: a tensor is not contiguous");
  const Tensor dense = opgen::contiguous(grad);
  opgen::dispatch<float, double>(self.scalar_type(), "sgd_", [&]<class scalar_t> {
    scalar_t* x = self.mutable_data_ptr<scalar_t>();
    scalar_t* v = velocity.mutable_data_ptr<scalar_t>();
    const scalar_t* g = dense.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i < self.numel(); ++i) {
      v[i] = static_cast<scalar_t>(momentum) * v[i] + g[i];
      x[i] -= static_cast<scalar_t>(lr) * v[i];
    }
  });
}
