// kernels.cpp: a structured kernel on the iterator, one without, and two that are not structured.
#include <opgen/kernel.h>

#include <aten/Functions.h>
#include <aten/NativeFunctions.h>

OPGEN_META_FUNC(plus)(const Tensor& self, const Tensor& other, const Scalar&) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPGEN_IMPL_FUNC(plus_out_cpu)(const Tensor&, const Tensor&, const Scalar& alpha, const Tensor&) {
  opgen::cpu_kernel(*this, [a = alpha.to<float>()](float x, float y) -> float { return x + a * y; });
}

OPGEN_META_FUNC(doubled)(const Tensor& self) {
  set_output_contiguous(0, self.sizes(), self.options());
}

OPGEN_IMPL_FUNC(doubled_out_cpu)(const Tensor& self, const Tensor& out) {
  OPGEN_CHECK(out.is_contiguous(), "impl was given other strides than meta asked for");
  opgen::copy_(out, self);
  float* data = out.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < out.numel(); ++i) data[i] *= 2;
}

OPGEN_KERNEL(total_cpu)(const Tensor& self) {
  Tensor all = opgen::contiguous(self), result = opgen::full({}, 0, self.options());
  for (std::int64_t i = 0; i < all.numel(); ++i) {
    *result.mutable_data_ptr<float>() += all.const_data_ptr<float>()[i];
  }
  return result;
}

OPGEN_KERNEL(sum_of_squares)(const Tensor& self) {
  return at::total(at::doubled(self)).plus(at::total(self), -1);
}
