// more.cpp: the kernels of more.yaml.
#include <opgen/kernel.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <graded/ops/both_halves_native.h>
#include <graded/ops/called_native.h>
#include <graded/ops/every_other_native.h>
#include <graded/ops/gaps_native.h>
#include <graded/ops/given_native.h>
#include <graded/ops/log_native.h>
#include <graded/ops/nested_native.h>
#include <graded/ops/plain_into_native.h>
#include <graded/ops/plain_native.h>
#include <graded/ops/positive_native.h>
#include <graded/ops/product_by_native.h>
#include <graded/ops/scaled_native.h>
#include <graded/ops/send_native.h>
#include <graded/ops/sign_of_native.h>
#include <graded/ops/sum_given_native.h>

using namespace opgen::types;

namespace {

// Calls `f(x)` for each element, which must be of type double, and stores what it returns.
template <class F>
void change(const Tensor& to, const Tensor& from, const F& f) {
  const Tensor values = opgen::contiguous(from);
  Tensor changed = opgen::empty_like(values);
  const double* const x = values.data_ptr<double>();
  double* const y = changed.data_ptr<double>();
  for (std::int64_t i = 0; i < values.numel(); ++i) y[i] = f(x[i]);
  opgen::copy_(to, changed);
}

}  // namespace

OPGEN_KERNEL(plain)(const Tensor& self) {
  Tensor result = opgen::empty_like(self);
  change(result, self, [](double x) { return 3 * x; });
  return result;
}
OPGEN_KERNEL(plain_meta)(const Tensor& self) {
  return opgen::empty_like(self);
}
OPGEN_KERNEL(plain_into)(const Tensor& self, Tensor& total) {
  change(total, self, [](double x) { return 3 * x; });
}
OPGEN_KERNEL(plain_into_meta)(const Tensor&, Tensor&) {}
OPGEN_KERNEL(plain_)(Tensor& self) {
  if (!self.is_meta()) change(self, self, [](double x) { return 3 * x; });
  return self;
}
// The positive elements.
OPGEN_KERNEL(positive)(const Tensor& self) {
  const Tensor values = opgen::contiguous(self);
  const double* const x = values.data_ptr<double>();
  const double* const end = x + values.numel();
  const auto is_positive = [](double one) { return one > 0; };
  Tensor result = opgen::empty({std::count_if(x, end, is_positive)}, self.options());
  std::copy_if(x, end, result.data_ptr<double>(), is_positive);
  return result;
}
OPGEN_KERNEL(every_other)(const Tensor& self) {
  opgen::SymDimVector sizes(self.sym_sizes()), strides(self.sym_strides());
  sizes[0] = (sizes[0] + 1) / 2;
  strides[0] = strides[0] * 2;
  return opgen::as_strided_symint(self, sizes, strides, self.sym_storage_offset());
}
OPGEN_KERNEL(both_halves)(const Tensor& self) {
  const auto count = self.sym_size(0) / 2, stride = self.sym_stride(0);
  const auto offset = self.sym_storage_offset();
  return {opgen::as_strided_symint(self, {count}, {stride}, offset),
          opgen::as_strided_symint(self, {count}, {stride}, offset + count * stride)};
}
OPGEN_KERNEL(scaled)(const Tensor& self, const Scalar& factor, std::int64_t) {
  Tensor result = opgen::empty_like(self);
  const double f = factor.to<double>();
  change(result, self, [f](double x) { return f * x; });
  return result;
}
OPGEN_KERNEL(scaled_meta)(const Tensor& self, const Scalar&, std::int64_t) {
  return opgen::empty_like(self);
}

// The calls, one decimal digit each: the step of a log, and 9 for a send.
static std::int64_t calls = 0;

OPGEN_KERNEL(log)(const Tensor&, std::string_view, const Scalar& step) {
  calls = 10 * calls + step.to<std::int64_t>();
}
OPGEN_KERNEL(send)(const Tensor& self) {
  calls = 10 * calls + 9;
  return opgen::clone(self);
}
OPGEN_KERNEL(called)() {
  return std::exchange(calls, 0);
}
OPGEN_KERNEL(product_by)(const Tensor& self, const Tensor& other) {
  Tensor result = opgen::empty_like(self);
  const double factor = *opgen::contiguous(other).data_ptr<double>();
  change(result, self, [factor](double x) { return factor * x; });
  return result;
}
OPGEN_KERNEL(product_by_meta)(const Tensor& self, const Tensor&) {
  return opgen::empty_like(self);
}

namespace {

// Three times the last tensor that is given.
Tensor last_of(const List<std::optional<Tensor>>& parts) {
  Tensor last;
  for (const std::optional<Tensor>& part : parts) {
    if (part.has_value()) last = *part;
  }
  Tensor result = opgen::empty_like(last);
  if (!result.is_meta()) change(result, last, [](double x) { return 3 * x; });
  return result;
}
Tensor thrice(const Tensor& self) {
  Tensor result = opgen::empty_like(self);
  if (!result.is_meta()) change(result, self, [](double x) { return 3 * x; });
  return result;
}

}  // namespace

OPGEN_KERNEL(given)(const List<std::optional<Tensor>>& parts) {
  return last_of(parts);
}
OPGEN_KERNEL(sum_given)(const List<std::optional<Tensor>>& parts) {
  return last_of(parts);
}
OPGEN_KERNEL(gaps)(const Tensor& self) {
  return {std::nullopt, thrice(self)};
}
OPGEN_KERNEL(gaps_meta)(const Tensor& self) {
  return {std::nullopt, thrice(self)};
}
OPGEN_KERNEL(nested)(const Tensor& self) {
  return {List<Tensor>{thrice(self)}, List<Tensor>{thrice(self), thrice(self)}};
}
OPGEN_KERNEL(nested_meta)(const Tensor& self) {
  return {List<Tensor>{thrice(self)}, List<Tensor>{thrice(self), thrice(self)}};
}
