// stable_kernels.cpp: the kernels for stable.yaml, the same for both targets.
#include <opgen/kernel.h>

#include <stable/ops/add32_native.h>
#include <stable/ops/add_meta.h>
#include <stable/ops/add_native.h>
#include <stable/ops/ends_meta.h>
#include <stable/ops/ends_native.h>
#include <stable/ops/head_meta.h>
#include <stable/ops/head_native.h>
#include <stable/ops/softclip_meta.h>
#include <stable/ops/softclip_native.h>

#include <cmath>

OPGEN_KERNEL(add32_cpu)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.sizes() == other.sizes(), "add32: expected tensors of equal sizes");
  OPGEN_CHECK(self.is_contiguous() && other.is_contiguous(), "add32: expected contiguous tensors");
  Tensor out = opgen::empty_like(self);
  const float* a = self.const_data_ptr<float>();
  const float* b = other.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); ++i) to[i] = a[i] + b[i];
  return out;
}
OPGEN_KERNEL(add32_meta)(const Tensor& self, const Tensor&) {
  return opgen::empty_like(self);
}

OPGEN_META_FUNC(add)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(add_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_ALL_BUT_BOOL(common_dtype(), "add", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return a + b; });
  });
}

OPGEN_META_FUNC(softclip)(const Tensor& self, double) {
  build_borrowing_unary_float_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(softclip_cpu)(const Tensor&, double limit, const Tensor&) {
  OPGEN_DISPATCH_FLOATING_TYPES(common_dtype(), "softclip", [&] {
    const auto most = static_cast<scalar_t>(limit);
    opgen::cpu_kernel(*this, [=](scalar_t x) -> scalar_t { return most * std::tanh(x / most); });
  });
}

OPGEN_META_FUNC(head)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "head: expected a vector, got ", self.dim(), " dimensions");
  if (self.size(0) > 8) {
    set_output_contiguous(0, {8}, self.options());
  } else {
    set_output_contiguous(0, self.sizes(), self.options());
  }
}
OPGEN_IMPL_FUNC(head_cpu)(const Tensor& self, const Tensor& out) {
  OPGEN_DISPATCH_ALL(self.scalar_type(), "head", [&] {
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < out.numel(); ++i) to[i * out.stride(0)] = from[i * self.stride(0)];
  });
}

OPGEN_META_FUNC(ends)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "ends: expected a vector, got ", self.dim(), " dimensions");
  set_output_contiguous(0, {}, self.options());
  set_output_contiguous(1, {}, self.options());
}
OPGEN_IMPL_FUNC(ends_cpu)(const Tensor& self, const Tensor& first, const Tensor& last) {
  OPGEN_CHECK_INDEX(self.size(0) > 0, "ends: the vector is empty");
  OPGEN_DISPATCH_ALL(self.scalar_type(), "ends", [&] {
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    *first.mutable_data_ptr<scalar_t>() = *from;
    *last.mutable_data_ptr<scalar_t>() = from[(self.size(0) - 1) * self.stride(0)];
  });
}
