// kernels.cpp: kernels that read what their base class stored, and the layout of their outputs.
#include <opgen/kernel.h>

#include <cstdio>

#include <aten/NativeFunctions.h>
#include <aten/NativeMetaFunctions.h>

using opgen::DimVector;

OPGEN_META_FUNC(scaled)(const Tensor& self, const Scalar& by) {
  std::printf("meta: ");
  scale(self, by);
}
OPGEN_IMPL_FUNC(scaled_out_cpu)(const Tensor& self, const Scalar&, const Tensor& out) {
  std::printf(given ? "into a given tensor: " : "into a new tensor: ");
  for (std::int64_t i = 0; i < out.size(0); ++i) {
    for (std::int64_t j = 0; j < out.size(1); ++j) {
      const float x = self.const_data_ptr<float>()[i * self.stride(0) + j * self.stride(1)];
      out.mutable_data_ptr<float>()[i * out.stride(0) + j * out.stride(1)] =
          x * static_cast<float>(factor);
    }
  }
}

OPGEN_PRECOMPUTE_META_FUNC(ends)(const Tensor& self, int64_t dim) {
  const int64_t wrapped = opgen::maybe_wrap_dim(dim, self.dim());
  OPGEN_CHECK(self.size(wrapped) > 0, "ends of nothing");
  DimVector sizes(self.sizes());
  sizes.erase(sizes.begin() + wrapped);
  for (int64_t i : {0, 1}) {
    // A result given by the caller determines its dtype.
    const opgen::TensorBase& given = maybe_get_output(i);
    const auto options =
        self.options().dtype(given.defined() ? given.scalar_type() : self.scalar_type());
    if (i == 0) {
      set_output_raw_strided(0, sizes, {}, options);
    } else {
      set_output_contiguous(1, sizes, options);
    }
  }
  return precompute_out<>().set_wrapped_dim(wrapped);
}
OPGEN_IMPL_FUNC(ends_out_cpu)
(const Tensor& self, int64_t wrapped_dim, const Tensor& first, const Tensor& last) {
  OPGEN_CHECK(last.is_contiguous(), "last must be contiguous");
  DimVector sizes(self.sizes()), strides(self.strides());
  sizes.erase(sizes.begin() + wrapped_dim);
  strides.erase(strides.begin() + wrapped_dim);
  const auto slice = [&](int64_t at) {
    return opgen::alias_with_sizes_and_strides(
        self, sizes, strides, self.storage_offset() + at * self.stride(wrapped_dim));
  };
  opgen::copy_(first, slice(0));
  opgen::copy_(last, slice(self.size(wrapped_dim) - 1));
}
