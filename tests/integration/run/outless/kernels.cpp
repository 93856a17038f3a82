// kernels.cpp: meta functions that make views, and kernels that fill the tensors made by meta.
#include <opgen/kernel.h>

#include <algorithm>

#include <aten/Functions.h>
#include <aten/MetaFunctions.h>
#include <aten/NativeFunctions.h>
#include <aten/NativeMetaFunctions.h>
#include <opgen/cpu/loops.h>

using opgen::DimVector;
using opgen::TensorOptions;

OPGEN_META_FUNC(slanted)(const Tensor& self, int64_t offset) {
  OPGEN_CHECK(self.dim() == 2, "expected two dimensions but got ", self.dim());
  const int64_t length = std::min(self.size(0), self.size(1) - offset);
  OPGEN_CHECK(offset >= 0 && length >= 0, "offset ", offset, " is out of range");
  set_output_view(0, {length}, {self.stride(0) + self.stride(1)},
                  self.storage_offset() + offset * self.stride(1));
}

OPGEN_META_FUNC(flipped)(const Tensor& self) {
  DimVector sizes(self.sizes()), strides(self.strides());
  std::reverse(sizes.begin(), sizes.end());
  std::reverse(strides.begin(), strides.end());
  set_output_view(0, sizes, strides, self.storage_offset());
}

OPGEN_META_FUNC(heads)(const Tensor& x, const Tensor& y) {
  set_output_view(0, {1}, {1}, x.storage_offset());
  set_output_view(1, {1}, {1}, y.storage_offset());
}

OPGEN_PRECOMPUTE_META_FUNC(head_and_sum)(const Tensor& self, int64_t dim) {
  const int64_t wrapped = opgen::maybe_wrap_dim(dim, self.dim());
  DimVector sizes(self.sizes());
  sizes[static_cast<std::size_t>(wrapped)] = 1;
  set_output_view(0, sizes, self.strides(), self.storage_offset());
  set_output_contiguous(1, {}, self.options());
  return precompute_out<>().set_wrapped_dim(wrapped).set_length(self.size(wrapped));
}
OPGEN_IMPL_FUNC(head_and_sum_cpu)
(const Tensor& self, int64_t wrapped_dim, int64_t length, const Tensor& head, const Tensor& sum) {
  OPGEN_CHECK(head.is_alias_of(self) && length == self.size(wrapped_dim));
  opgen::fill_(sum, self.numel() * 100 + wrapped_dim * 10 + length);
}

OPGEN_META_FUNC(unit)
(int64_t n, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory) {
  OPGEN_CHECK(n >= 0, "n must not be negative, got ", n);
  set_output_contiguous(
      0, {n, n},
      TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory));
}
OPGEN_IMPL_FUNC(unit_cpu)
(int64_t n, std::optional<ScalarType>, std::optional<Layout>, std::optional<Device>,
 std::optional<bool>, const Tensor& out) {
  opgen::fill_(out, 0);
  opgen::fill_(
      opgen::alias_with_sizes_and_strides(out, {n}, {n + 1}, out.storage_offset()), 1);
}

OPGEN_META_FUNC(painted)(const Tensor& self, const Scalar&) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(painted)(const Tensor&, const Scalar& value, const Tensor& out) {
  opgen::fill_(out, value);
}

OPGEN_META_FUNC(halved)(const Tensor& self) {
  set_half(self);
}
OPGEN_IMPL_FUNC(halved_cpu)(const Tensor& self, const Tensor& out) {
  opgen::copy_(
      out, opgen::alias_with_sizes_and_strides(self, {half}, {2 * self.stride(0)}, 0));
}

OPGEN_META_FUNC(added)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(added_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  opgen::cpu_kernel(*this, [](float a, float b) { return a + b; });
}

OPGEN_META_FUNC(wrong)(const Tensor& self, int64_t how) {
  switch (how) {
    case 0:
      set_output_contiguous(0, self.sizes(), self.options());
      break;
    case 1:
      set_output_view(0, {self.numel() + 1}, {1}, self.storage_offset());
      break;
    case 2:
      set_output_view(0, {2}, {1}, -1);
      break;
    case 3:
      set_output_view(0, {2, 2}, {1}, 0);
      break;
    case 4:
      set_output_view(0, {-1}, {1}, 0);
      break;
    case 5:
      set_output_view(0, {2}, {-1}, 1);
      break;
    default:
      break;
  }
}

OPGEN_META_FUNC(wrong_new)(const Tensor& self) {
  set_output_view(0, self.sizes(), self.strides(), 0);
}
OPGEN_IMPL_FUNC(wrong_new_cpu)(const Tensor&, const Tensor&) {}
