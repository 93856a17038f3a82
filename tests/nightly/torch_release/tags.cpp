// tags.cpp: the kernels of all operators in the library of ../torch_tags.py, which differ only in
// their tags.
#include <ATen/ATen.h>
#include <opgen/kernel.h>

#include <tagged/ops/none_ends_native.h>
#include <tagged/ops/none_plus_native.h>
#include <tagged/ops/none_scaled_native.h>

OPGEN_KERNEL(plus)(const Tensor& self, const Tensor& other) {
  return self + other;
}
OPGEN_KERNEL(plus_meta)(const Tensor& self, const Tensor&) {
  return opgen::empty_symint(self.sym_sizes(), self.options());
}
OPGEN_KERNEL(plus_)(Tensor& self, const Tensor& other) {
  return self.add_(other);
}
OPGEN_KERNEL(plus_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  opgen::resize_output(out, self.sizes());
  return out.copy_(self + other);
}

OPGEN_KERNEL(scaled)(const Tensor& self, double by, int64_t times) {
  return (self * by * times).contiguous();
}
OPGEN_KERNEL(scaled_meta)(const Tensor& self, double, int64_t) {
  return opgen::empty_symint(self.sym_sizes(), self.options());
}
OPGEN_KERNEL(scaled_out)(const Tensor& self, double by, int64_t times, Tensor& out) {
  opgen::resize_output(out, self.sizes());
  return out.copy_(self * by * times);
}

OPGEN_KERNEL(ends)(const Tensor& self) {
  return {self.select(0, 0).clone(), self.select(0, -1).clone()};
}
OPGEN_KERNEL(ends_meta)(const Tensor& self) {
  return {opgen::empty_symint({}, self.options()), opgen::empty_symint({}, self.options())};
}
OPGEN_KERNEL(ends_out)(const Tensor& self, Tensor& first, Tensor& last) {
  opgen::resize_output(first, {});
  opgen::resize_output(last, {});
  first.copy_(self.select(0, 0));
  last.copy_(self.select(0, -1));
  return {first, last};
}
