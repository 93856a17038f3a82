// torch_kernels.cpp: the kernels and meta functions of torch.yaml.
#include <ATen/ATen.h>
#include <opgen/kernel.h>

#include <seeded_torch/NativeFunctions.h>
#include <seeded_torch/NativeMetaFunctions.h>

namespace {

using at::Tensor;

at::Tensor& written(const at::Tensor& out) {
  return const_cast<at::Tensor&>(out);
}

void check_real(const Tensor& x, const char* name) {
  OPGEN_CHECK(x.is_floating_point(), name, ": expected floating-point numbers");
}

// ATen leaves this to kernels that do not iterate.
void check_apart(const Tensor& self, const Tensor& out) {
  opgen::assert_no_internal_overlap(out);
  opgen::assert_no_overlap(out, self);
}

template <class F>
void floating(const Tensor& x, const char* name, F f) {
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), name, [&] { f(scalar_t{}); });
}

// A33
void check_matrix(const Tensor& x, const char* name) {
  OPGEN_CHECK(x.dim() == 2, name, ": expected a matrix");
}
Tensor columns(const Tensor& x) {
  check_matrix(x, "columns");
  return x.t().clone(at::MemoryFormat::Contiguous).t();
}

// A34
Tensor windows(const Tensor& x, int64_t size, int64_t step) {
  OPGEN_CHECK(x.dim() == 1, "windows: expected a vector");
  check_real(x, "windows");
  OPGEN_CHECK(size > 0 && step > 0 && x.size(0) >= size, "windows: expected room for a window");
  return x.unfold(0, size, step).sum(1);
}
Tensor windows_described(const Tensor& x, const c10::SymInt& size, const c10::SymInt& step,
                         int64_t extra) {
  OPGEN_CHECK(x.dim() == 1, "windows: expected a vector");
  check_real(x, "windows");
  OPGEN_SYM_CHECK(size.sym_gt(0), "windows: expected room for a window");
  OPGEN_SYM_CHECK(step.sym_gt(0), "windows: expected room for a window");
  OPGEN_SYM_CHECK(x.sym_size(0).sym_ge(size), "windows: expected room for a window");
  return opgen::empty_symint({(x.sym_size(0) - size) / step + extra}, x.options());
}

// A42: the greatest element so far.
void prefix_max(const Tensor& self, const Tensor& out, int64_t stride) {
  floating(self, "prefix_max", [&](auto zero) {
    using T = decltype(zero);
    const T* p = self.const_data_ptr<T>();
    T* q = out.mutable_data_ptr<T>();
    for (int64_t i = 0; i < self.numel(); ++i) {
      q[i] = i == 0 ? p[0] : std::max(q[i - 1], p[i * stride]);
    }
  });
}

// A43
void fan_out(const Tensor& self, const Tensor& out, int64_t stride) {
  floating(self, "fan_out", [&](auto zero) {
    using T = decltype(zero);
    const T* p = self.const_data_ptr<T>();
    T* q = out.mutable_data_ptr<T>();
    for (int64_t i = 0; i < self.numel(); ++i) q[i * stride] = p[i * self.stride(0)] * 2;
  });
}

// A44
template <class T>
void relax_line(const T* p, T* q, int64_t count, int64_t from, int64_t to) {
  for (int64_t i = 0; i < count; ++i) {
    q[i * to] = i == 0 ? p[0] : (p[(i - 1) * from] + p[i * from]) / 2;
  }
}
void relax(const Tensor& self, const Tensor& out) {
  floating(self, "relax", [&](auto zero) {
    using T = decltype(zero);
    relax_line(self.const_data_ptr<T>(), out.mutable_data_ptr<T>(), self.numel(), self.stride(0),
               out.stride(0));
  });
}

// B42
void last_sums(const Tensor& self, const Tensor& out, bool broken) {
  const Tensor flat = broken ? self : self.contiguous();
  const int64_t rows = self.size(0), columns = self.size(1), down = flat.stride(0);
  floating(self, "last_sums", [&](auto zero) {
    using T = decltype(zero);
    const T* p = flat.const_data_ptr<T>();
    T* q = out.mutable_data_ptr<T>();
    for (int64_t i = 0; i < rows; ++i) {
      T sum = 0;
      for (int64_t j = 0; j < columns; ++j) sum += p[i * down + j];
      q[i] = sum;
    }
  });
}

// B44
Tensor pooled(const Tensor& x, int64_t size) {
  OPGEN_CHECK(x.dim() == 1, "pooled: expected a vector");
  check_real(x, "pooled");
  OPGEN_CHECK(size > 0, "pooled: expected a positive size");
  const int64_t count = x.size(0) / size;
  return x.narrow(0, 0, count * size).reshape({count, size}).mean(1);
}
Tensor pooled_described(const Tensor& x, const c10::SymInt& size, bool up) {
  OPGEN_CHECK(x.dim() == 1, "pooled: expected a vector");
  check_real(x, "pooled");
  OPGEN_SYM_CHECK(size.sym_gt(0), "pooled: expected a positive size");
  return opgen::empty_symint({(x.sym_size(0) + (up ? size - 1 : c10::SymInt(0))) / size},
                             x.options());
}

// B50
Tensor flags(const Tensor& x) {
  const Tensor is = x.ne(0).contiguous();
  return x.scalar_type() == at::kByte ? is.to(at::kByte) : is;
}
Tensor flags_described(const Tensor& x, bool bytes) {
  const bool keeps = bytes && x.scalar_type() == at::kByte;
  return opgen::empty_symint(x.sym_sizes(), x.options().dtype(keeps ? at::kByte : at::kBool));
}

}  // namespace

OPGEN_KERNEL(columns_cpu)(const Tensor& x) {
  return columns(x);
}
OPGEN_KERNEL(columns_ok_cpu)(const Tensor& x) {
  return columns(x);
}
OPGEN_KERNEL(columns_meta)(const Tensor& x) {
  check_matrix(x, "columns");
  return opgen::empty_symint(x.sym_sizes(), x.options());
}
OPGEN_KERNEL(columns_ok_meta)(const Tensor& x) {
  check_matrix(x, "columns");
  return opgen::empty_symint({x.sym_size(1), x.sym_size(0)}, x.options()).t();
}

OPGEN_KERNEL(windows_cpu)(const Tensor& x, int64_t size, int64_t step) {
  return windows(x, size, step);
}
OPGEN_KERNEL(windows_ok_cpu)(const Tensor& x, int64_t size, int64_t step) {
  return windows(x, size, step);
}
OPGEN_KERNEL(windows_meta_symint)(const Tensor& x, c10::SymInt size, c10::SymInt step) {
  return windows_described(x, size, step, 0);
}
OPGEN_KERNEL(windows_ok_meta_symint)(const Tensor& x, c10::SymInt size, c10::SymInt step) {
  return windows_described(x, size, step, 1);
}

// A35 to A39, B46 to B48: the defects are in torch_derivatives.yaml.
OPGEN_META_FUNC(square)(const Tensor& self) {
  build_unary_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(square_ok)(const Tensor& self) {
  build_unary_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(quarter)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(quarter_ok)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(gate)(const Tensor& self, const Tensor& scale) {
  build_binary_op(maybe_get_output(), self, scale);
}
OPGEN_META_FUNC(gate_ok)(const Tensor& self, const Tensor& scale) {
  build_binary_op(maybe_get_output(), self, scale);
}
OPGEN_META_FUNC(bend)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(bend_ok)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(bend_backward)(const Tensor& grad_output, const Tensor& self) {
  build_binary_float_op(maybe_get_output(), grad_output, self);
}
OPGEN_META_FUNC(bend_ok_backward)(const Tensor& grad_output, const Tensor& self) {
  build_binary_float_op(maybe_get_output(), grad_output, self);
}
OPGEN_META_FUNC(rotor)(const Tensor& self, const Tensor& other) {
  build_binary_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC(rotor_ok)(const Tensor& self, const Tensor& other) {
  build_binary_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC(sq_diff)(const Tensor& self, const Tensor& other) {
  build_binary_float_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC(sq_diff_ok)(const Tensor& self, const Tensor& other) {
  build_binary_float_op(maybe_get_output(), self, other);
}
OPGEN_META_FUNC(logish)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(logish_ok)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(swishy)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(swishy_ok)(const Tensor& self) {
  build_unary_float_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(swishy_backward)(const Tensor& grad_output, const Tensor& self) {
  build_binary_float_op(maybe_get_output(), grad_output, self);
}
OPGEN_META_FUNC(swishy_ok_backward)(const Tensor& grad_output, const Tensor& self) {
  build_binary_float_op(maybe_get_output(), grad_output, self);
}

namespace {

template <class Iterator>
void square_loop(Iterator& iterator) {
  OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX(iterator.common_dtype(), "square", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t x) -> scalar_t { return x * x; });
  });
}
template <class Iterator>
void quarter_loop(Iterator& iterator) {
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES(iterator.common_dtype(), "quarter", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t x) -> scalar_t { return x / scalar_t(4); });
  });
}
template <class Iterator>
void product_loop(Iterator& iterator) {
  OPGEN_DISPATCH_ALL_TYPES_AND_COMPLEX(iterator.common_dtype(), "product", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t a, scalar_t b) -> scalar_t { return a * b; });
  });
}
template <class Iterator>
void bend_loop(Iterator& iterator) {
  OPGEN_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "bend", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t x) -> scalar_t { return x * x * x; });
  });
}
template <class Iterator>
void bend_backward_loop(Iterator& iterator) {
  OPGEN_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "bend_backward", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t g, scalar_t x) -> scalar_t { return 3 * g * x * x; });
  });
}
template <class Iterator>
void sq_diff_loop(Iterator& iterator) {
  OPGEN_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "sq_diff", [&] {
    opgen::cpu_kernel(iterator,
                      [](scalar_t a, scalar_t b) -> scalar_t { return (a - b) * (a - b); });
  });
}
template <class Iterator>
void logish_loop(Iterator& iterator) {
  OPGEN_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "logish", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t x) -> scalar_t { return std::log1p(x * x); });
  });
}
template <class Iterator>
void swishy_loop(Iterator& iterator) {
  OPGEN_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "swishy", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t x) -> scalar_t { return x / (1 + std::exp(-x)); });
  });
}
template <class Iterator>
void swishy_backward_loop(Iterator& iterator) {
  OPGEN_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "swishy_backward", [&] {
    opgen::cpu_kernel(iterator, [](scalar_t g, scalar_t x) -> scalar_t {
      const scalar_t s = 1 / (1 + std::exp(-x));
      return g * s * (1 + x * (1 - s));
    });
  });
}

}  // namespace

OPGEN_IMPL_FUNC(square_out)(const Tensor&, const Tensor&) {
  square_loop(*this);
}
OPGEN_IMPL_FUNC(square_ok_out)(const Tensor&, const Tensor&) {
  square_loop(*this);
}
OPGEN_IMPL_FUNC(quarter_out)(const Tensor&, const Tensor&) {
  quarter_loop(*this);
}
OPGEN_IMPL_FUNC(quarter_ok_out)(const Tensor&, const Tensor&) {
  quarter_loop(*this);
}
OPGEN_IMPL_FUNC(gate_out)(const Tensor&, const Tensor&, const Tensor&) {
  product_loop(*this);
}
OPGEN_IMPL_FUNC(gate_ok_out)(const Tensor&, const Tensor&, const Tensor&) {
  product_loop(*this);
}
OPGEN_IMPL_FUNC(rotor_out)(const Tensor&, const Tensor&, const Tensor&) {
  product_loop(*this);
}
OPGEN_IMPL_FUNC(rotor_ok_out)(const Tensor&, const Tensor&, const Tensor&) {
  product_loop(*this);
}
OPGEN_IMPL_FUNC(bend_out)(const Tensor&, const Tensor&) {
  bend_loop(*this);
}
OPGEN_IMPL_FUNC(bend_ok_out)(const Tensor&, const Tensor&) {
  bend_loop(*this);
}
OPGEN_IMPL_FUNC(bend_backward_out)(const Tensor&, const Tensor&, const Tensor&) {
  bend_backward_loop(*this);
}
OPGEN_IMPL_FUNC(bend_ok_backward_out)(const Tensor&, const Tensor&, const Tensor&) {
  bend_backward_loop(*this);
}
OPGEN_IMPL_FUNC(sq_diff_out)(const Tensor&, const Tensor&, const Tensor&) {
  sq_diff_loop(*this);
}
OPGEN_IMPL_FUNC(sq_diff_ok_out)(const Tensor&, const Tensor&, const Tensor&) {
  sq_diff_loop(*this);
}
OPGEN_IMPL_FUNC(logish_out)(const Tensor&, const Tensor&) {
  logish_loop(*this);
}
OPGEN_IMPL_FUNC(logish_ok_out)(const Tensor&, const Tensor&) {
  logish_loop(*this);
}
OPGEN_IMPL_FUNC(swishy_out)(const Tensor&, const Tensor&) {
  swishy_loop(*this);
}
OPGEN_IMPL_FUNC(swishy_ok_out)(const Tensor&, const Tensor&) {
  swishy_loop(*this);
}
OPGEN_IMPL_FUNC(swishy_backward_out)(const Tensor&, const Tensor&, const Tensor&) {
  swishy_backward_loop(*this);
}
OPGEN_IMPL_FUNC(swishy_ok_backward_out)(const Tensor&, const Tensor&, const Tensor&) {
  swishy_backward_loop(*this);
}

// A40
OPGEN_META_FUNC(batchy)(const Tensor& self) {
  if (self.dim() > 0 && self.size(0) == 5) {
    set_output_contiguous(0, self.sizes(), self.options());
  } else {
    set_output_contiguous(0, self.sizes(), self.options());
  }
}
OPGEN_META_FUNC(batchy_ok)(const Tensor& self) {
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_IMPL_FUNC(batchy_out)(const Tensor& self, const Tensor& out) {
  written(out).copy_(self);
}
OPGEN_IMPL_FUNC(batchy_ok_out)(const Tensor& self, const Tensor& out) {
  written(out).copy_(self);
}

// A41
OPGEN_META_FUNC(matched)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() == 1 && other.dim() == 1, "matched: expected vectors");
  OPGEN_CHECK(self.scalar_type() == other.scalar_type(), "matched: expected one dtype");
  OPGEN_CHECK(self.size(0) == other.size(0), "matched: expected vectors of one size");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_META_FUNC(matched_ok)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() == 1 && other.dim() == 1, "matched: expected vectors");
  OPGEN_CHECK(self.scalar_type() == other.scalar_type(), "matched: expected one dtype");
  OPGEN_SYM_CHECK(opgen::sym_eq(self.size(0), other.size(0)),
                  "matched: expected vectors of one size");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_IMPL_FUNC(matched_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  at::mul_out(written(out), self, other);
}
OPGEN_IMPL_FUNC(matched_ok_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  at::mul_out(written(out), self, other);
}

OPGEN_META_FUNC(prefix_max)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "prefix_max: expected a vector");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_META_FUNC(prefix_max_ok)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "prefix_max: expected a vector");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_IMPL_FUNC(prefix_max_out)(const Tensor& self, const Tensor& out) {
  prefix_max(self, out, 1);
}
OPGEN_IMPL_FUNC(prefix_max_ok_out)(const Tensor& self, const Tensor& out) {
  check_apart(self, out);
  prefix_max(self, out, self.stride(0));
}

OPGEN_META_FUNC(fan_out)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "fan_out: expected a vector");
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_META_FUNC(fan_out_ok)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "fan_out: expected a vector");
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(fan_out_out)(const Tensor& self, const Tensor& out) {
  fan_out(self, out, 1);
}
OPGEN_IMPL_FUNC(fan_out_ok_out)(const Tensor& self, const Tensor& out) {
  check_apart(self, out);
  fan_out(self, out, out.stride(0));
}

OPGEN_META_FUNC(relax)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "relax: expected a vector");
  build_unary_op(maybe_get_output(), self);
}
OPGEN_META_FUNC(relax_ok)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "relax: expected a vector");
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(relax_out)(const Tensor& self, const Tensor& out) {
  relax(self, out);
}
OPGEN_IMPL_FUNC(relax_ok_out)(const Tensor& self, const Tensor& out) {
  opgen::assert_no_internal_overlap(out);
  relax(self.clone(), out);
}

// A45
OPGEN_META_FUNC(first_kind)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() == 1 && other.dim() == 1, "first_kind: expected vectors");
  OPGEN_SYM_CHECK(opgen::sym_eq(self.size(0), other.size(0)), "first_kind: expected one size");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_META_FUNC(first_kind_ok)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() == 1 && other.dim() == 1, "first_kind: expected vectors");
  OPGEN_SYM_CHECK(opgen::sym_eq(self.size(0), other.size(0)), "first_kind: expected one size");
  set_output_contiguous(
      0, self.sizes(),
      self.options().dtype(opgen::promote_types(self.scalar_type(), other.scalar_type())));
}
OPGEN_IMPL_FUNC(first_kind_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  written(out).copy_(at::mul(self, other));
}
OPGEN_IMPL_FUNC(first_kind_ok_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  written(out).copy_(at::mul(self, other));
}

// A46
OPGEN_KERNEL(maybe_scale_cpu)(const Tensor& x, double factor) {
  check_real(x, "maybe_scale");
  return factor == 1 ? x : (x.contiguous() * factor).contiguous();
}
OPGEN_KERNEL(maybe_scale_ok_cpu)(const Tensor& x, double factor) {
  check_real(x, "maybe_scale");
  return (x.contiguous() * factor).contiguous();
}
OPGEN_KERNEL(maybe_scale_meta)(const Tensor& x, double factor) {
  check_real(x, "maybe_scale");
  if (factor == 1) return x;
  return opgen::empty_symint(x.sym_sizes(), x.options());
}
OPGEN_KERNEL(maybe_scale_ok_meta)(const Tensor& x, double) {
  check_real(x, "maybe_scale");
  return opgen::empty_symint(x.sym_sizes(), x.options());
}

// B41
namespace {

Tensor thirds(const Tensor& x, double factor) {
  check_real(x, "thirds");
  return (x.contiguous() * (factor / 3)).contiguous();
}
Tensor& thirds_out(const Tensor& x, double factor, Tensor& out) {
  check_real(x, "thirds");
  OPGEN_CHECK(out.scalar_type() == x.scalar_type(), "thirds: expected out of dtype ",
              x.scalar_type());
  const Tensor result = thirds(x, factor);
  opgen::resize_output(out, x.sizes());
  opgen::assert_no_internal_overlap(out);
  opgen::assert_no_partial_overlap(out, x);
  return out.copy_(result);
}
Tensor thirds_described(const Tensor& x) {
  check_real(x, "thirds");
  return opgen::empty_symint(x.sym_sizes(), x.options());
}
Tensor& thirds_out_described(const Tensor& x, Tensor& out) {
  check_real(x, "thirds");
  OPGEN_CHECK(out.scalar_type() == x.scalar_type(), "thirds: expected out of dtype ",
              x.scalar_type());
  opgen::resize_output_symint(out, x.sym_sizes());
  return out;
}

}  // namespace
OPGEN_KERNEL(thirds_cpu)(const Tensor& x, double factor) {
  return thirds(x, factor);
}
OPGEN_KERNEL(thirds_ok_cpu)(const Tensor& x, double factor) {
  return thirds(x, factor);
}
OPGEN_KERNEL(thirds_meta)(const Tensor& x, double) {
  return thirds_described(x);
}
OPGEN_KERNEL(thirds_ok_meta)(const Tensor& x, double) {
  return thirds_described(x);
}
OPGEN_KERNEL(thirds_out_cpu)(const Tensor& x, double, Tensor& out) {
  return thirds_out(x, 1, out);
}
OPGEN_KERNEL(thirds_ok_out_cpu)(const Tensor& x, double factor, Tensor& out) {
  return thirds_out(x, factor, out);
}
OPGEN_KERNEL(thirds_out_meta)(const Tensor& x, double, Tensor& out) {
  return thirds_out_described(x, out);
}
OPGEN_KERNEL(thirds_ok_out_meta)(const Tensor& x, double, Tensor& out) {
  return thirds_out_described(x, out);
}

OPGEN_META_FUNC(last_sums)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 2, "last_sums: expected a matrix");
  set_output_contiguous(0, {self.size(0)}, self.options());
}
OPGEN_META_FUNC(last_sums_ok)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 2, "last_sums: expected a matrix");
  set_output_contiguous(0, {self.size(0)}, self.options());
}
OPGEN_IMPL_FUNC(last_sums_out)(const Tensor& self, const Tensor& out) {
  last_sums(self, out, true);
}
OPGEN_IMPL_FUNC(last_sums_ok_out)(const Tensor& self, const Tensor& out) {
  last_sums(self, out, false);
}

// B43: `other` is broadcast along the first or the last dimension of a matrix.
OPGEN_META_FUNC(lead_add)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() == 2 && (other.dim() == 1 || other.dim() == 2),
              "lead_add: expected a matrix, and a matrix or a vector");
  OPGEN_CHECK(self.scalar_type() == other.scalar_type(), "lead_add: expected one dtype");
  if (other.dim() == 2) OPGEN_SYM_CHECK(opgen::sym_eq(self.size(1), other.size(1)), "lead_add");
  OPGEN_SYM_CHECK(opgen::sym_eq(self.size(0), other.size(0)), "lead_add: expected one size");
  set_output_contiguous(0, self.sizes(), self.options());
}
OPGEN_META_FUNC(lead_add_ok)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.scalar_type() == other.scalar_type(), "lead_add: expected one dtype");
  build_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(lead_add_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  at::add_out(written(out), self, other.dim() == 1 ? other.unsqueeze(1) : other);
}
OPGEN_IMPL_FUNC(lead_add_ok_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  at::add_out(written(out), self, other);
}

OPGEN_KERNEL(pooled_cpu)(const Tensor& x, int64_t size) {
  return pooled(x, size);
}
OPGEN_KERNEL(pooled_ok_cpu)(const Tensor& x, int64_t size) {
  return pooled(x, size);
}
OPGEN_KERNEL(pooled_meta_symint)(const Tensor& x, c10::SymInt size) {
  return pooled_described(x, size, true);
}
OPGEN_KERNEL(pooled_ok_meta_symint)(const Tensor& x, c10::SymInt size) {
  return pooled_described(x, size, false);
}

// B45
OPGEN_META_FUNC(ratio)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() == 1 && other.dim() == 1, "ratio: expected vectors");
  OPGEN_SYM_CHECK(opgen::sym_eq(self.size(0), other.size(0)), "ratio: expected one size");
  auto dtype = opgen::promote_types(self.scalar_type(), other.scalar_type());
  if (opgen::isIntegralType(dtype, true)) dtype = at::kDouble;
  set_output_contiguous(0, self.sizes(), self.options().dtype(dtype));
}
OPGEN_META_FUNC(ratio_ok)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() == 1 && other.dim() == 1, "ratio: expected vectors");
  OPGEN_SYM_CHECK(opgen::sym_eq(self.size(0), other.size(0)), "ratio: expected one size");
  auto dtype = opgen::promote_types(self.scalar_type(), other.scalar_type());
  if (opgen::isIntegralType(dtype, true)) dtype = opgen::get_default_dtype();
  set_output_contiguous(0, self.sizes(), self.options().dtype(dtype));
}
OPGEN_IMPL_FUNC(ratio_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  written(out).copy_(at::div(self, other));
}
OPGEN_IMPL_FUNC(ratio_ok_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  written(out).copy_(at::div(self, other));
}

// B49
OPGEN_META_FUNC(evenly)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "evenly: expected a vector");
  if (self.size(0) % 2 == 0) {
    set_output_contiguous(0, {self.size(0) / 2}, self.options());
  } else {
    set_output_contiguous(0, {(self.size(0) + 1) / 2}, self.options());
  }
}
OPGEN_META_FUNC(evenly_ok)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "evenly: expected a vector");
  set_output_contiguous(0, {(self.size(0) + 1) / 2}, self.options());
}
OPGEN_IMPL_FUNC(evenly_out)(const Tensor& self, const Tensor& out) {
  written(out).copy_(self.slice(0, 0, self.size(0), 2));
}
OPGEN_IMPL_FUNC(evenly_ok_out)(const Tensor& self, const Tensor& out) {
  written(out).copy_(self.slice(0, 0, self.size(0), 2));
}

OPGEN_KERNEL(flags_cpu)(const Tensor& x) {
  return flags(x);
}
OPGEN_KERNEL(flags_ok_cpu)(const Tensor& x) {
  return flags(x);
}
OPGEN_KERNEL(flags_meta)(const Tensor& x) {
  return flags_described(x, false);
}
OPGEN_KERNEL(flags_ok_meta)(const Tensor& x) {
  return flags_described(x, true);
}
