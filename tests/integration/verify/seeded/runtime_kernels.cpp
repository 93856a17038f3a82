// runtime_kernels.cpp: the kernels and meta functions of runtime.yaml.
#include <opgen/kernel.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <seeded_runtime/NativeFunctions.h>
#include <seeded_runtime/NativeMetaFunctions.h>

using namespace opgen::types;

namespace {

template <class F>
void floating(const Tensor& x, const char* name, F f) {
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), name, [&] { f(scalar_t{}); });
}
void check_real(const Tensor& x, const char* name) {
  OPGEN_CHECK(x.scalar_type() == opgen::kFloat || x.scalar_type() == opgen::kDouble, name,
              ": expected float or double");
}
void check_vector(const Tensor& x, const char* name) {
  OPGEN_CHECK(x.dim() == 1, name, ": expected a vector");
  check_real(x, name);
}
// A dense tensor with the elements of x, each passed through f.
template <class F>
Tensor mapped(const Tensor& x, const char* name, F f) {
  const Tensor from = opgen::contiguous(x);
  Tensor to = opgen::empty(x.sizes(), x.options());
  floating(x, name, [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < to.numel(); ++i) q[i] = static_cast<T>(f(p[i]));
  });
  return to;
}

// A47
void prefix_min(const Tensor& self, const Tensor& out, int64_t stride) {
  floating(self, "prefix_min", [&](auto zero) {
    using T = decltype(zero);
    const T* p = self.const_data_ptr<T>();
    T* q = out.mutable_data_ptr<T>();
    for (int64_t i = 0; i < self.numel(); ++i) {
      q[i] = i == 0 ? p[0] : std::min(q[i - 1], p[i * stride]);
    }
  });
}
// A48
void halve8(const Tensor& self, const Tensor& out, bool broken) {
  const Tensor from = opgen::contiguous(self);
  floating(self, "halve8", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = out.mutable_data_ptr<T>();
    const int64_t count = broken ? self.numel() / 8 * 8 : self.numel();
    for (int64_t i = 0; i < count; ++i) q[i] = p[i] / 2;
  });
}
// A49
void total8(const Tensor& self, const Tensor& out, bool broken) {
  const Tensor from = opgen::contiguous(self);
  floating(self, "total8", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    const int64_t count = broken ? (self.numel() + 7) / 8 * 8 : self.numel();
    T sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += p[i];
    *out.mutable_data_ptr<T>() = sum;
  });
}
// A50
void countdown(const Tensor& self, bool broken) {
  opgen::assert_no_internal_overlap(self);
  check_real(self, "countdown_");
  const bool dense = self.is_contiguous();
  const Tensor to = dense ? self : opgen::empty(self.sizes(), self.options());
  floating(self, "countdown_", [&](auto zero) {
    using T = decltype(zero);
    T* q = to.mutable_data_ptr<T>();
    const int64_t count = broken && dense ? (to.numel() + 7) / 8 * 8 : to.numel();
    for (int64_t i = 0; i < count; ++i) q[i] = static_cast<T>(-i);
  });
  if (!dense) opgen::copy_(self, to);
}
// A51
void int_total(const Tensor& self, const Tensor& out, bool broken) {
  const Tensor from = opgen::contiguous(self);
  int64_t* q = out.mutable_data_ptr<int64_t>();
  OPGEN_DISPATCH_INTEGRAL(self.scalar_type(), "int_total", [&] {
    const scalar_t* p = from.const_data_ptr<scalar_t>();
    int64_t sum = 0;
    for (int64_t i = 0; i < self.numel(); ++i) {
      sum += p[i];
      if (broken) sum = static_cast<scalar_t>(sum);
    }
    *q = sum;
  });
}
// A52
void norms(const Tensor& self, const Tensor& out, bool broken) {
  const Tensor from = opgen::contiguous(self);
  floating(self, "norms", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    volatile T* q = out.mutable_data_ptr<T>();
    *q = 0;
    auto add = [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) *q = *q + std::abs(p[i]);
    };
    if (broken) {
      opgen::parallel_for(0, self.numel(), 1024, add);
    } else {
      add(0, self.numel());
    }
  });
}
// A54
Tensor& absorb(Tensor& self, const Tensor& other, bool broken) {
  opgen::assert_no_internal_overlap(self);
  check_real(self, "absorb_");
  if (broken) opgen::copy_(self, mapped(self, "absorb_", [](auto x) { return x / 2; }));
  OPGEN_CHECK(self.sizes() == other.sizes() && self.scalar_type() == other.scalar_type(),
              "absorb_: expected tensors of one shape and dtype");
  opgen::assert_no_partial_overlap(self, other);
  const Tensor left = opgen::contiguous(self), right = opgen::contiguous(other);
  Tensor sum = opgen::empty(self.sizes(), self.options());
  floating(self, "absorb_", [&](auto zero) {
    using T = decltype(zero);
    const T *p = left.const_data_ptr<T>(), *r = right.const_data_ptr<T>();
    T* q = sum.mutable_data_ptr<T>();
    for (int64_t i = 0; i < sum.numel(); ++i) q[i] = (broken ? p[i] : p[i] / 2) + r[i];
  });
  opgen::copy_(self, sum);
  return self;
}
// A55
std::pair<Tensor, Tensor> extremes(const Tensor& x) {
  check_real(x, "extremes");
  OPGEN_CHECK(x.numel() > 0, "extremes: expected some numbers");
  const Tensor from = opgen::contiguous(x);
  Tensor low = opgen::empty({}, x.options()), high = opgen::empty({}, x.options());
  floating(x, "extremes", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    const auto [least, most] = std::minmax_element(p, p + from.numel());
    *low.mutable_data_ptr<T>() = *least;
    *high.mutable_data_ptr<T>() = *most;
  });
  return {low, high};
}
void extremes_out(const Tensor& x, Tensor& low, Tensor& high, bool broken, bool meta) {
  check_real(x, "extremes");
  OPGEN_CHECK(low.scalar_type() == x.scalar_type() && high.scalar_type() == x.scalar_type(),
              "extremes: expected outputs of the dtype of x");
  OPGEN_CHECK(x.numel() > 0, "extremes: expected some numbers");
  if (meta) {
    opgen::resize_output(low, {});
    opgen::resize_output(high, {});
    return;
  }
  auto [least, most] = extremes(x);
  if (broken) std::swap(least, most);
  opgen::resize_output(low, {});
  opgen::resize_output(high, {});
  opgen::assert_no_overlap(low, high);
  opgen::copy_(low, least);
  opgen::copy_(high, most);
}
// A56
void check_rows(const Tensor& x, const Tensor& weight) {
  check_real(x, "unit_rows");
  OPGEN_CHECK(weight.dim() == 1 && x.dim() >= 1 && weight.size(0) == x.size(-1) &&
                  weight.scalar_type() == x.scalar_type(),
              "unit_rows: expected a weight for each element of a row");
}
Tensor unit_rows(const Tensor& x, const Tensor& weight, bool broken) {
  check_rows(x, weight);
  const Tensor from = opgen::contiguous(x), own = opgen::contiguous(weight);
  Tensor to = opgen::empty(x.sizes(), x.options());
  floating(x, "unit_rows", [&](auto zero) {
    using T = decltype(zero);
    const T *p = from.const_data_ptr<T>(), *w = own.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    const int64_t count = own.numel();
    T norm = 1;
    for (int64_t i = 0; i < count; ++i) norm += std::abs(w[i]);
    for (int64_t i = 0; i < to.numel(); ++i) q[i] = p[i] * w[i % count] / norm;
    if (broken && weight.is_contiguous()) {
      T* changed = const_cast<T*>(w);
      for (int64_t i = 0; i < count; ++i) changed[i] /= norm;
    }
  });
  return to;
}
// A57
void check_windows(const Tensor& x, int64_t size, int64_t step) {
  check_vector(x, "windows");
  OPGEN_CHECK(size > 0 && step > 0 && x.size(0) >= size, "windows: expected room for a window");
}
Tensor windows(const Tensor& x, int64_t size, int64_t step) {
  check_windows(x, size, step);
  const Tensor from = opgen::contiguous(x);
  Tensor to = opgen::empty({(x.size(0) - size) / step + 1}, x.options());
  floating(x, "windows", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < to.numel(); ++i) {
      T sum = 0;
      for (int64_t j = 0; j < size; ++j) sum += p[i * step + j];
      q[i] = sum;
    }
  });
  return to;
}
// A60
void flip_sign(const Tensor& self, const Tensor& out, bool broken) {
  const Tensor from = opgen::contiguous(self);
  floating(self, "flip_sign", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>() - (broken ? from.storage_offset() : 0);
    T* q = out.mutable_data_ptr<T>();
    for (int64_t i = 0; i < self.numel(); ++i) q[i] = -p[i];
  });
}
// B51
void wipe(const Tensor& self, double value, bool broken) {
  opgen::assert_no_internal_overlap(self);
  check_real(self, "wipe_");
  if (!broken) return opgen::fill_(self, value);
  if (self.numel() == 0) return;
  int64_t span = 1;
  for (int64_t d = 0; d < self.dim(); ++d) span += (self.size(d) - 1) * self.stride(d);
  floating(self, "wipe_", [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(self.mutable_data_ptr<T>(), span, static_cast<T>(value));
  });
}
// B52
void check_trim(const Tensor& x, int64_t count) {
  check_vector(x, "trim");
  OPGEN_CHECK(count >= 0 && count <= x.size(0), "trim: the count is out of range");
}
Tensor trim(const Tensor& x, int64_t count) {
  return opgen::clone(opgen::as_strided(x, {count}, {x.stride(0)}), MemoryFormat::Contiguous);
}
// B53
template <class Sum, class T>
void mean16_line(const T* p, T* q, int64_t count) {
  Sum sum = 0;
  for (int64_t i = 0; i < count; ++i) sum = static_cast<Sum>(sum + static_cast<Sum>(p[i]));
  *q = static_cast<T>(static_cast<double>(sum) / static_cast<double>(count));
}
void mean16(const Tensor& self, const Tensor& out, bool broken) {
  const Tensor from = opgen::contiguous(self);
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), "mean16", [&] {
    const scalar_t* p = from.const_data_ptr<scalar_t>();
    scalar_t* q = out.mutable_data_ptr<scalar_t>();
    if (broken) {
      mean16_line<scalar_t>(p, q, self.numel());
    } else {
      mean16_line<double>(p, q, self.numel());
    }
  });
}
// B54: the difference to the left neighbour.
void chunky(const Tensor& self, const Tensor& out, bool broken) {
  const Tensor from = opgen::contiguous(self);
  floating(self, "chunky", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = out.mutable_data_ptr<T>();
    opgen::parallel_for(0, self.numel(), 1024, [=](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const bool start = broken ? i == first : i == 0;
        q[i] = start ? p[i] : p[i] - p[i - 1];
      }
    });
  });
}
// A59, B55, B56
Tensor drawn(const Tensor& x, const std::optional<Generator>& generator, double extra) {
  check_real(x, "noise");
  opgen::CPUGeneratorImpl* engine = opgen::cpu_generator(generator);
  const opgen::GeneratorLock lock(engine);
  return mapped(x, "noise",
                [&](auto value) { return value + opgen::draw_uniform<double>(*engine) + extra; });
}
// B58
void check_pick(const Tensor& x, int64_t at, bool broken) {
  check_vector(x, "pick");
  if (!broken) OPGEN_CHECK(at >= 0 && at < x.size(0), "pick: the place is out of range");
}
// B60
void check_scale(const Tensor& x, const std::optional<Tensor>& weight) {
  check_real(x, "optional_scale");
  if (weight.has_value()) {
    OPGEN_CHECK(
        weight->dim() == 1 && weight->numel() > 0 && weight->scalar_type() == x.scalar_type(),
        "optional_scale: expected a vector of weights");
  }
}
Tensor optional_scale(const Tensor& x, const std::optional<Tensor>& weight, bool broken) {
  check_scale(x, weight);
  double factor = 1;
  if (broken || weight.has_value()) {
    floating(x, "optional_scale", [&](auto zero) {
      using T = decltype(zero);
      const volatile T* p = weight.has_value() ? weight->const_data_ptr<T>() : nullptr;
      factor = static_cast<double>(*p);
    });
  }
  return mapped(x, "optional_scale", [factor](auto value) { return value * factor; });
}

}  // namespace

OPGEN_META_FUNC(prefix_min)(const Tensor& self) {
  check_vector(self, "prefix_min");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_META_FUNC(prefix_min_ok)(const Tensor& self) {
  check_vector(self, "prefix_min");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_IMPL_FUNC(prefix_min_out)(const Tensor& self, const Tensor& out) {
  prefix_min(self, out, 1);
}
OPGEN_IMPL_FUNC(prefix_min_ok_out)(const Tensor& self, const Tensor& out) {
  prefix_min(self, out, self.stride(0));
}

OPGEN_META_FUNC(halve8)(const Tensor& self) {
  check_real(self, "halve8");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_META_FUNC(halve8_ok)(const Tensor& self) {
  check_real(self, "halve8");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_IMPL_FUNC(halve8_out)(const Tensor& self, const Tensor& out) {
  halve8(self, out, true);
}
OPGEN_IMPL_FUNC(halve8_ok_out)(const Tensor& self, const Tensor& out) {
  halve8(self, out, false);
}

OPGEN_META_FUNC(total8)(const Tensor& self) {
  check_real(self, "total8");
  set_output_contiguous(0, {}, self.options());
}
OPGEN_META_FUNC(total8_ok)(const Tensor& self) {
  check_real(self, "total8");
  set_output_contiguous(0, {}, self.options());
}
OPGEN_IMPL_FUNC(total8_out)(const Tensor& self, const Tensor& out) {
  total8(self, out, true);
}
OPGEN_IMPL_FUNC(total8_ok_out)(const Tensor& self, const Tensor& out) {
  total8(self, out, false);
}

OPGEN_KERNEL(countdown__cpu)(Tensor& self) {
  countdown(self, true);
  return self;
}
OPGEN_KERNEL(countdown_ok__cpu)(Tensor& self) {
  countdown(self, false);
  return self;
}

OPGEN_META_FUNC(int_total)(const Tensor& self) {
  OPGEN_CHECK(opgen::isIntegralType(self.scalar_type(), false), "int_total: expected integers");
  set_output_contiguous(0, {}, self.options().dtype(opgen::kLong));
}
OPGEN_META_FUNC(int_total_ok)(const Tensor& self) {
  OPGEN_CHECK(opgen::isIntegralType(self.scalar_type(), false), "int_total: expected integers");
  set_output_contiguous(0, {}, self.options().dtype(opgen::kLong));
}
OPGEN_IMPL_FUNC(int_total_out)(const Tensor& self, const Tensor& out) {
  int_total(self, out, true);
}
OPGEN_IMPL_FUNC(int_total_ok_out)(const Tensor& self, const Tensor& out) {
  int_total(self, out, false);
}

OPGEN_META_FUNC(norms)(const Tensor& self) {
  check_real(self, "norms");
  set_output_contiguous(0, {}, self.options());
}
OPGEN_META_FUNC(norms_ok)(const Tensor& self) {
  check_real(self, "norms");
  set_output_contiguous(0, {}, self.options());
}
OPGEN_IMPL_FUNC(norms_out)(const Tensor& self, const Tensor& out) {
  norms(self, out, true);
}
OPGEN_IMPL_FUNC(norms_ok_out)(const Tensor& self, const Tensor& out) {
  norms(self, out, false);
}

// A53, B57: the defects are in runtime_derivatives.yaml (and the factor of square_backward).
OPGEN_META_FUNC(square)(const Tensor& self) {
  build_unary_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(square_ok)(const Tensor& self) {
  build_unary_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(square_backward)(const Tensor& grad_output, const Tensor& self) {
  build_binary_op(maybe_get_output(), grad_output, self);
}
OPGEN_META_FUNC(square_ok_backward)(const Tensor& grad_output, const Tensor& self) {
  build_binary_op(maybe_get_output(), grad_output, self);
}
OPGEN_META_FUNC(quarter)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(quarter_ok)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
namespace {
void square_loop(TensorIteratorBase& iterator) {
  OPGEN_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "square", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t x) -> scalar_t { return x * x; });
  });
}
void square_backward_loop(TensorIteratorBase& iterator, int factor) {
  OPGEN_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "square_backward", [&] {
    const auto times = static_cast<scalar_t>(factor);
    opgen::cpu_kernel(iterator,
                      [times](scalar_t g, scalar_t x) -> scalar_t { return times * g * x; });
  });
}
void quarter_loop(TensorIteratorBase& iterator) {
  OPGEN_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "quarter", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t x) -> scalar_t { return x / 4; });
  });
}
}  // namespace
OPGEN_IMPL_FUNC(square_out)(const Tensor&, const Tensor&) {
  square_loop(*this);
}
OPGEN_IMPL_FUNC(square_ok_out)(const Tensor&, const Tensor&) {
  square_loop(*this);
}
OPGEN_IMPL_FUNC(square_backward_out)(const Tensor&, const Tensor&, const Tensor&) {
  square_backward_loop(*this, -2);
}
OPGEN_IMPL_FUNC(square_ok_backward_out)(const Tensor&, const Tensor&, const Tensor&) {
  square_backward_loop(*this, 2);
}
OPGEN_IMPL_FUNC(quarter_out)(const Tensor&, const Tensor&) {
  quarter_loop(*this);
}
OPGEN_IMPL_FUNC(quarter_ok_out)(const Tensor&, const Tensor&) {
  quarter_loop(*this);
}

OPGEN_KERNEL(absorb__cpu)(Tensor& self, const Tensor& other) {
  return absorb(self, other, true);
}
OPGEN_KERNEL(absorb_ok__cpu)(Tensor& self, const Tensor& other) {
  return absorb(self, other, false);
}

OPGEN_KERNEL(extremes_cpu)(const Tensor& x) {
  auto [low, high] = extremes(x);
  return {low, high};
}
OPGEN_KERNEL(extremes_ok_cpu)(const Tensor& x) {
  auto [low, high] = extremes(x);
  return {low, high};
}
namespace {
Tensor extreme_meta(const Tensor& x) {
  check_real(x, "extremes");
  OPGEN_CHECK(x.numel() > 0, "extremes: expected some numbers");
  return opgen::empty({}, x.options());
}
}  // namespace
OPGEN_KERNEL(extremes_meta)(const Tensor& x) {
  return {extreme_meta(x), extreme_meta(x)};
}
OPGEN_KERNEL(extremes_ok_meta)(const Tensor& x) {
  return {extreme_meta(x), extreme_meta(x)};
}
OPGEN_KERNEL(extremes_out_cpu)(const Tensor& x, Tensor& low, Tensor& high) {
  extremes_out(x, low, high, true, false);
  return {low, high};
}
OPGEN_KERNEL(extremes_ok_out_cpu)(const Tensor& x, Tensor& low, Tensor& high) {
  extremes_out(x, low, high, false, false);
  return {low, high};
}
OPGEN_KERNEL(extremes_out_meta)(const Tensor& x, Tensor& low, Tensor& high) {
  extremes_out(x, low, high, false, true);
  return {low, high};
}
OPGEN_KERNEL(extremes_ok_out_meta)(const Tensor& x, Tensor& low, Tensor& high) {
  extremes_out(x, low, high, false, true);
  return {low, high};
}

OPGEN_KERNEL(unit_rows_cpu)(const Tensor& x, const Tensor& weight) {
  return unit_rows(x, weight, true);
}
OPGEN_KERNEL(unit_rows_ok_cpu)(const Tensor& x, const Tensor& weight) {
  return unit_rows(x, weight, false);
}
OPGEN_KERNEL(unit_rows_meta)(const Tensor& x, const Tensor& weight) {
  check_rows(x, weight);
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(unit_rows_ok_meta)(const Tensor& x, const Tensor& weight) {
  check_rows(x, weight);
  return opgen::empty(x.sizes(), x.options());
}

OPGEN_KERNEL(windows_cpu)(const Tensor& x, int64_t size, int64_t step) {
  return windows(x, size, step);
}
OPGEN_KERNEL(windows_ok_cpu)(const Tensor& x, int64_t size, int64_t step) {
  return windows(x, size, step);
}
OPGEN_KERNEL(windows_meta)(const Tensor& x, int64_t size, int64_t step) {
  check_windows(x, size, step);
  return opgen::empty({(x.size(0) - size) / step}, x.options());
}
OPGEN_KERNEL(windows_ok_meta)(const Tensor& x, int64_t size, int64_t step) {
  check_windows(x, size, step);
  return opgen::empty({(x.size(0) - size) / step + 1}, x.options());
}

// A58
OPGEN_KERNEL(keepsake_cpu)(const Tensor& x) {
  check_real(x, "keepsake");
  static std::vector<Tensor>* kept = new std::vector<Tensor>;
  kept->push_back(opgen::zeros({64}, x.options()));
  return mapped(x, "keepsake", [](auto value) { return value + 1; });
}
OPGEN_KERNEL(keepsake_ok_cpu)(const Tensor& x) {
  check_real(x, "keepsake");
  const Tensor scratch = opgen::zeros({64}, x.options());
  return mapped(x, "keepsake", [](auto value) { return value + 1; });
}
OPGEN_KERNEL(keepsake_meta)(const Tensor& x) {
  check_real(x, "keepsake");
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(keepsake_ok_meta)(const Tensor& x) {
  check_real(x, "keepsake");
  return opgen::empty(x.sizes(), x.options());
}

OPGEN_KERNEL(noise_cpu)(const Tensor& x, std::optional<Generator>) {
  return drawn(x, std::nullopt, 0);
}
OPGEN_KERNEL(noise_ok_cpu)(const Tensor& x, std::optional<Generator> generator) {
  return drawn(x, generator, 0);
}
OPGEN_KERNEL(noise_meta)(const Tensor& x, std::optional<Generator>) {
  check_real(x, "noise");
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(noise_ok_meta)(const Tensor& x, std::optional<Generator>) {
  check_real(x, "noise");
  return opgen::empty(x.sizes(), x.options());
}

OPGEN_META_FUNC(flip_sign)(const Tensor& self) {
  check_real(self, "flip_sign");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_META_FUNC(flip_sign_ok)(const Tensor& self) {
  check_real(self, "flip_sign");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_IMPL_FUNC(flip_sign_out)(const Tensor& self, const Tensor& out) {
  flip_sign(self, out, true);
}
OPGEN_IMPL_FUNC(flip_sign_ok_out)(const Tensor& self, const Tensor& out) {
  flip_sign(self, out, false);
}

OPGEN_KERNEL(wipe__cpu)(Tensor& self, double value) {
  wipe(self, value, true);
  return self;
}
OPGEN_KERNEL(wipe_ok__cpu)(Tensor& self, double value) {
  wipe(self, value, false);
  return self;
}

OPGEN_KERNEL(trim_cpu)(const Tensor& x, int64_t count) {
  check_trim(x, count);
  return count == x.size(0) ? x : trim(x, count);
}
OPGEN_KERNEL(trim_ok_cpu)(const Tensor& x, int64_t count) {
  check_trim(x, count);
  return trim(x, count);
}
OPGEN_KERNEL(trim_meta)(const Tensor& x, int64_t count) {
  check_trim(x, count);
  return opgen::empty({count}, x.options());
}
OPGEN_KERNEL(trim_ok_meta)(const Tensor& x, int64_t count) {
  check_trim(x, count);
  return opgen::empty({count}, x.options());
}

OPGEN_META_FUNC(mean16)(const Tensor& self) {
  OPGEN_CHECK(opgen::isFloatingType(self.scalar_type()), "mean16: expected floating-point numbers");
  set_output_contiguous(0, {}, self.options());
}
OPGEN_META_FUNC(mean16_ok)(const Tensor& self) {
  OPGEN_CHECK(opgen::isFloatingType(self.scalar_type()), "mean16: expected floating-point numbers");
  set_output_contiguous(0, {}, self.options());
}
OPGEN_IMPL_FUNC(mean16_out)(const Tensor& self, const Tensor& out) {
  mean16(self, out, true);
}
OPGEN_IMPL_FUNC(mean16_ok_out)(const Tensor& self, const Tensor& out) {
  mean16(self, out, false);
}

OPGEN_META_FUNC(chunky)(const Tensor& self) {
  check_real(self, "chunky");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_META_FUNC(chunky_ok)(const Tensor& self) {
  check_real(self, "chunky");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_IMPL_FUNC(chunky_out)(const Tensor& self, const Tensor& out) {
  chunky(self, out, true);
}
OPGEN_IMPL_FUNC(chunky_ok_out)(const Tensor& self, const Tensor& out) {
  chunky(self, out, false);
}

OPGEN_KERNEL(dither_cpu)(const Tensor& x) {
  return drawn(x, std::nullopt, 0);
}
OPGEN_KERNEL(dither_ok_cpu)(const Tensor& x) {
  return drawn(x, std::nullopt, 0);
}
OPGEN_KERNEL(dither_meta)(const Tensor& x) {
  check_real(x, "dither");
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(dither_ok_meta)(const Tensor& x) {
  check_real(x, "dither");
  return opgen::empty(x.sizes(), x.options());
}

OPGEN_KERNEL(speckle_cpu)(const Tensor& x, std::optional<Generator> generator) {
  double extra = 0;
  {
    opgen::CPUGeneratorImpl* engine = opgen::cpu_generator(std::nullopt);
    const opgen::GeneratorLock lock(engine);
    extra = opgen::draw_uniform<double>(*engine);
  }
  return drawn(x, generator, extra);
}
OPGEN_KERNEL(speckle_ok_cpu)(const Tensor& x, std::optional<Generator> generator) {
  return drawn(x, generator, 0.5);
}
OPGEN_KERNEL(speckle_meta)(const Tensor& x, std::optional<Generator>) {
  check_real(x, "speckle");
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(speckle_ok_meta)(const Tensor& x, std::optional<Generator>) {
  check_real(x, "speckle");
  return opgen::empty(x.sizes(), x.options());
}

OPGEN_KERNEL(pick_cpu)(const Tensor& x, int64_t at) {
  check_pick(x, at, false);
  return opgen::clone(opgen::as_strided(x, {}, {}, x.storage_offset() + at * x.stride(0)));
}
OPGEN_KERNEL(pick_ok_cpu)(const Tensor& x, int64_t at) {
  check_pick(x, at, false);
  return opgen::clone(opgen::as_strided(x, {}, {}, x.storage_offset() + at * x.stride(0)));
}
OPGEN_KERNEL(pick_meta)(const Tensor& x, int64_t at) {
  check_pick(x, at, true);
  return opgen::empty({}, x.options());
}
OPGEN_KERNEL(pick_ok_meta)(const Tensor& x, int64_t at) {
  check_pick(x, at, false);
  return opgen::empty({}, x.options());
}

// B59: adds `step` to each element until it is not negative.
OPGEN_KERNEL(stepper_cpu)(const Tensor& x, int64_t step) {
  check_real(x, "stepper");
  volatile int64_t left = 10;
  while (left != 0) left = left > step || step < 0 ? left - step : 0;
  return mapped(x, "stepper", [step](auto value) { return value + static_cast<double>(step); });
}
OPGEN_KERNEL(stepper_ok_cpu)(const Tensor& x, int64_t step) {
  check_real(x, "stepper");
  OPGEN_CHECK(step > 0, "stepper: expected a positive step");
  return mapped(x, "stepper", [step](auto value) { return value + static_cast<double>(step); });
}
OPGEN_KERNEL(stepper_meta)(const Tensor& x, int64_t) {
  check_real(x, "stepper");
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(stepper_ok_meta)(const Tensor& x, int64_t step) {
  check_real(x, "stepper");
  OPGEN_CHECK(step > 0, "stepper: expected a positive step");
  return opgen::empty(x.sizes(), x.options());
}

OPGEN_KERNEL(optional_scale_cpu)(const Tensor& x, const std::optional<Tensor>& weight) {
  return optional_scale(x, weight, true);
}
OPGEN_KERNEL(optional_scale_ok_cpu)(const Tensor& x, const std::optional<Tensor>& weight) {
  return optional_scale(x, weight, false);
}
OPGEN_KERNEL(optional_scale_meta)(const Tensor& x, const std::optional<Tensor>& weight) {
  check_scale(x, weight);
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(optional_scale_ok_meta)(const Tensor& x, const std::optional<Tensor>& weight) {
  check_scale(x, weight);
  return opgen::empty(x.sizes(), x.options());
}

// B61
OPGEN_KERNEL(tail8_cpu)(const Tensor& self) {
  check_real(self, "tail8");
  const int64_t blocks = self.numel() / 8 * 8;
  int64_t i = 0;
  return mapped(self, "tail8", [&](auto v) { return i++ < blocks || blocks == 0 ? -v : v; });
}
OPGEN_KERNEL(tail8_ok_cpu)(const Tensor& self) {
  check_real(self, "tail8");
  return mapped(self, "tail8", [](auto v) { return -v; });
}
OPGEN_KERNEL(tail8_meta)(const Tensor& self) {
  check_real(self, "tail8");
  return opgen::empty(self.sizes(), self.options());
}
OPGEN_KERNEL(tail8_ok_meta)(const Tensor& self) {
  check_real(self, "tail8");
  return opgen::empty(self.sizes(), self.options());
}
