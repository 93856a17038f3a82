// kernels.cpp: compiled for opgen's own runtime and for libtorch; no line depends on the target.
#include <opgen/kernel.h>

#include <both/CPUFunctions.h>
#include <both/Functions.h>
#include <both/RedispatchFunctions.h>
#include <both/ops/ends_meta.h>
#include <both/ops/ends_native.h>
#include <both/ops/negate_native.h>
#include <both/ops/pick_meta.h>
#include <both/ops/pick_native.h>
#include <both/ops/plus_meta.h>
#include <both/ops/plus_native.h>
#include <both/ops/shifted_native.h>
#include <both/ops/tiled_meta.h>
#include <both/ops/tiled_native.h>
#include <both/ops/tripled_native.h>
#include <both/ops/walk_meta.h>
#include <both/ops/walk_native.h>

OPGEN_META_FUNC(plus)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

OPGEN_IMPL_FUNC(plus_out_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_ALL_BUT_BOOL(common_dtype(), "plus", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t { return a + b; });
  });
}

OPGEN_META_FUNC(tiled)(const Tensor& self, Int rows) {
  OPGEN_CHECK(self.dim() == 1, "tiled: a vector is expected, got ", self.dim(), " dimensions");
  set_output_contiguous(0, {rows, self.size(0)}, self.options());
}

OPGEN_IMPL_FUNC(tiled_out_cpu)(const Tensor& self, int64_t rows, const Tensor& out) {
  OPGEN_DISPATCH_ALL(self.scalar_type(), "tiled", [&] {
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const int64_t columns = self.size(0), stride = self.stride(0);
    for (int64_t i = 0; i < rows * columns; ++i) to[i] = from[i % columns * stride];
  });
}

OPGEN_META_FUNC(ends)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "ends: a vector is expected, got ", self.dim(), " dimensions");
  set_output_contiguous(0, {}, self.options());
  set_output_contiguous(1, {}, self.options());
}

OPGEN_IMPL_FUNC(ends_out_cpu)(const Tensor& self, const Tensor& first, const Tensor& last) {
  OPGEN_CHECK_INDEX(self.size(0) > 0, "ends: the vector is empty");
  OPGEN_DISPATCH_ALL(self.scalar_type(), "ends", [&] {
    const scalar_t* from = self.const_data_ptr<scalar_t>();
    *first.mutable_data_ptr<scalar_t>() = *from;
    *last.mutable_data_ptr<scalar_t>() = from[(self.size(0) - 1) * self.stride(0)];
  });
}

OPGEN_KERNEL(shifted_cpu)(const Tensor& self, const std::optional<Tensor>& by, int64_t times) {
  Tensor result(opgen::clone(self));
  OPGEN_DISPATCH_FLOATING_TYPES(self.scalar_type(), "shifted", [&] {
    const double amount = by.has_value() ? by->const_data_ptr<scalar_t>()[0] : 1.0;
    scalar_t* to = result.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < result.numel(); ++i) {
      to[i] += static_cast<scalar_t>(amount * static_cast<double>(times));
    }
  });
  return result;
}

OPGEN_KERNEL(shifted_meta)(const Tensor& self, const std::optional<Tensor>&, int64_t) {
  return opgen::empty_like(self);
}

OPGEN_KERNEL(negate_)(Tensor& self) {
  if (self.is_meta()) return self;
  OPGEN_DISPATCH_FLOATING_TYPES(self.scalar_type(), "negate_", [&] {
    scalar_t* to = self.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < self.numel(); ++i) to[i] = -to[i];
  });
  return self;
}

OPGEN_KERNEL(tripled)(const Tensor& self) {
  return both::plus(both::plus(self, self), self);
}

OPGEN_META_FUNC(pick)(const Tensor&) {}

OPGEN_IMPL_FUNC(pick_out_cpu)(const Tensor& self, const Tensor& out) {
  opgen::copy_(out, self);
}

OPGEN_META_FUNC(walk)(const Tensor& self) {
  if (self.dim() == 1) set_output_raw_strided(0, self.sizes(), {}, self.options());
}

OPGEN_IMPL_FUNC(walk_out_cpu)(const Tensor&, const Tensor&) {
  opgen::cpu_kernel(*this, [](float a) -> float { return a; });
}
