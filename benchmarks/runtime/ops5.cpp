// ops5.cpp: a hand-written library of five operators, each with a CPU and a Meta kernel, to measure
// compile time: schemas, shape checks, simple loops.
#include <aten/TensorBody.h>
#include <opgen/library.h>
#include <opgen/tensor_functions.h>

namespace {

using opgen::Tensor;

void check_same(const Tensor& a, const Tensor& b) {
  OPGEN_CHECK(a.sizes() == b.sizes(), "size mismatch: ", a.sizes(), " vs ", b.sizes());
  OPGEN_CHECK(a.scalar_type() == opgen::kFloat && b.scalar_type() == opgen::kFloat,
              "expected float");
}

void noop(const Tensor&, const Tensor&) {}

Tensor add_meta(const Tensor& a, const Tensor& b) {
  check_same(a, b);
  return opgen::empty_like(a);
}
Tensor add_cpu(const Tensor& a, const Tensor& b) {
  check_same(a, b);
  Tensor ac = a.contiguous(), bc = b.contiguous();
  Tensor o = opgen::empty(a.sizes(), a.options());
  const float *x = ac.const_data_ptr<float>(), *y = bc.const_data_ptr<float>();
  float* z = o.mutable_data_ptr<float>();
  for (std::int64_t i = 0, n = o.numel(); i < n; ++i) z[i] = x[i] + y[i];
  return o;
}

Tensor& mul_out_meta(const Tensor& a, const Tensor& b, Tensor& out) {
  check_same(a, b);
  check_same(a, out);
  return out;
}
Tensor& mul_out_cpu(const Tensor& a, const Tensor& b, Tensor& out) {
  check_same(a, b);
  check_same(a, out);
  OPGEN_CHECK(out.is_contiguous(), "out must be contiguous");
  Tensor ac = a.contiguous(), bc = b.contiguous();
  const float *x = ac.const_data_ptr<float>(), *y = bc.const_data_ptr<float>();
  float* z = out.mutable_data_ptr<float>();
  for (std::int64_t i = 0, n = out.numel(); i < n; ++i) z[i] = x[i] * y[i];
  return out;
}

Tensor scale_meta(const Tensor& a, double) {
  return opgen::empty_like(a);
}
Tensor scale_cpu(const Tensor& a, double s) {
  Tensor ac = a.contiguous(), o = opgen::empty(a.sizes(), a.options());
  const float* x = ac.const_data_ptr<float>();
  float* z = o.mutable_data_ptr<float>();
  for (std::int64_t i = 0, n = o.numel(); i < n; ++i) z[i] = x[i] * static_cast<float>(s);
  return o;
}

Tensor sum_dim_meta(const Tensor& a, std::int64_t dim, bool keepdim) {
  dim = opgen::maybe_wrap_dim(dim, a.dim());
  opgen::DimVector sizes(a.sizes());
  if (keepdim) {
    sizes[std::size_t(dim)] = 1;
  } else {
    sizes.erase(sizes.begin() + dim);
  }
  return opgen::empty(sizes, a.options());
}
Tensor sum_dim_cpu(const Tensor& a, std::int64_t dim, bool keepdim) {
  Tensor o = sum_dim_meta(a, dim, keepdim), ac = a.contiguous();
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

}  // namespace

OPGEN_LIBRARY(ops5, m) {
  m.def("noop(Tensor a, Tensor b) -> ()");
  m.def("add(Tensor a, Tensor b) -> Tensor");
  m.def("mul.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("scale(Tensor a, float s) -> Tensor");
  m.def("sum_dim(Tensor a, int dim, bool keepdim=False) -> Tensor");
}
OPGEN_LIBRARY_IMPL(ops5, CPU, m) {
  m.impl("noop", noop);
  m.impl("add", add_cpu);
  m.impl("mul.out", mul_out_cpu);
  m.impl("scale", scale_cpu);
  m.impl("sum_dim", sum_dim_cpu);
}
OPGEN_LIBRARY_IMPL(ops5, Meta, m) {
  m.impl("noop", noop);
  m.impl("add", add_meta);
  m.impl("mul.out", mul_out_meta);
  m.impl("scale", scale_meta);
  m.impl("sum_dim", sum_dim_meta);
}
