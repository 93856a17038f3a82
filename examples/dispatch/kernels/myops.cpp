// myops.cpp: the kernels, one for each operator and backend.
#include <opgen/kernel.h>

#include <myops/NativeFunctions.h>

OPGEN_META_FUNC(myadd)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPGEN_IMPL_FUNC(myadd_out_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::dispatch<opgen::FloatingTypes>(common_dtype(), "myadd", [&]<class scalar_t> {
    opgen::cpu_kernel_opmath<scalar_t>(*this, [](auto a, auto b) { return a + b; });
  });
}

OPGEN_KERNEL(mymatmul)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() == 2 && other.dim() == 2 && self.size(1) == other.size(0),
              "mymatmul: ", self.sizes(), " and ", other.sizes(), " cannot be multiplied");
  OPGEN_CHECK(self.scalar_type() == other.scalar_type(), "mymatmul: ", self.scalar_type(), " and ",
              other.scalar_type(), " differ");
  Tensor result = opgen::full({self.size(0), other.size(1)}, 0, self.options());
  if (result.is_meta()) return result;
  opgen::dispatch<opgen::FloatingTypes>(self.scalar_type(), "mymatmul", [&]<class scalar_t> {
    auto a = self.accessor<scalar_t, 2>(), b = other.accessor<scalar_t, 2>();
    auto c = result.accessor<scalar_t, 2>();
    for (std::int64_t i = 0; i < c.size(0); ++i) {
      for (std::int64_t j = 0; j < c.size(1); ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < a.size(1); ++k) {
          sum += static_cast<float>(a[i][k]) * static_cast<float>(b[k][j]);
        }
        c[i][j] = static_cast<scalar_t>(sum);
      }
    }
  });
  return result;
}

OPGEN_KERNEL(row)(const Tensor& self, std::int64_t index) {
  return opgen::alias_with_sizes_and_strides(
      self, self.sizes().slice(1), self.strides().slice(1),
      self.storage_offset() + opgen::maybe_wrap_dim(index, self.size(0)) * self.stride(0));
}

OPGEN_KERNEL(total)(const Tensor& self) {
  double sum = 0;
  Tensor all = opgen::to_dtype(opgen::contiguous(self), opgen::kDouble);
  for (std::int64_t i = 0; i < all.numel(); ++i) sum += all.const_data_ptr<double>()[i];
  return sum;
}
