// traced.cpp: the kernels of traced.yaml.
#include <opgen/kernel.h>

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/nonzero.h>

#include <string>
#include <utility>
#include <vector>

#include <traced/ops/add_into_native.h>
#include <traced/ops/add_silently_native.h>
#include <traced/ops/barrier_native.h>
#include <traced/ops/blended.h>
#include <traced/ops/blended_native.h>
#include <traced/ops/both_native.h>
#include <traced/ops/brightness_meta.h>
#include <traced/ops/brightness_native.h>
#include <traced/ops/called_native.h>
#include <traced/ops/count_native.h>
#include <traced/ops/double_each_native.h>
#include <traced/ops/double_native.h>
#include <traced/ops/flat_native.h>
#include <traced/ops/halved_native.h>
#include <traced/ops/keep_native.h>
#include <traced/ops/log_native.h>
#include <traced/ops/negate_native.h>
#include <traced/ops/nms_native.h>
#include <traced/ops/pick_native.h>
#include <traced/ops/row_native.h>
#include <traced/ops/scale_native.h>
#include <traced/ops/scatter_rows_native.h>
#include <traced/ops/second_native.h>
#include <traced/ops/send_native.h>
#include <traced/ops/sums_native.h>
#include <traced/ops/swap_native.h>
#include <traced/ops/total_meta.h>
#include <traced/ops/total_native.h>
#include <traced/ops/tripled_native.h>
#include <traced/ops/untold_native.h>
#include <traced/ops/unwritten_native.h>

OPGEN_KERNEL(scale_cpu)(const Tensor& x, double by) {
  return x * by;
}
OPGEN_KERNEL(scale_meta)(const Tensor& x, double) {
  return at::empty_like(x);
}

OPGEN_KERNEL(both_cpu)(const Tensor& x, const std::optional<Tensor>& y) {
  return {x * 2, y.has_value() ? *y * 3 : x * 3};
}
OPGEN_KERNEL(both_meta)(const Tensor& x, const std::optional<Tensor>& y) {
  return {at::empty_like(x), at::empty_like(y.has_value() ? *y : x)};
}

// Overlap is ignored: among boxes of equal size, the first is kept.
OPGEN_KERNEL(nms_cpu)(const Tensor& boxes, const Tensor& scores, double iou_threshold) {
  OPGEN_CHECK(boxes.size(0) == scores.size(0), "one score for each box");
  return at::nonzero(scores > iou_threshold).view({-1});
}

OPGEN_KERNEL(scatter_rows_cpu)
(const Tensor& x, const Tensor& index, std::optional<int64_t> dim_size) {
  const int64_t rows = dim_size.has_value() ? *dim_size : index.max().item<int64_t>() + 1;
  return opgen::zeros({rows, x.size(1)}, x.options()).index_add_(0, index, x);
}

OPGEN_KERNEL(keep_cpu)(const Tensor& x) {
  return x.masked_select(x > 0);
}
OPGEN_KERNEL(scale_none)(const Tensor& x) {
  return x.clone();
}
OPGEN_KERNEL(unwritten_cpu)(const Tensor& x) {
  return x.clone();
}

OPGEN_KERNEL(double_)(Tensor& self) {
  return self.mul_(2);
}
OPGEN_KERNEL(double_each)(TensorList xs) {
  for (const Tensor& x : xs) x.mul_(2);
}
OPGEN_KERNEL(flat)(const Tensor& x) {
  return x.view({-1});
}
OPGEN_KERNEL(tripled)(const Tensor& x) {
  return x * 3;
}
OPGEN_KERNEL(halved_)(Tensor& self) {
  return self.div_(2);
}
OPGEN_KERNEL(row)(const Tensor& x, int64_t index) {
  return x.select(0, index);
}

OPGEN_KERNEL(add_silently)(const Tensor& x, const Tensor& out) {
  out.add_(x);
}

OPGEN_KERNEL(add_into_cpu)(const Tensor& x, Tensor& out) {
  out.add_(x);
}
OPGEN_KERNEL(swap_cpu)(Tensor& x, Tensor& y) {
  const Tensor old = x.clone();
  x.copy_(y);
  y.copy_(old);
  return {y, x};
}
OPGEN_KERNEL(sums_cpu)(TensorList xs) {
  std::vector<Tensor> sums;
  for (const Tensor& x : xs) sums.push_back(x.sum());
  return sums;
}
OPGEN_KERNEL(sums_meta)(TensorList xs) {
  std::vector<Tensor> sums;
  for (const Tensor& x : xs) sums.push_back(opgen::empty({}, x.options()));
  return sums;
}
OPGEN_KERNEL(count_cpu)(const Tensor& x) {
  return x.numel();
}
OPGEN_KERNEL(negate_out_cpu)(const Tensor& x, Tensor& out) {
  return out.copy_(-x);
}
OPGEN_KERNEL(second_cpu)(const Tensor& x) {
  return x.select(0, 1);
}

OPGEN_KERNEL(pick_number)(const Tensor& x, double) {
  return x + 1;
}
OPGEN_KERNEL(pick_tensors)(const Tensor& x, const Tensor&) {
  return x + 2;
}

static std::string calls;

OPGEN_KERNEL(log_cpu)(const Tensor&, std::string_view name) {
  calls += " log ";
  calls += name;
}
OPGEN_KERNEL(barrier)(int64_t at) {
  calls += " barrier " + std::to_string(at);
}
OPGEN_KERNEL(send_cpu)(const Tensor& x, const Scalar& scale) {
  calls += " send";
  return x * scale;
}
OPGEN_KERNEL(called)() {
  return std::exchange(calls, "");
}

OPGEN_KERNEL(blended_cpu)(const Tensor& x, const Tensor& y) {
  OPGEN_CHECK_TYPE(x.scalar_type() == y.scalar_type(), "blended: expected one dtype");
  return x * 0.5 + y * 0.5;
}
OPGEN_KERNEL(blended_autocast)(const Tensor& x, const Tensor& y) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCPU);
  const auto dtype = at::autocast::get_autocast_dtype(at::kCPU);
  return traced::blended(at::autocast::cached_cast(dtype, x, at::kCPU),
                         at::autocast::cached_cast(dtype, y, at::kCPU));
}

OPGEN_META_FUNC(brightness)(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  const opgen::DimMask mask = opgen::make_dim_mask(dim, self.dim());
  const DimVector sizes = opgen::shape_from_dim_mask(self.sizes(), mask, keepdim);
  set_output_raw_strided(0, sizes, {}, self.options());
}
OPGEN_IMPL_FUNC(brightness_out_cpu)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, const Tensor& out) {
  auto iter = opgen::make_reduction(out, self, dim, keepdim);
  const double count = static_cast<double>(self.numel()) / static_cast<double>(out.numel());
  OPGEN_DISPATCH_FLOATING_TYPES(self.scalar_type(), "brightness", [&] {
    opgen::cpu_reduce<scalar_t, scalar_t>(
        iter, 0.0, [](double sum, scalar_t x) -> double { return sum + x; },
        [](double a, double b) { return a + b; }, [count](double sum) { return sum / count; });
  });
}

OPGEN_META_FUNC(total)(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  const opgen::DimMask mask = opgen::make_dim_mask(dim, self.dim());
  const DimVector sizes = opgen::shape_from_dim_mask(self.sizes(), mask, keepdim);
  set_output_raw_strided(0, sizes, {}, self.options());
}
OPGEN_IMPL_FUNC(total_out_cpu)
(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, const Tensor& out) {
  auto iter = opgen::make_reduction(out, self, dim, keepdim);
  OPGEN_DISPATCH_ALL_TYPES_AND2(Half, BFloat16, self.scalar_type(), "total",
                                [&] { opgen::cpu_sum<scalar_t>(iter); });
}
