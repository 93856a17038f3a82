// unstructured.cpp: kernels of operators that are not structured: operators that write an argument,
// views, and factories. Each calls ATen's.
#include <opgen/kernel.h>

#include <slice/ops/diagonal_native.h>
#include <slice/ops/expand_native.h>
#include <slice/ops/full_native.h>
#include <slice/ops/ones_like_native.h>
#include <slice/ops/roll_native.h>
#include <slice/ops/select_native.h>
#include <slice/ops/split_with_sizes_native.h>
#include <slice/ops/unbind_native.h>
#include <slice/ops/unsqueeze_native.h>
#include <slice/ops/zero_native.h>

#include <ATen/ops/diagonal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/select.h>
#include <ATen/ops/split_with_sizes.h>
#include <ATen/ops/unbind.h>

#include "forward.h"

OPGEN_KERNEL(roll)(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  return at::roll(self, shifts, dims);
}
OPGEN_KERNEL(zero_)(Tensor& self) {
  return self.zero_();
}
OPGEN_KERNEL(zero_meta_)(Tensor& self) {
  return self;
}

// ---- views ----

OPGEN_KERNEL(diagonal)(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return at::diagonal(self, offset, dim1, dim2);
}
OPGEN_KERNEL(select_symint)(const Tensor& self, int64_t dim, SymInt index) {
  return at::select_symint(self, dim, std::move(index));
}
OPGEN_KERNEL(unbind)(const Tensor& self, int64_t dim) {
  return at::unbind(self, dim);
}
OPGEN_KERNEL(unsqueeze)(const Tensor& self, int64_t dim) {
  return self.unsqueeze(dim);
}
OPGEN_KERNEL(unsqueeze_)(Tensor& self, int64_t dim) {
  return self.unsqueeze_(dim);
}
OPGEN_KERNEL(split_with_sizes)(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return at::split_with_sizes(self, split_sizes, dim);
}
OPGEN_KERNEL(expand)(const Tensor& self, IntArrayRef size, bool implicit) {
  return self.expand(size, implicit);
}

// ---- factories ----

OPGEN_KERNEL(full)
(IntArrayRef size, const Scalar& fill_value, std::optional<ScalarType> dtype,
 std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return at::full(size, fill_value, dtype, layout, device, pin_memory);
}
OPGEN_KERNEL(full_out)(IntArrayRef size, const Scalar& fill_value, Tensor& out) {
  return at::full_out(out, size, fill_value);
}
OPGEN_KERNEL(ones_like)
(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory,
 std::optional<MemoryFormat> memory_format) {
  return at::ones_like(self, dtype, layout, device, pin_memory, memory_format);
}
