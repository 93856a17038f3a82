// ops5_kernels.cpp: the bodies of ops5.cpp as kernels of the operators of ops5.yaml.
#include <opgen/kernel.h>

#include <ops5/ops/add_native.h>
#include <ops5/ops/mul_native.h>
#include <ops5/ops/noop_native.h>
#include <ops5/ops/scale_native.h>
#include <ops5/ops/sum_dim_native.h>

using opgen::Tensor;

namespace {

void check_same(const Tensor& a, const Tensor& b) {
  OPGEN_CHECK(a.sizes() == b.sizes(), "size mismatch: ", a.sizes(), " vs ", b.sizes());
  OPGEN_CHECK(a.scalar_type() == opgen::kFloat && b.scalar_type() == opgen::kFloat,
              "expected float");
}

Tensor empty_sum(const Tensor& a, std::int64_t dim, bool keepdim) {
  dim = opgen::maybe_wrap_dim(dim, a.dim());
  opgen::DimVector sizes(a.sizes());
  if (keepdim) {
    sizes[std::size_t(dim)] = 1;
  } else {
    sizes.erase(sizes.begin() + dim);
  }
  return opgen::empty(sizes, a.options());
}

}  // namespace

OPGEN_KERNEL(noop)(const Tensor&, const Tensor&) {}

OPGEN_KERNEL(add_meta)(const Tensor& a, const Tensor& b) {
  check_same(a, b);
  return opgen::empty_like(a);
}
OPGEN_KERNEL(add_cpu)(const Tensor& a, const Tensor& b) {
  check_same(a, b);
  Tensor ac = a.contiguous(), bc = b.contiguous();
  Tensor o = opgen::empty(a.sizes(), a.options());
  const float *x = ac.const_data_ptr<float>(), *y = bc.const_data_ptr<float>();
  float* z = o.mutable_data_ptr<float>();
  for (std::int64_t i = 0, n = o.numel(); i < n; ++i) z[i] = x[i] + y[i];
  return o;
}

OPGEN_META_FUNC(mul)(const Tensor& a, const Tensor& b) {
  check_same(a, b);
  set_output_contiguous(0, a.sizes(), a.options());
}
OPGEN_IMPL_FUNC(mul_out_cpu)(const Tensor& a, const Tensor& b, const Tensor& out) {
  Tensor ac = a.contiguous(), bc = b.contiguous();
  const float *x = ac.const_data_ptr<float>(), *y = bc.const_data_ptr<float>();
  float* z = out.mutable_data_ptr<float>();
  for (std::int64_t i = 0, n = out.numel(); i < n; ++i) z[i] = x[i] * y[i];
}

OPGEN_KERNEL(scale_meta)(const Tensor& a, double) {
  return opgen::empty_like(a);
}
OPGEN_KERNEL(scale_cpu)(const Tensor& a, double s) {
  Tensor ac = a.contiguous(), o = opgen::empty(a.sizes(), a.options());
  const float* x = ac.const_data_ptr<float>();
  float* z = o.mutable_data_ptr<float>();
  for (std::int64_t i = 0, n = o.numel(); i < n; ++i) z[i] = x[i] * static_cast<float>(s);
  return o;
}

OPGEN_KERNEL(sum_dim_meta)(const Tensor& a, std::int64_t dim, bool keepdim) {
  return empty_sum(a, dim, keepdim);
}
OPGEN_KERNEL(sum_dim_cpu)(const Tensor& a, std::int64_t dim, bool keepdim) {
  Tensor o = empty_sum(a, dim, keepdim), ac = a.contiguous();
  opgen::zero_(o);
  dim = opgen::maybe_wrap_dim(dim, a.dim());
  std::int64_t outer = 1, inner = 1, mid = a.size(dim);
  for (std::int64_t d = 0; d < dim; ++d) outer *= a.size(d);
  for (std::int64_t d = dim + 1; d < a.dim(); ++d) inner *= a.size(d);
  const float* x = ac.const_data_ptr<float>();
  float* z = o.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < outer; ++i) {
    for (std::int64_t j = 0; j < mid; ++j) {
      for (std::int64_t k = 0; k < inner; ++k) z[i * inner + k] += x[(i * mid + j) * inner + k];
    }
  }
  return o;
}
