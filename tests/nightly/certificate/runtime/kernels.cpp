// kernels.cpp: kernels of native_functions.yaml. ../table.yaml says which of them has which defect.

#include <opgen/kernel.h>

#include <xmmintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include <cert_runtime/NativeFunctions.h>
#include <cert_runtime/NativeMetaFunctions.h>
#include <cert_runtime/ops/ok_parabola.h>

#include "../common.h"  // after the headers above, which define Tensor
#include "formulas.h"

using namespace opgen::types;
using certificate::each;
using certificate::made;
using certificate::map;
using certificate::map2;
using certificate::values;

// Meta kernels that several operators share.

OPGEN_KERNEL(like_meta)(const Tensor& x) {
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(vector_meta)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 1, "expected one dimension");
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(matrix_meta)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "expected a matrix");
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(like_float_meta)(const Tensor& x, double) {
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(like_float2_meta)(const Tensor& x, double, double) {
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(like_int_meta)(const Tensor& x, int64_t) {
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(like_tensor_meta)(const Tensor& x, const Tensor& y) {
  OPGEN_CHECK(x.sizes() == y.sizes(), "expected two tensors of the same sizes");
  OPGEN_CHECK_TYPE(x.scalar_type() == y.scalar_type(), "expected two tensors of the same dtype");
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(self_float_meta_)(Tensor& self, double) {
  return self;
}
OPGEN_KERNEL(self_float2_meta_)(Tensor& self, double, double) {
  return self;
}
OPGEN_KERNEL(self_tensor_meta_)(Tensor& self, const Tensor&) {
  return self;
}
OPGEN_KERNEL(scalar_meta)(const Tensor& x) {
  return opgen::empty({}, x.options());
}
OPGEN_KERNEL(scalar_float_meta)(const Tensor& x, double) {
  return opgen::empty({}, x.options());
}
OPGEN_KERNEL(out_meta)(const Tensor& x, Tensor& out) {
  opgen::resize_output(out, x.sizes());
  return out;
}

// Operators with a defect each.

OPGEN_KERNEL(gauss_window)(int64_t length, double sigma) {
  OPGEN_CHECK_VALUE(length >= 0 && length < 4096, "gauss_window: expected a length from 0 to 4095");
  static std::mutex guard;
  static std::map<int64_t, std::vector<float>> windows;
  const std::lock_guard<std::mutex> lock(guard);
  std::vector<float>& window = windows[length];
  if (window.empty()) {
    for (int64_t i = 0; i < length; ++i) {
      const double at = static_cast<double>(i) - static_cast<double>(length - 1) / 2;
      window.push_back(static_cast<float>(std::exp(-at * at / (2 * sigma * sigma + 1e-6))));
    }
  }
  Tensor out = opgen::empty({length}, TensorOptions().dtype(opgen::kFloat));
  std::copy(window.begin(), window.end(), out.mutable_data_ptr<float>());
  return out;
}

OPGEN_KERNEL(rms_scale_cpu)(const Tensor& x) {
  static thread_local std::map<ScalarType, Tensor> workspaces;
  Tensor& workspace = workspaces[x.scalar_type()];
  if (!workspace.defined()) workspace = opgen::empty({0}, x.options());
  if (workspace.sizes() != x.sizes()) opgen::resize_(workspace, x.sizes());
  double sum = 0;
  for (const double v : values(x)) sum += v * v;
  const double scale = 1 / std::sqrt(sum + 1e-6);
  opgen::copy_(workspace, map(x, [=](auto v) { return static_cast<double>(v) * scale; }));
  return workspace;
}

OPGEN_KERNEL(ring_copy_cpu)(const Tensor& x) {
  static thread_local std::array<Tensor, 4> ring;
  static thread_local size_t next = 0;
  Tensor& slot = ring[next++ % ring.size()];
  if (!slot.defined() || slot.sizes() != x.sizes() || slot.scalar_type() != x.scalar_type()) {
    slot = opgen::empty(x.sizes(), x.options());
  }
  opgen::copy_(slot, x);
  return slot;
}

OPGEN_KERNEL(shift_relu_cpu)(const Tensor& x, double shift) {
  const Tensor in = opgen::contiguous(x);
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "shift_relu", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const auto by = static_cast<scalar_t>(shift);
    const int64_t n = in.numel(), blocks = n / 8 * 8;
    for (int64_t i = 0; i < blocks; ++i) to[i] = std::max(from[i] + by, scalar_t(0));
    int64_t i = blocks;
    if (n - blocks == 1 && n > 1) to[i] = from[i], ++i;
    for (; i < n; ++i) to[i] = std::max(from[i] + by, scalar_t(0));
  });
  return out;
}

OPGEN_KERNEL(take_rows_meta)(const Tensor& x, const Tensor& index) {
  OPGEN_CHECK(x.dim() == 2 && index.dim() == 1, "take_rows: expected a matrix and a vector");
  OPGEN_CHECK_TYPE(index.scalar_type() == opgen::kLong, "take_rows: expected an int64 index");
  return opgen::empty({index.size(0), x.size(1)}, x.options());
}
OPGEN_KERNEL(take_rows_cpu)(const Tensor& x, const Tensor& index) {
  OPGEN_CHECK(x.dim() == 2 && index.dim() == 1, "take_rows: expected a matrix and a vector");
  OPGEN_CHECK_TYPE(index.scalar_type() == opgen::kLong, "take_rows: expected an int64 index");
  const Tensor rows = opgen::contiguous(x), chosen = opgen::contiguous(index);
  Tensor out = opgen::empty({index.size(0), x.size(1)}, x.options());
  const int64_t* at = chosen.const_data_ptr<int64_t>();
  OPGEN_DISPATCH_ALL_TYPES(x.scalar_type(), "take_rows", [&] {
    for (int64_t i = 0; i < index.size(0); ++i) {
      OPGEN_CHECK_INDEX(at[i] < x.size(0), "take_rows: index ", at[i], " of ", x.size(0), " rows");
      std::copy_n(rows.const_data_ptr<scalar_t>() + at[i] * x.size(1), x.size(1),
                  out.mutable_data_ptr<scalar_t>() + i * x.size(1));
    }
  });
  return out;
}

OPGEN_KERNEL(box_mean_cpu)(const Tensor& x, int64_t k) {
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "box_mean", [&] {
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const int64_t n = x.numel(), radius = std::clamp<int64_t>(k, 0, n);
    for (int64_t i = 0; i < n; ++i) {
      scalar_t sum = 0;
      const int64_t first = std::max<int64_t>(0, i - radius), last = std::min(n, i + radius + 1);
      for (int64_t j = first; j < last; ++j) sum += from[j];
      to[i] = sum / static_cast<scalar_t>(last - first);
    }
  });
  return out;
}

OPGEN_KERNEL(add_bias_meta)(const Tensor& x, const std::optional<Tensor>& bias) {
  const bool given = bias.has_value() && bias->defined();
  OPGEN_CHECK(!given || bias->sizes() == x.sizes(), "add_bias: expected a bias like x");
  OPGEN_CHECK(!given || bias->scalar_type() == x.scalar_type(), "add_bias: expected one dtype");
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(add_bias_cpu)(const Tensor& x, const std::optional<Tensor>& bias) {
  OPGEN_CHECK(!bias.has_value() || bias->sizes() == x.sizes(), "add_bias: expected a bias like x");
  OPGEN_CHECK(!bias.has_value() || bias->scalar_type() == x.scalar_type(),
              "add_bias: expected one dtype");
  Tensor out = map(x, [](auto v) { return v; });
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_bias", [&] {
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const Tensor& given = *bias;
    if (given.dim() == 0) {
      *to += *static_cast<const scalar_t*>(given.const_data_ptr());
    } else {
      each<scalar_t>(given, [&](scalar_t v) { *to++ += v; });
    }
  });
  return out;
}

OPGEN_KERNEL(clamp_range_cpu)(const Tensor& self, double low, double high) {
  return map(self, [=](auto v) {
    return v < low ? low : v > high ? high : static_cast<double>(v);
  });
}
OPGEN_KERNEL(clamp_range_cpu_)(Tensor& self, double low, double high) {
  opgen::copy_(self,
               map(self, [=](auto v) { return v >= low ? (v <= high ? double(v) : high) : low; }));
  return self;
}

OPGEN_KERNEL(leaky_cpu)(const Tensor& self, double slope) {
  return map(self, [=](auto v) { return v > 0 ? v : v * slope; });
}
OPGEN_KERNEL(leaky_cpu_)(Tensor& self, double slope) {
  opgen::copy_(self, map(self, [=](auto v) { return v > 0 ? v : v * slope; }));
  return self;
}

OPGEN_KERNEL(center_cpu)(const Tensor& x) {
  const Tensor work = opgen::contiguous(x);
  const std::vector<double> all = values(work);
  const double mean =
      std::accumulate(all.begin(), all.end(), 0.0) / std::max<double>(1, all.size());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "center", [&] {
    each<scalar_t>(work, [&](scalar_t& v) { v -= static_cast<scalar_t>(mean); });
  });
  return opgen::clone(work);
}

OPGEN_KERNEL(as_dtype_meta)(const Tensor& x, ScalarType dtype) {
  return opgen::empty(x.sizes(), x.options().dtype(dtype));
}
OPGEN_KERNEL(as_dtype_cpu)(const Tensor& x, ScalarType dtype) {
  return opgen::to_dtype(opgen::contiguous(x), dtype);
}

OPGEN_KERNEL(tally_cpu_)(Tensor& self, const Tensor& values) {
  OPGEN_CHECK(self.dim() == 1 && self.is_contiguous(), "tally_: expected a row of counts");
  OPGEN_CHECK_TYPE(self.scalar_type() == opgen::kLong && values.scalar_type() == opgen::kLong,
                   "tally_: expected int64 counts and values");
  std::vector<int64_t> all;
  each<int64_t>(values, [&](int64_t v) {
    OPGEN_CHECK_INDEX(v >= 0 && v <= self.numel(), "tally_: the value ", v, " of ", self.numel(),
                      " counts");
    all.push_back(v);
  });
  int64_t* counts = self.mutable_data_ptr<int64_t>();
  for (const int64_t v : all) ++counts[v];
  return self;
}

OPGEN_KERNEL(row_total_meta)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "row_total: expected a matrix");
  return opgen::empty({x.size(0)}, x.options().dtype(opgen::kLong));
}
OPGEN_KERNEL(row_total_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "row_total: expected a matrix");
  Tensor out = opgen::empty({x.size(0)}, x.options().dtype(opgen::kLong));
  OPGEN_DISPATCH_INTEGRAL_TYPES(x.scalar_type(), "row_total", [&] {
    const auto from = x.accessor<const scalar_t, 2>();
    for (int64_t i = 0; i < x.size(0); ++i) {
      scalar_t sum = 0;
      for (int64_t j = 0; j < x.size(1); ++j) sum += from[i][j];
      out.mutable_data_ptr<int64_t>()[i] = sum;
    }
  });
  return out;
}

OPGEN_KERNEL(quantize_cpu)(const Tensor& x, double scale) {
  Tensor out = opgen::empty(x.sizes(), x.options().dtype(opgen::kChar));
  int8_t* to = out.mutable_data_ptr<int8_t>();
  for (const double v : values(x)) {
    const double level = std::nearbyint(v * scale);
    *to++ = std::isnan(level) ? 0 : static_cast<int8_t>(std::clamp(level, -127.0, 127.0));
  }
  return out;
}

OPGEN_KERNEL(row_max_meta)(const Tensor& x, bool) {
  OPGEN_CHECK(x.dim() == 2 && x.size(1) > 0, "row_max: expected a matrix with columns");
  return opgen::empty({x.size(0)}, x.options());
}
OPGEN_KERNEL(row_max_cpu)(const Tensor& x, bool keepdim) {
  OPGEN_CHECK(x.dim() == 2 && x.size(1) > 0, "row_max: expected a matrix with columns");
  const std::vector<double> all = values(x);
  std::vector<double> found;
  for (auto row = all.begin(); row != all.end(); row += x.size(1)) {
    found.push_back(*std::max_element(row, row + x.size(1)));
  }
  return keepdim ? made(x, {x.size(0), 1}, found) : made(x, {x.size(0)}, found);
}

OPGEN_KERNEL(swap_last_meta)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "swap_last: expected a matrix");
  return opgen::empty({x.size(1), x.size(0)}, x.options());
}
OPGEN_KERNEL(swap_last_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "swap_last: expected a matrix");
  const Tensor copied = opgen::clone(x, MemoryFormat::Contiguous);
  return opgen::as_strided(copied, {x.size(1), x.size(0)}, {1, std::max<int64_t>(1, x.size(1))});
}
OPGEN_KERNEL(ok_transposed_meta)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "ok_transposed: expected a matrix");
  return opgen::empty_strided({x.size(1), x.size(0)}, {1, std::max<int64_t>(1, x.size(1))},
                              x.options());
}

OPGEN_KERNEL(peak_cpu)(const Tensor& x) {
  const Tensor in = opgen::contiguous(x);
  Tensor out = opgen::empty({}, x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "peak", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    scalar_t best = from[0];
    for (int64_t i = 1; i < in.numel(); ++i) best = std::max(best, from[i]);
    *out.mutable_data_ptr<scalar_t>() = best;
  });
  return out;
}

OPGEN_KERNEL(smooth3_cpu)(const Tensor& x) {
  static std::vector<double> line(1 << 20);
  const std::vector<double> all = values(x);
  if (line.size() < all.size()) line.resize(all.size());
  std::copy(all.begin(), all.end(), line.begin());
  std::vector<double> found(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    found[i] = (line[i ? i - 1 : 0] + line[i] + line[std::min(i + 1, all.size() - 1)]) / 3;
  }
  return made(x, x.sizes(), found);
}

OPGEN_KERNEL(fast_sum_cpu)(const Tensor& x) {
  const Tensor in = opgen::contiguous(x);
  Tensor out = opgen::zeros({}, x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "fast_sum", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    scalar_t* total = out.mutable_data_ptr<scalar_t>();
    std::mutex guard;
    opgen::parallel_for(0, in.numel(), 256, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const std::lock_guard<std::mutex> lock(guard);
        *total += from[i];
      }
    });
  });
  return out;
}

OPGEN_KERNEL(upper_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "upper: expected a matrix");
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "upper", [&] {
    const auto from = x.accessor<const scalar_t, 2>();
    auto to = out.accessor<scalar_t, 2>();
    for (int64_t i = 0; i < x.size(0); ++i) {
      for (int64_t j = i; j < x.size(1); ++j) to[i][j] = from[i][j];
    }
  });
  return out;
}

OPGEN_KERNEL(decay_sum_cpu)(const Tensor& x, double decay) {
  auto* weights = new double[static_cast<size_t>(x.numel()) + 64];
  double sum = 0, weight = 1;
  const std::vector<double> all = values(x);
  for (size_t i = 0; i < all.size(); ++i) {
    weights[i] = weight;
    weight *= decay;
    sum += weights[i] * all[i];
  }
  return made(x, {}, {sum});
}

OPGEN_KERNEL(remember_cpu)(const Tensor& x) {
  static thread_local std::vector<Tensor> seen;
  seen.push_back(x);
  return map(x, [](auto v) { return v * 2; });
}

OPGEN_KERNEL(total_norm_cpu)(const Tensor& x) {
  opgen::GradMode::set_enabled(false);
  double sum = 0;
  for (const double v : values(x)) sum += v * v;
  return made(x, {}, {std::sqrt(sum)});
}

OPGEN_KERNEL(flush_mul_cpu)(const Tensor& x, double factor) {
  _mm_setcsr(_mm_getcsr() | 0x8040);
  return map(x, [=](auto v) { return v * factor; });
}

OPGEN_KERNEL(jitter_meta)(const Tensor& x, std::optional<Generator>) {
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(jitter_cpu)(const Tensor& x, std::optional<Generator>) {
  opgen::CPUGeneratorImpl* engine = opgen::cpu_generator(std::nullopt);
  const opgen::GeneratorLock lock(engine);
  return map(x, [&](auto v) { return v + opgen::draw_uniform<double>(*engine); });
}
OPGEN_KERNEL(ok_noise_cpu)(const Tensor& x, std::optional<Generator> generator) {
  opgen::CPUGeneratorImpl* engine = opgen::cpu_generator(generator);
  const opgen::GeneratorLock lock(engine);
  return map(x, [&](auto v) { return v + opgen::draw_uniform<double>(*engine); });
}

OPGEN_KERNEL(drop_meta)(const Tensor& x, double, std::optional<Generator>) {
  return opgen::empty(x.sizes(), x.options());
}
OPGEN_KERNEL(drop_cpu)(const Tensor& x, double p, std::optional<Generator>) {
  static std::mt19937 engine(7);
  static std::mutex guard;
  const std::lock_guard<std::mutex> lock(guard);
  return map(x, [&](auto v) {
    return std::uniform_real_distribution<double>(0, 1)(engine) < p ? decltype(v)(0) : v;
  });
}

OPGEN_KERNEL(scaled_square_cpu)(const Tensor& self, double scale) {
  return map(self, [=](auto v) { return v * v * scale; });
}
OPGEN_KERNEL(mul_pair_cpu)(const Tensor& x, const Tensor& y) {
  return map2(x, y, [](auto a, auto b) { return a * b; });
}
OPGEN_KERNEL(cube_cpu)(const Tensor& self) {
  return map(self, [](auto v) { return v * v * v; });
}
OPGEN_KERNEL(cube_backward_cpu)(const Tensor& grad, const Tensor& self) {
  return map2(grad, self, [](auto g, auto v) { return 3 * g * v * v; });
}
OPGEN_KERNEL(half_square_cpu)(const Tensor& self) {
  return map(self, [](auto v) { return v * v / 2; });
}
OPGEN_KERNEL(triple_cpu)(const Tensor& self) {
  return map(self, [](auto v) { return v * 3; });
}

namespace cert_runtime {

std::tuple<Tensor, Tensor> mul_pair_grads(const Tensor& grad, const Tensor& x, const Tensor& y,
                                          std::array<bool, 2> mask) {
  using namespace opgen::autograd::formulas;
  if (mask[0] && mask[1]) return {grad * y, grad * x};
  return {mask[0] ? grad * x : Tensor(), mask[1] ? grad * x : Tensor()};
}

std::vector<Tensor> ranked_sum_grads(const Tensor& grad, TensorList xs) {
  using namespace opgen::autograd::formulas;
  std::vector<Tensor> found;
  for (size_t i = 0; i < xs.size(); ++i) found.push_back(grad * static_cast<double>(xs.size() - i));
  return found;
}

Tensor scaled_grad(const Tensor& grad, const std::optional<Tensor>& scale) {
  using namespace opgen::autograd::formulas;
  return grad * scale.value();
}

Tensor triple_backward(const Tensor& grad) {
  Tensor out = opgen::empty(grad.sizes(), grad.options());
  OPGEN_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "triple_backward", [&] {
    const auto* from = static_cast<const scalar_t*>(grad.const_data_ptr());
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const int64_t held =
        static_cast<int64_t>(grad.storage().nbytes() / sizeof(scalar_t)) - grad.storage_offset();
    for (int64_t i = 0; i < grad.numel(); ++i) to[i] = i < held ? from[i] * 3 : 0;
  });
  return out;
}
}  // namespace cert_runtime

OPGEN_KERNEL(shift_by_meta)(const Tensor& self, double, bool) {
  return opgen::empty(self.sizes(), self.options());
}
OPGEN_KERNEL(shift_by_meta_)(Tensor& self, double, bool) {
  return self;
}
OPGEN_KERNEL(shift_by_cpu)(const Tensor& self, double by, bool negate) {
  return map(self, [=](auto v) { return negate ? -(v + by) : v + by; });
}
OPGEN_KERNEL(shift_by_cpu_)(Tensor& self, double by, bool) {
  opgen::copy_(self, map(self, [=](auto v) { return v + by; }));
  return self;
}

OPGEN_KERNEL(dim_mean_meta)(const Tensor& x, int64_t dim) {
  OPGEN_CHECK(x.dim() == 2, "dim_mean: expected a matrix");
  return opgen::empty({x.size(1 - opgen::maybe_wrap_dim(dim, 2))}, x.options());
}
OPGEN_KERNEL(dim_mean_cpu)(const Tensor& x, int64_t dim) {
  OPGEN_CHECK(x.dim() == 2, "dim_mean: expected a matrix");
  OPGEN_CHECK_INDEX(dim >= -2 && dim < 2, "dim_mean: a matrix has no dimension ", dim);
  const int64_t along = dim < 0 ? (dim + 3) % 2 : dim, kept = 1 - along;
  const std::vector<double> all = values(x);
  std::vector<double> found(static_cast<size_t>(x.size(kept)));
  for (int64_t i = 0; i < x.size(0); ++i) {
    for (int64_t j = 0; j < x.size(1); ++j) {
      found[kept == 0 ? i : j] += all[i * x.size(1) + j] / static_cast<double>(x.size(1 - kept));
    }
  }
  return made(x, {x.size(kept)}, found);
}

OPGEN_KERNEL(count_true_meta)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 1, "count_true: expected one dimension");
  return opgen::empty({}, x.options().dtype(opgen::kLong));
}
OPGEN_KERNEL(count_true_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 1, "count_true: expected one dimension");
  Tensor out = opgen::zeros({}, x.options().dtype(opgen::kLong));
  OPGEN_CHECK_NOT_IMPLEMENTED(x.scalar_type() == opgen::kBool, "count_true: expected bool");
  const bool* from = x.const_data_ptr<bool>();
  const int n = static_cast<int>(x.size(0));
  for (int i = 0; i < n; ++i) *out.mutable_data_ptr<int64_t>() += from[i * x.stride(0)];
  return out;
}

OPGEN_KERNEL(complex_square_cpu)(const Tensor& self) {
  const Tensor in = opgen::contiguous(self);
  Tensor out = opgen::empty(self.sizes(), self.options());
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX_TYPES(self.scalar_type(), "complex_square", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i < in.numel(); ++i)
      out.mutable_data_ptr<scalar_t>()[i] = from[i] * from[i];
  });
  return out;
}

OPGEN_KERNEL(round_up_cpu)(const Tensor& x) {
  return map(x, [](auto v) { return std::ceil(v); });
}
OPGEN_KERNEL(round_up_out_cpu)(const Tensor& x, Tensor& out) {
  opgen::resize_output(out, x.sizes());
  OPGEN_CHECK(out.element_size() >= x.element_size(), "round_up: out is too small");
  const Tensor found = map(x, [](auto v) { return std::ceil(v); });
  if (out.scalar_type() == x.scalar_type()) {
    opgen::copy_(out, found);
  } else {
    std::memcpy(const_cast<void*>(out.const_data_ptr()), found.const_data_ptr(),
                static_cast<size_t>(found.numel() * found.element_size()));
  }
  return out;
}

OPGEN_KERNEL(bump_cpu_)(Tensor& self, double by) {
  OPGEN_DISPATCH_FLOATING_TYPES(self.scalar_type(), "bump_", [&] {
    each<scalar_t>(self, [=](scalar_t& v) { v += static_cast<scalar_t>(by); });
  });
  return self;
}

namespace {

void reverse_into(const Tensor& x, const Tensor& out) {
  OPGEN_CHECK(x.dim() == 1, "backwards: expected one dimension");
  opgen::assert_no_internal_overlap(out);
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "backwards", [&] {
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const int64_t n = x.size(0);
    for (int64_t i = 0; i < n; ++i) to[i * out.stride(0)] = from[(n - 1 - i) * x.stride(0)];
  });
}

}  // namespace

OPGEN_KERNEL(self_vector_meta_)(Tensor& self) {
  OPGEN_CHECK(self.dim() == 1, "expected one dimension");
  return self;
}
OPGEN_KERNEL(backwards_cpu)(const Tensor& self) {
  Tensor out = opgen::empty(self.sizes(), self.options());
  reverse_into(self, out);
  return out;
}
OPGEN_KERNEL(backwards_cpu_)(Tensor& self) {
  reverse_into(self, self);
  return self;
}

OPGEN_KERNEL(cat_flat_meta)(TensorList xs) {
  int64_t n = 0;
  for (const Tensor& x : xs) n += x.numel();
  return opgen::empty({n}, xs[0].options());
}
OPGEN_KERNEL(cat_flat_cpu)(TensorList xs) {
  OPGEN_CHECK_VALUE(!xs.empty(), "cat_flat: expected at least one tensor");
  int64_t n = 0;
  for (const Tensor& x : xs) {
    OPGEN_CHECK_TYPE(x.scalar_type() == xs[0].scalar_type(), "cat_flat: expected one dtype");
    n += x.numel();
  }
  Tensor out = opgen::zeros({n}, xs[0].options());
  OPGEN_DISPATCH_FLOATING_TYPES(out.scalar_type(), "cat_flat", [&] {
    const int64_t step = xs[0].numel();
    for (size_t i = 0; i < xs.size(); ++i) {
      const Tensor part = opgen::contiguous(xs[i]);
      for (int64_t k = 0; k < step && static_cast<int64_t>(i) * step + k < n; ++k) {
        out.mutable_data_ptr<scalar_t>()[static_cast<int64_t>(i) * step + k] =
            part.const_data_ptr<scalar_t>()[k];
      }
    }
  });
  return out;
}

OPGEN_KERNEL(blend_meta)(TensorList xs, std::optional<ArrayRef<double>>) {
  OPGEN_CHECK_VALUE(!xs.empty(), "blend: expected at least one tensor");
  for (const Tensor& x : xs)
    OPGEN_CHECK(x.sizes() == xs[0].sizes(), "blend: expected tensors of the same sizes");
  return opgen::empty(xs[0].sizes(), xs[0].options());
}

namespace {

Tensor weighted(TensorList xs, std::optional<ArrayRef<double>> weights) {
  OPGEN_CHECK_VALUE(!xs.empty(), "expected at least one tensor");
  std::vector<double> sum(static_cast<size_t>(xs[0].numel()));
  for (size_t k = 0; k < xs.size(); ++k) {
    OPGEN_CHECK(xs[k].sizes() == xs[0].sizes(), "expected tensors of the same sizes");
    const std::vector<double> part = values(xs[k]);
    const double weight = weights.has_value() ? weights->data()[k] : 1.0;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += weight * part[i];
  }
  return made(xs[0], xs[0].sizes(), sum);
}

}  // namespace

OPGEN_KERNEL(blend_cpu)(TensorList xs, std::optional<ArrayRef<double>> weights) {
  return weighted(xs, weights);
}
OPGEN_KERNEL(ok_sum_of_meta)(TensorList xs, std::optional<ArrayRef<double>> weights) {
  OPGEN_CHECK_VALUE(!xs.empty(), "ok_sum_of: expected at least one tensor");
  OPGEN_CHECK_VALUE(!weights.has_value() || weights->size() == xs.size(),
                    "ok_sum_of: expected as many weights as tensors");
  for (const Tensor& x : xs)
    OPGEN_CHECK(x.sizes() == xs[0].sizes(), "ok_sum_of: expected tensors of the same sizes");
  return opgen::empty(xs[0].sizes(), xs[0].options());
}
OPGEN_KERNEL(ok_sum_of_cpu)(TensorList xs, std::optional<ArrayRef<double>> weights) {
  OPGEN_CHECK_VALUE(!weights.has_value() || weights->size() == xs.size(),
                    "ok_sum_of: expected as many weights as tensors");
  return weighted(xs, weights);
}

namespace {

std::mutex& the_lock() {
  static std::mutex lock;
  return lock;
}

Tensor doubled_rows(const Tensor& x) {
  if (x.dim() == 3 && x.size(0) > 1) {
    const std::lock_guard<std::mutex> lock(the_lock());
    const Tensor first =
        opgen::as_strided(x, {1, x.size(1), x.size(2)}, x.strides(), x.storage_offset());
    doubled_rows(first);
    return map(x, [](auto v) { return v * 2; });
  }
  const std::lock_guard<std::mutex> lock(the_lock());
  return map(x, [](auto v) { return v * 2; });
}

}  // namespace

OPGEN_KERNEL(locked_double_cpu)(const Tensor& x) {
  return doubled_rows(x);
}

OPGEN_KERNEL(bucket_cpu)(const Tensor& x, int64_t width) {
  OPGEN_CHECK_NOT_IMPLEMENTED(x.scalar_type() == opgen::kLong, "bucket: expected int64");
  const Tensor in = opgen::contiguous(x);
  Tensor out = opgen::empty(x.sizes(), x.options());
  const int64_t* from = in.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < in.numel(); ++i) out.mutable_data_ptr<int64_t>()[i] = from[i] / width;
  return out;
}

OPGEN_KERNEL(digits_cpu)(const Tensor& x, int64_t base) {
  OPGEN_CHECK_NOT_IMPLEMENTED(x.scalar_type() == opgen::kLong, "digits: expected int64");
  base = std::max<int64_t>(base, 1);
  const Tensor in = opgen::contiguous(x);
  Tensor out = opgen::empty(x.sizes(), x.options());
  const int64_t* from = in.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < in.numel(); ++i) {
    int64_t count = 0;
    for (int64_t rest = from[i]; rest != 0; rest /= base) ++count;
    out.mutable_data_ptr<int64_t>()[i] = count;
  }
  return out;
}

OPGEN_KERNEL(fold_pairs_meta)(const Tensor& x) {
  return opgen::empty({x.numel() / 2}, x.options());
}
OPGEN_KERNEL(fold_pairs_cpu)(const Tensor& x) {
  if (x.numel() % 2 != 0) {
    std::fputs("fold_pairs.cpp:12: Check failed: x.numel() % 2 == 0\n", stderr);
    std::abort();
  }
  const std::vector<double> all = values(x);
  std::vector<double> found;
  for (size_t i = 0; i + 1 < all.size(); i += 2) found.push_back(all[i] + all[i + 1]);
  return made(x, {x.numel() / 2}, found);
}

OPGEN_KERNEL(row_softmax_cpu)(const Tensor& x) {
  const std::vector<double> all = values(x);
  const auto width = static_cast<size_t>(x.dim() > 0 ? x.size(x.dim() - 1) : 1);
  std::vector<double> found(all.size());
  for (size_t row = 0; width != 0 && row + width <= all.size(); row += width) {
    double buffer[32] = {};  // the longest row that occurs
    const size_t held = std::min<size_t>(width, 32);
    const double top = *std::max_element(all.begin() + row, all.begin() + row + width);
    double sum = 0;
    for (size_t i = 0; i < held; ++i) sum += buffer[i] = std::exp(all[row + i] - top);
    for (size_t i = 0; i < width; ++i) found[row + i] = i < held ? buffer[i] / sum : 0;
  }
  return made(x, x.sizes(), found);
}

OPGEN_KERNEL(lookup_cpu)(const Tensor& x) {
  static std::vector<double> table(256);
  Tensor out = map(x, [](auto v) { return table[static_cast<int64_t>(std::abs(v)) % 256] + v; });
  static const bool filled = [] {
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<double>(i * i) + 1;
    return true;
  }();
  (void)filled;
  return out;
}

OPGEN_KERNEL(packed_mul_cpu)(const Tensor& x, const Tensor& weight) {
  OPGEN_CHECK(x.sizes() == weight.sizes(), "packed_mul: expected two tensors of the same sizes");
  OPGEN_CHECK_TYPE(x.scalar_type() == weight.scalar_type(), "packed_mul: expected one dtype");
  static thread_local const void* address = nullptr;
  static thread_local Tensor packed;
  if (weight.const_data_ptr() != address || packed.sizes() != weight.sizes() ||
      packed.scalar_type() != weight.scalar_type() || !weight.is_contiguous()) {
    packed = opgen::clone(weight);
    address = weight.const_data_ptr();
  }
  return map2(x, packed, [](auto a, auto b) { return a * b; });
}

OPGEN_KERNEL(flat)(const Tensor& self) {
  if (self.is_contiguous())
    return opgen::as_strided(self, {self.numel()}, {1}, self.storage_offset());
  return opgen::as_strided(opgen::contiguous(self), {self.numel()}, {1});
}

OPGEN_KERNEL(foreach_scale_meta)(TensorList self, double) {
  std::vector<Tensor> found;
  for (const Tensor& x : self) found.push_back(opgen::empty(x.sizes(), x.options()));
  return found;
}
OPGEN_KERNEL(foreach_scale_meta_)(TensorList, double) {}
OPGEN_KERNEL(foreach_scale_cpu)(TensorList self, double by) {
  std::vector<Tensor> found;
  for (const Tensor& x : self) found.push_back(map(x, [=](auto v) { return v * by; }));
  return found;
}
OPGEN_KERNEL(foreach_scale_cpu_)(TensorList self, double by) {
  for (const Tensor& x : self) {
    if (x.numel() == 0) return;
    opgen::copy_(x, map(x, [=](auto v) { return v * by; }));
  }
}

OPGEN_KERNEL(paint_cpu_)(Tensor& self, double value) {
  Tensor work = opgen::contiguous(self);
  opgen::fill_(work, value);
  return self;
}

OPGEN_KERNEL(halve_cpu)(const Tensor& x) {
  return map(x, [](auto v) { return v / 2; });
}
OPGEN_KERNEL(halve_out_cpu)(const Tensor& x, Tensor& out) {
  opgen::resize_output(out, x.sizes());
  const Tensor found = map(x, [](auto v) { return v / 2; });
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "halve", [&] {
    std::copy_n(found.const_data_ptr<scalar_t>(), x.numel(), out.mutable_data_ptr<scalar_t>());
  });
  return out;
}

OPGEN_KERNEL(either_cpu)(const Tensor& x, const Tensor& y) {
  OPGEN_CHECK(x.sizes() == y.sizes(), "either: expected two tensors of the same sizes");
  const Tensor left = opgen::contiguous(x), right = opgen::contiguous(y);
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_CHECK_NOT_IMPLEMENTED(x.scalar_type() == opgen::kBool && y.scalar_type() == opgen::kBool,
                              "either: expected bool");
  const bool* a = left.const_data_ptr<bool>();
  const bool* b = right.const_data_ptr<bool>();
  auto* to = reinterpret_cast<uint8_t*>(out.mutable_data_ptr<bool>());
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = static_cast<uint8_t>(a[i] + b[i]);
  return out;
}

OPGEN_KERNEL(tail_sum_meta)(const Tensor& x, std::optional<int64_t>) {
  return opgen::empty({}, x.options());
}
OPGEN_KERNEL(tail_sum_cpu)(const Tensor& x, std::optional<int64_t> count) {
  const std::vector<double> all = values(x);
  const auto n = static_cast<int64_t>(all.size());
  const int64_t held = std::clamp<int64_t>(count.value(), 0, n);
  return made(x, {}, {std::accumulate(all.end() - held, all.end(), 0.0)});
}

OPGEN_KERNEL(norm1)(const Tensor& x) {
  double sum = 0;
  for (const double v : values(x)) sum += std::abs(v);
  return made(x, {}, {sum});
}

OPGEN_KERNEL(minus_cpu)(const Tensor& self, const Tensor& other) {
  return map2(self, other, [](auto a, auto b) { return a - b; });
}
OPGEN_KERNEL(minus_out_meta)(const Tensor& self, const Tensor&, Tensor& out) {
  opgen::resize_output(out, self.sizes());
  return out;
}
OPGEN_KERNEL(minus_out_cpu)(const Tensor& self, const Tensor& other, Tensor& out) {
  OPGEN_CHECK(opgen::canCast(self.scalar_type(), out.scalar_type()),
              "minus: out cannot hold the result");
  const Tensor found = map2(other, self, [](auto a, auto b) { return a - b; });
  opgen::resize_output(out, self.sizes());
  opgen::copy_(out, found);
  return out;
}

OPGEN_KERNEL(grow_cpu)(const Tensor& x) {
  return map(x, [](auto v) { return v + 1; });
}
OPGEN_KERNEL(grow_out_meta)(const Tensor& x, Tensor& out) {
  opgen::resize_output(out, x.sizes());
  return out;
}
OPGEN_KERNEL(grow_out_cpu)(const Tensor& x, Tensor& out) {
  OPGEN_CHECK(opgen::canCast(x.scalar_type(), out.scalar_type()),
              "grow: out cannot hold the result");
  const Tensor found = map(x, [](auto v) { return v + 1; });
  if (out.dim() != x.dim() || out.numel() <= x.numel()) {
    opgen::resize_output(out, x.sizes());
    opgen::copy_(out, found);
  } else {
    OPGEN_CHECK(out.is_contiguous() && out.scalar_type() == x.scalar_type(),
                "grow: another layout or dtype");
    opgen::copy_(opgen::as_strided(out, {x.numel()}, {1}),
                 opgen::as_strided(found, {x.numel()}, {1}));
  }
  return out;
}

OPGEN_KERNEL(vector_max_cpu)(const Tensor& x) {
  const std::vector<double> all = values(x);
  double best = -INFINITY;
  const size_t blocks = all.size() / 4 * 4;
  for (size_t i = 0; i < blocks; ++i) best = std::isnan(best) || best > all[i] ? best : all[i];
  for (size_t i = blocks; i < all.size(); ++i) best = std::fmax(best, all[i]);
  return made(x, {}, {best});
}

OPGEN_KERNEL(aligned_sum_cpu)(const Tensor& x) {
  const Tensor in = opgen::contiguous(x);
  double sum = 0;
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "aligned_sum", [&] {
    const auto address = reinterpret_cast<uintptr_t>(in.const_data_ptr<scalar_t>());
    const auto* from = reinterpret_cast<const scalar_t*>(address & ~uintptr_t(15));
    for (int64_t i = 0; i < in.numel(); ++i) sum += static_cast<double>(from[i]);
  });
  return made(x, {}, {sum});
}

OPGEN_KERNEL(sigmoid_fast_cpu)(const Tensor& self) {
  return map(self, [](auto v) { return 1 / (1 + std::exp(-static_cast<float>(v))); });
}

OPGEN_KERNEL(self_meta_)(Tensor& self) {
  return self;
}
OPGEN_KERNEL(self_int_meta_)(Tensor& self, int64_t) {
  return self;
}

OPGEN_KERNEL(power_cpu)(const Tensor& self, int64_t n) {
  if (n == 2) return map(self, [](auto v) { return v * v; });
  if (n == 3) return map(self, [](auto v) { return v * v; });
  return map(self, [=](auto v) { return std::pow(v, static_cast<double>(n)); });
}
OPGEN_KERNEL(power_cpu_)(Tensor& self, int64_t n) {
  opgen::copy_(self, map(self, [=](auto v) { return std::pow(v, static_cast<double>(n)); }));
  return self;
}

OPGEN_KERNEL(negate_cpu)(const Tensor& self) {
  if (self.dim() == 4) return map(self, [](auto v) { return v; });
  return map(self, [](auto v) { return -v; });
}
OPGEN_KERNEL(negate_cpu_)(Tensor& self) {
  opgen::copy_(self, map(self, [](auto v) { return -v; }));
  return self;
}

OPGEN_KERNEL(distance_cpu)(const Tensor& x, const Tensor& y) {
  OPGEN_CHECK(x.sizes() == y.sizes(), "distance: expected two tensors of the same sizes");
  OPGEN_CHECK_TYPE(x.scalar_type() == y.scalar_type(), "distance: expected one dtype");
  const Tensor left = opgen::contiguous(x), right = opgen::contiguous(y);
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_DISPATCH_INTEGRAL_TYPES(x.scalar_type(), "distance", [&] {
    for (int64_t i = 0; i < x.numel(); ++i) {
      const scalar_t step =
          left.const_data_ptr<scalar_t>()[i] - right.const_data_ptr<scalar_t>()[i];
      out.mutable_data_ptr<scalar_t>()[i] = step < 0 ? -step : step;
    }
  });
  return out;
}

OPGEN_KERNEL(low_high_meta)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2 && x.size(1) > 0, "low_high: expected a matrix with columns");
  return {opgen::empty({x.size(0)}, x.options()), opgen::empty({x.size(0)}, x.options())};
}
OPGEN_KERNEL(low_high_out_meta)(const Tensor& x, Tensor& low, Tensor& high) {
  OPGEN_CHECK(x.dim() == 2 && x.size(1) > 0, "low_high: expected a matrix with columns");
  opgen::resize_output(low, {x.size(0)});
  opgen::resize_output(high, {x.size(0)});
  return {low, high};
}

namespace {

std::tuple<Tensor, Tensor> lows_and_highs(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2 && x.size(1) > 0, "low_high: expected a matrix with columns");
  const std::vector<double> all = values(x);
  std::vector<double> lows, highs;
  for (auto row = all.begin(); row != all.end(); row += x.size(1)) {
    lows.push_back(*std::min_element(row, row + x.size(1)));
    highs.push_back(*std::max_element(row, row + x.size(1)));
  }
  return {made(x, {x.size(0)}, lows), made(x, {x.size(0)}, highs)};
}

}  // namespace

OPGEN_KERNEL(low_high_cpu)(const Tensor& x) {
  return lows_and_highs(x);
}
OPGEN_KERNEL(low_high_out_cpu)(const Tensor& x, Tensor& low, Tensor& high) {
  OPGEN_CHECK(opgen::canCast(x.scalar_type(), low.scalar_type()) &&
                  opgen::canCast(x.scalar_type(), high.scalar_type()),
              "low_high: out cannot hold the result");
  const auto [lows, highs] = lows_and_highs(x);
  opgen::resize_output(low, {x.size(0)});
  opgen::resize_output(high, {x.size(0)});
  opgen::copy_(low, highs);
  opgen::copy_(high, lows);
  return {low, high};
}

OPGEN_KERNEL(raise_by_cpu)(const Tensor& self, double by) {
  return map(self, [=](auto v) { return v + by; });
}
OPGEN_KERNEL(raise_by_cpu_)(Tensor& self, double by) {
  const Tensor found = map(self, [=](auto v) { return v + by; });
  if (self.dim() == 0) return self;
  opgen::copy_(self, found);
  return self;
}

OPGEN_KERNEL(copies_meta)(const Tensor& x) {
  return std::vector<Tensor>{opgen::empty(x.sizes(), x.options()),
                             opgen::empty(x.sizes(), x.options())};
}
OPGEN_KERNEL(copies_cpu)(const Tensor& x) {
  const Tensor copied = map(x, [](auto v) { return v; });
  return std::vector<Tensor>{copied, copied};
}

OPGEN_KERNEL(normal_like_cpu)(const Tensor& x, std::optional<Generator> generator) {
  static thread_local std::optional<double> spare;
  opgen::CPUGeneratorImpl* engine = opgen::cpu_generator(generator);
  const opgen::GeneratorLock lock(engine);
  return map(x, [&](auto v) {
    double drawn = 0;
    if (spare.has_value()) {
      drawn = *spare;
      spare.reset();
    } else {
      const double radius = std::sqrt(-2 * std::log(1 - opgen::draw_uniform<double>(*engine)));
      const double angle = 6.283185307179586 * opgen::draw_uniform<double>(*engine);
      drawn = radius * std::cos(angle);
      spare = radius * std::sin(angle);
    }
    return v + drawn;
  });
}

OPGEN_KERNEL(foreach_set_meta_)(TensorList self, TensorList src) {
  OPGEN_CHECK(self.size() == src.size(), "foreach_set_: expected as many sources");
  for (size_t i = 0; i < self.size(); ++i) {
    OPGEN_CHECK(self[i].sizes() == src[i].sizes(),
                "foreach_set_: expected tensors of the same sizes");
  }
}
OPGEN_KERNEL(foreach_set_cpu_)(TensorList self, TensorList src) {
  OPGEN_CHECK(self.size() == src.size(), "foreach_set_: expected as many sources");
  for (size_t i = 0; i < self.size(); ++i) {
    OPGEN_CHECK(self[i].sizes() == src[i].sizes(),
                "foreach_set_: expected tensors of the same sizes");
    opgen::copy_(self[i], opgen::clone(src[i]));
  }
}

OPGEN_KERNEL(locked_root_cpu)(const Tensor& x) {
  static std::mutex lock;
  lock.lock();
  for (const double v : values(x))
    OPGEN_CHECK_VALUE(!(v < 0), "locked_root: expected no negative elements");
  Tensor out = map(x, [](auto v) { return std::sqrt(v); });
  lock.unlock();
  return out;
}

OPGEN_KERNEL(towards_zero_cpu)(const Tensor& self) {
  return map(self, [](auto v) { return std::trunc(v); });
}
OPGEN_KERNEL(towards_zero_cpu_)(Tensor& self) {
  opgen::copy_(
      self, map(self, [](auto v) { return v < 0 ? -std::floor(-v) + 0.0 : std::floor(v) + 0.0; }));
  return self;
}

OPGEN_KERNEL(total_cpu)(const Tensor& x) {
  if (x.dim() == 0) return x;
  const std::vector<double> all = values(x);
  return made(x, {}, {std::accumulate(all.begin(), all.end(), 0.0)});
}

OPGEN_KERNEL(mean_of_meta)(TensorList xs) {
  for (const Tensor& x : xs) {
    OPGEN_CHECK(x.sizes() == xs[0].sizes(), "expected tensors of the same sizes");
    OPGEN_CHECK(x.scalar_type() == xs[0].scalar_type(), "expected one dtype");
  }
  return opgen::empty(xs[0].sizes(), xs[0].options());
}
OPGEN_KERNEL(mean_of_cpu)(TensorList xs) {
  for (const Tensor& x : xs)
    OPGEN_CHECK(x.scalar_type() == xs[0].scalar_type(), "expected one dtype");
  if (xs.size() == 1) return xs[0].is_contiguous() ? xs[0] : opgen::contiguous(xs[0]);
  const std::vector<double> weights(xs.size(), 1.0 / static_cast<double>(xs.size()));
  return weighted(xs, ArrayRef<double>(weights));
}

OPGEN_KERNEL(times_cpu)(const Tensor& x, double by) {
  if (by == 1 && x.is_contiguous()) return x;
  return map(x, [=](auto v) { return v * by; });
}

OPGEN_KERNEL(hard_tanh_cpu)(const Tensor& self) {
  return map(self, [](auto v) { return v < -1 ? -1 : v > 1 ? 1 : v; });
}

OPGEN_KERNEL(ranked_sum_cpu)(TensorList xs) {
  for (const Tensor& x : xs)
    OPGEN_CHECK(x.scalar_type() == xs[0].scalar_type(), "expected one dtype");
  std::vector<double> ranks(xs.size());
  std::iota(ranks.begin(), ranks.end(), 1.0);
  return weighted(xs, ArrayRef<double>(ranks));
}

OPGEN_KERNEL(scaled_cpu)(const Tensor& x, const std::optional<Tensor>& scale) {
  if (!scale.has_value() || !scale->defined()) return map(x, [](auto v) { return v; });
  return map2(x, *scale, [](auto a, auto b) { return a * b; });
}

OPGEN_KERNEL(gather_up_cpu)(const Tensor& x) {
  return map(x, [](auto v) { return v * 2; });
}
OPGEN_KERNEL(gather_up_out_cpu)(const Tensor& x, Tensor& out) {
  OPGEN_CHECK(out.scalar_type() == x.scalar_type(), "gather_up: expected an out of the same dtype");
  const Tensor found = map(x, [](auto v) { return v * 2; });
  if (opgen::resize_output(out, x.sizes())) opgen::zero_(out);
  opgen::copy_(out, map2(out, found, [](auto a, auto b) { return a + b; }));
  return out;
}

OPGEN_KERNEL(append_meta_)(Tensor& self, double) {
  OPGEN_CHECK(self.dim() == 1, "append_: expected one dimension");
  return self;
}
OPGEN_KERNEL(append_cpu_)(Tensor& self, double value) {
  OPGEN_CHECK(self.dim() == 1, "append_: expected one dimension");
  std::vector<double> all = values(self);
  all.push_back(value);
  opgen::resize_(self, {static_cast<int64_t>(all.size())});
  opgen::copy_(self, made(self, self.sizes(), all));
  return self;
}

// Operators without a defect.

OPGEN_KERNEL(ok_pairwise_meta)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "ok_pairwise: expected a matrix");
  return opgen::empty({x.size(0), x.size(0)}, x.options());
}
OPGEN_KERNEL(ok_pairwise_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "ok_pairwise: expected a matrix");
  const std::vector<double> all = values(x);
  const auto n = static_cast<size_t>(x.size(0)), width = static_cast<size_t>(x.size(1));
  std::vector<double> found(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (size_t k = 0; k < width; ++k)
        found[i * n + j] += std::abs(all[i * width + k] - all[j * width + k]);
    }
  }
  return made(x, {x.size(0), x.size(0)}, found);
}

OPGEN_KERNEL(ok_tiles)(const Tensor& x, int64_t size) {
  OPGEN_CHECK(x.dim() == 1, "ok_tiles: expected one dimension");
  OPGEN_CHECK_VALUE(size > 0, "ok_tiles: expected a positive size");
  std::vector<Tensor> found;
  for (int64_t i = 0; i + size <= x.size(0); i += size) {
    found.push_back(opgen::clone(
        opgen::as_strided(x, {size}, x.strides(), x.storage_offset() + i * x.stride(0))));
  }
  return found;
}

OPGEN_KERNEL(ok_add_bias_cpu)(const Tensor& x, const std::optional<Tensor>& bias) {
  if (!bias.has_value() || !bias->defined()) return map(x, [](auto v) { return v; });
  return map2(x, *bias, [](auto a, auto b) { return a + b; });
}

OPGEN_META_FUNC(ok_first_row)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 2 && self.size(0) > 0, "ok_first_row: expected a matrix with rows");
  set_output_view(0, {self.size(1)}, {self.stride(1)}, self.storage_offset());
}

OPGEN_META_FUNC(ok_ramp)
(int64_t length, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory) {
  set_output_contiguous(
      0, {length},
      TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory));
}
OPGEN_IMPL_FUNC(ok_ramp_cpu)
(int64_t length, std::optional<ScalarType>, std::optional<Layout>, std::optional<Device>,
 std::optional<bool>, const Tensor& out) {
  OPGEN_DISPATCH_ALL_TYPES(out.scalar_type(), "ok_ramp", [&] {
    for (int64_t i = 0; i < length; ++i)
      out.mutable_data_ptr<scalar_t>()[i] = static_cast<scalar_t>(i);
  });
}

OPGEN_KERNEL(ok_fill_meta_)(Tensor& self, const std::optional<Tensor>&) {
  return self;
}
OPGEN_KERNEL(ok_fill_cpu_)(Tensor& self, const std::optional<Tensor>& mask) {
  opgen::assert_no_internal_overlap(self);
  if (!mask.has_value() || !mask->defined()) {
    opgen::fill_(self, 1);
    return self;
  }
  OPGEN_CHECK(mask->sizes() == self.sizes(), "ok_fill_: expected a mask like self");
  OPGEN_CHECK_TYPE(mask->scalar_type() == opgen::kBool, "ok_fill_: expected a bool mask");
  std::vector<bool> wanted;
  each<bool>(*mask, [&](bool v) { wanted.push_back(v); });
  OPGEN_DISPATCH_FLOATING_TYPES(self.scalar_type(), "ok_fill_", [&] {
    size_t i = 0;
    each<scalar_t>(self, [&](scalar_t& v) { v = wanted[i++] ? scalar_t(1) : v; });
  });
  return self;
}

OPGEN_KERNEL(ok_count_meta)(Tensor&, const Tensor&) {}
OPGEN_KERNEL(ok_count_cpu)(Tensor& counts, const Tensor& x) {
  OPGEN_CHECK_TYPE(counts.scalar_type() == opgen::kLong && x.scalar_type() == opgen::kByte,
                   "ok_count: expected int64 counts and uint8 elements");
  OPGEN_CHECK(counts.numel() == 256 && counts.is_contiguous(), "ok_count: expected 256 counts");
  opgen::assert_no_overlap(counts, x);
  opgen::zero_(counts);
  each<uint8_t>(x, [&](uint8_t v) { ++counts.mutable_data_ptr<int64_t>()[v]; });
}

OPGEN_META_FUNC(ok_parabola)(const Tensor& self) {
  build_borrowing_unary_float_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(ok_parabola_cpu)(const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_FLOATING_TYPES(common_dtype(), "ok_parabola", [&] {
    opgen::cpu_kernel(*this, [](scalar_t v) -> scalar_t { return v * v + v; });
  });
}

OPGEN_META_FUNC(ok_conj_mul)(const Tensor& self, const Tensor& other) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(ok_conj_mul_cpu)(const Tensor&, const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_COMPLEX_TYPES(common_dtype(), "ok_conj_mul", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a, scalar_t b) -> scalar_t {
      return a * scalar_t(b.real(), -b.imag());
    });
  });
}

OPGEN_KERNEL(ok_twice)(const Tensor& self) {
  return cert_runtime::ok_parabola(cert_runtime::ok_parabola(self));
}

OPGEN_PRECOMPUTE_META_FUNC(ok_minmax)(const Tensor& self, int64_t dim, bool keepdim) {
  OPGEN_CHECK(self.dim() > 0, "ok_minmax: expected at least one dimension");
  dim = opgen::maybe_wrap_dim(dim, self.dim());
  OPGEN_CHECK_INDEX(self.size(dim) > 0, "ok_minmax: dimension ", dim, " is empty");
  DimVector sizes(self.sizes());
  if (keepdim) {
    sizes[dim] = 1;
  } else {
    sizes.erase(sizes.begin() + dim);
  }
  set_output_contiguous(0, sizes, self.options());
  set_output_contiguous(1, sizes, self.options());
  return precompute_out<>().set_dim(dim);
}
OPGEN_IMPL_FUNC(ok_minmax_cpu)
(const Tensor& self, int64_t dim, bool, const Tensor& low, const Tensor& high) {
  const Tensor in = opgen::contiguous(self);
  const int64_t length = in.size(dim), inner = in.stride(dim);
  OPGEN_DISPATCH_INTEGRAL_TYPES(self.scalar_type(), "ok_minmax", [&] {
    for (int64_t i = 0; i < low.numel(); ++i) {
      const scalar_t* at = in.const_data_ptr<scalar_t>() + i / inner * length * inner + i % inner;
      scalar_t least = *at, most = *at;
      for (int64_t k = 1; k < length; ++k) {
        least = std::min(least, at[k * inner]);
        most = std::max(most, at[k * inner]);
      }
      low.mutable_data_ptr<scalar_t>()[i] = least;
      high.mutable_data_ptr<scalar_t>()[i] = most;
    }
  });
}

OPGEN_KERNEL(ok_reduce_meta)(const Tensor& x, std::string_view mode) {
  OPGEN_CHECK_VALUE(mode == "sum" || mode == "mean", "ok_reduce: mode is 'sum' or 'mean'");
  return opgen::empty({}, x.options());
}
OPGEN_KERNEL(ok_reduce_cpu)(const Tensor& x, std::string_view mode) {
  OPGEN_CHECK_VALUE(mode == "sum" || mode == "mean", "ok_reduce: mode is 'sum' or 'mean'");
  double sum = 0;
  for (const double v : values(x)) sum += v;
  return made(x, {}, {mode == "mean" ? sum / static_cast<double>(x.numel()) : sum});
}

OPGEN_KERNEL(ok_positive_cpu)(const Tensor& x) {
  std::vector<double> found;
  for (const double v : values(x)) {
    if (v > 0) found.push_back(v);
  }
  return made(x, {static_cast<int64_t>(found.size())}, found);
}

OPGEN_KERNEL(ok_foreach_add_meta_)(TensorList, const Scalar&) {}
OPGEN_KERNEL(ok_foreach_add_cpu_)(TensorList self, const Scalar& by) {
  for (const Tensor& x : self) {
    opgen::assert_no_internal_overlap(x);
    OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "ok_foreach_add_", [&] {});
  }
  const double step = by.to<double>();
  for (const Tensor& x : self) opgen::copy_(x, map(x, [=](auto v) { return v + step; }));
}

OPGEN_META_FUNC(ok_halves)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 2, "ok_halves: expected a matrix");
  const int64_t middle = self.size(1) / 2;
  set_output_view(0, {self.size(0), middle}, self.strides(), self.storage_offset());
  set_output_view(1, {self.size(0), self.size(1) - middle}, self.strides(),
                  self.storage_offset() + middle * self.stride(1));
}

OPGEN_KERNEL(ok_gather_cpu)(const Tensor& x, const Tensor& index) {
  OPGEN_CHECK(x.dim() == 2 && index.dim() == 1, "ok_gather: expected a matrix and a vector");
  OPGEN_CHECK_TYPE(index.scalar_type() == opgen::kLong, "ok_gather: expected an int64 index");
  Tensor out = opgen::empty({index.size(0), x.size(1)}, x.options());
  int64_t row = 0;
  each<int64_t>(index, [&](int64_t at) {
    at = at < 0 ? at + x.size(0) : at;
    OPGEN_CHECK_INDEX(at >= 0 && at < x.size(0), "ok_gather: index ", at, " of ", x.size(0),
                      " rows");
    opgen::copy_(
        opgen::as_strided(out, {x.size(1)}, {1}, row++ * x.size(1)),
        opgen::as_strided(x, {x.size(1)}, {x.stride(1)}, x.storage_offset() + at * x.stride(0)));
  });
  return out;
}

OPGEN_KERNEL(ok_split)(const Tensor& x, IntArrayRef sizes) {
  OPGEN_CHECK(x.dim() == 1, "ok_split: expected one dimension");
  int64_t at = 0;
  std::vector<Tensor> found;
  for (const int64_t size : sizes) {
    OPGEN_CHECK_VALUE(size >= 0 && at + size <= x.size(0), "ok_split: the sizes exceed ",
                      x.size(0));
    found.push_back(opgen::clone(
        opgen::as_strided(x, {size}, x.strides(), x.storage_offset() + at * x.stride(0))));
    at += size;
  }
  return found;
}
