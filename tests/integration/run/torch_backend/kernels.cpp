// kernels.cpp: a kernel for each way to write one: structured with the installed meta, with its own
// meta, using an installed kernel's stub, and out kernels that serve other variants.
#include <ATen/native/BinaryOps.h>
#include <opgen/kernel.h>

#include <algorithm>
#include <vector>

#include <privateuse1/PrivateUse1NativeFunctions.h>
#include <privateuse1/ops/add_native.h>
#include <privateuse1/ops/cumsum_meta.h>
#include <privateuse1/ops/cumsum_native.h>
#include <privateuse1/ops/index_add_native.h>
#include <privateuse1/ops/mul_native.h>

namespace {

using namespace opgen::types;

// The elements of a float tensor of any strides, in row-major order.
template <class F>
void for_each(const Tensor& tensor, F f) {
  float* data = tensor.mutable_data_ptr<float>();
  std::vector<int64_t> index(static_cast<size_t>(tensor.dim()), 0);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * tensor.strides()[d];
    f(i, data[offset]);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.sizes()[d]) break;
      index[d] = 0;
    }
  }
}

// out = f(self), element by element; out may be self.
template <class F>
Tensor& unary(const Tensor& self, Tensor& out, F f) {
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "the result is ", self.scalar_type());
  std::vector<float> values(static_cast<size_t>(self.numel()));
  for_each(self, [&](int64_t i, float x) { values[static_cast<size_t>(i)] = f(x); });
  opgen::resize_output(out, self.sizes());
  for_each(out, [&](int64_t i, float& x) { x = values[static_cast<size_t>(i)]; });
  return out;
}

template <class F>
void binary(TensorIteratorBase& iterator, F f) {
  for (int i = 0; i < iterator.ntensors(); ++i) {
    TORCH_CHECK_NOT_IMPLEMENTED(iterator.dtype(i) == kFloat && !iterator.is_cpu_scalar(i),
                                "only float tensors of the device");
  }
  iterator.for_each([f](char** data, const int64_t* strides, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<float*>(data[0] + i * strides[0]) =
          f(*reinterpret_cast<float*>(data[1] + i * strides[1]),
            *reinterpret_cast<float*>(data[2] + i * strides[2]));
    }
  });
}

void multiply_floats(TensorIteratorBase& iterator) {
  binary(iterator, [](float a, float b) { return a * b; });
}

}  // namespace

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(mul_stub, &multiply_floats)
}

OPGEN_IMPL_FUNC(add_out)
(const Tensor&, const Tensor&, const Scalar& alpha, const Tensor&) {
  binary(*this, [scale = alpha.to<float>()](float a, float b) { return a + scale * b; });
}

// meta has wrapped `dim`, so it is not negative.
OPGEN_IMPL_FUNC(index_add_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha,
 const Tensor& out) {
  TORCH_CHECK(dim == 0 && self.dim() == 1, "one dimension");
  if (!out.is_same(self)) out.copy_(self);
  const auto* at = index.const_data_ptr<int64_t>();
  for_each(source, [&](int64_t i, float x) {
    out.mutable_data_ptr<float>()[at[i] * out.strides()[0]] += alpha.to<float>() * x;
  });
}

OPGEN_META_FUNC(cumsum)(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  OPGEN_CHECK(self.dim() == 1, "pu1 sums one dimension");
  opgen::maybe_wrap_dim(dim, 1);
  set_output_raw_strided(0, self.sizes(), {},
                         self.options().dtype(dtype.value_or(self.scalar_type())));
}
OPGEN_IMPL_FUNC(cumsum_out)
(const Tensor& self, int64_t, std::optional<ScalarType>, const Tensor& out) {
  float sum = 0;
  Tensor written = out;
  unary(self, written, [&](float x) { return sum += x; });
}

namespace pu1 {

Tensor& PrivateUse1NativeFunctions::hardswish_out(const Tensor& self, Tensor& out) {
  return unary(self, out, [](float x) { return x * std::min(std::max(x + 3, 0.0F), 6.0F) / 6; });
}
Tensor& PrivateUse1NativeFunctions::neg_out(const Tensor& self, Tensor& out) {
  return unary(self, out, [](float x) { return -x; });
}

}  // namespace pu1
