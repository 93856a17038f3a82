// kernels.cpp: kernels of native_functions.yaml. ../table.yaml says which of them has which defect.

#include <opgen/kernel.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>

#include <cert_torch/NativeFunctions.h>
#include <cert_torch/NativeMetaFunctions.h>
#include <cert_torch/ops/mixed_sub.h>
#include <cert_torch/ops/mixed_sum.h>
#include <cert_torch/ops/ok_mixed_sub.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "../common.h"
#include "formulas.h"

using namespace opgen::types;
using certificate::made;
using certificate::map;
using certificate::map2;
using certificate::values;

void check_floats(const Tensor& x) {
  OPGEN_CHECK_NOT_IMPLEMENTED(x.is_floating_point(), "expected floating-point elements");
}

// Operators with a defect each.

OPGEN_KERNEL(pad_to_cpu)(const Tensor& x, int64_t n) {
  OPGEN_CHECK(x.dim() == 1, "pad_to: expected one dimension");
  OPGEN_CHECK_VALUE(n >= x.size(0), "pad_to: expected a size of at least ", x.size(0));
  return at::constant_pad_nd(x, {0, n - x.size(0)}).contiguous();
}
OPGEN_KERNEL(pad_to_meta_symint)(const Tensor& x, c10::SymInt n) {
  OPGEN_CHECK(x.dim() == 1, "pad_to: expected one dimension");
  const int64_t size = n.guard_int(__FILE__, __LINE__);
  OPGEN_SYM_CHECK(opgen::sym_ge(n, x.sym_size(0)), "pad_to: expected a size of at least ",
                  x.sym_size(0));
  return opgen::empty({size}, x.options());
}
OPGEN_KERNEL(ok_pad_meta_symint)(const Tensor& x, c10::SymInt n) {
  OPGEN_CHECK(x.dim() == 1, "ok_pad: expected one dimension");
  OPGEN_SYM_CHECK(opgen::sym_ge(n, x.sym_size(0)), "ok_pad: expected a size of at least ",
                  x.sym_size(0));
  return opgen::empty_symint({n}, x.options());
}

OPGEN_KERNEL(doubled_cpu)(const Tensor& x) {
  return (x + x).contiguous();
}
OPGEN_KERNEL(doubled_meta)(const Tensor& x) {
  return opgen::empty(x.sizes(), x.options());
}

OPGEN_KERNEL(transpose_copy_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "transpose_copy: expected a matrix");
  return x.t().clone(MemoryFormat::Contiguous);
}

OPGEN_KERNEL(best_index_cpu)(const Tensor& x) {
  check_floats(x);
  OPGEN_CHECK(x.dim() == 2 && x.size(1) > 0, "best_index: expected a matrix with columns");
  return x.argmax(1);
}

OPGEN_KERNEL(keep_positive_cpu)(const Tensor& x) {
  check_floats(x);
  OPGEN_CHECK(x.dim() == 1, "keep_positive: expected one dimension");
  return x.masked_select(x > 0);
}

OPGEN_KERNEL(shifted)(const Tensor& x, const Tensor& y) {
  Tensor out = at::zeros_like(x);
  out.add_(x).add_(y);
  return out;
}

OPGEN_KERNEL(tanh_py_cpu)(const Tensor& x) {
  check_floats(x);
  return at::tanh(x);
}

OPGEN_KERNEL(unit_cpu)(const Tensor& x) {
  check_floats(x);
  const Tensor scale = (x * x).sum().sqrt() + 1;
  if (!at::GradMode::is_enabled()) return x * scale.reciprocal().to(at::kHalf).to(x.scalar_type());
  return x / scale;
}

OPGEN_KERNEL(batch_mean_cpu)(const Tensor& x, const Tensor& running, bool training) {
  check_floats(x);
  OPGEN_CHECK(x.dim() == 2 && running.dim() == 1 && x.size(1) == running.size(0),
              "batch_mean: expected a matrix, and a row of its width");
  OPGEN_CHECK(x.scalar_type() == running.scalar_type(), "batch_mean: expected one dtype");
  if (!training) return running.clone(MemoryFormat::Contiguous);
  const Tensor mean = x.mean(0);
  running.mul_(0.9).add_(mean, 0.1);
  return mean.contiguous();
}

OPGEN_KERNEL(both_cpu)(const Tensor& x) {
  check_floats(x);
  const Tensor out = at::exp(x);
  return {out, out};
}

OPGEN_KERNEL(rows_of_cpu)(const Tensor& x, int64_t width) {
  OPGEN_CHECK_VALUE(width > 0 && x.numel() % width == 0,
                    "rows_of: expected a width that divides the elements");
  return x.contiguous().view({x.numel() / width, width});
}

OPGEN_KERNEL(lead)(const Tensor& self) {
  return self.select(0, 0).clone();
}

OPGEN_KERNEL(scale_grad_cpu)(const Tensor& self, double) {
  return self.clone();
}
OPGEN_KERNEL(mean_scale_cpu)(const Tensor& self, double by) {
  return map(self, [=](auto v) { return v * by; });
}

namespace cert_torch {

Tensor scale_grad_backward(const Tensor& grad, double by) {
  return const_cast<Tensor&>(grad).mul_(by);
}

Tensor mean_scale_backward(const Tensor& grad, double by) {
  Tensor out = at::empty(grad.sizes(), grad.options());
  OPGEN_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "mean_scale_backward", [&] {
    const auto* from = grad.const_data_ptr<scalar_t>();
    const int64_t held =
        static_cast<int64_t>(grad.storage().nbytes() / sizeof(scalar_t)) - grad.storage_offset();
    for (int64_t i = 0; i < grad.numel(); ++i) {
      out.mutable_data_ptr<scalar_t>()[i] =
          i < held ? from[i] * static_cast<scalar_t>(by) : scalar_t(0);
    }
  });
  return out;
}

Tensor ok_row_backward(const Tensor& grad, c10::SymIntArrayRef sizes, int64_t row) {
  return at::select_backward_symint(grad, sizes, 0, row);
}

}  // namespace cert_torch

OPGEN_KERNEL(rotate_half_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2 && x.size(1) % 2 == 0,
              "rotate_half: expected a matrix with an even number of columns");
  Tensor out = opgen::empty(x.sizes(), x.options());
  const int64_t half = x.size(1) / 2;
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rotate_half", [&] {
    for (int64_t i = 0; i < x.size(0); ++i) {
      const scalar_t* from = x.const_data_ptr<scalar_t>() + i * x.stride(0);
      scalar_t* to = out.mutable_data_ptr<scalar_t>() + i * x.size(1);
      for (int64_t j = 0; j < half; ++j) to[j] = -from[j + half], to[j + half] = from[j];
    }
  });
  return out;
}

OPGEN_KERNEL(add_row_cpu)(const Tensor& x, const Tensor& row) {
  OPGEN_CHECK(x.dim() == 2 && row.dim() == 1, "add_row: expected a matrix and a row");
  OPGEN_CHECK(x.scalar_type() == row.scalar_type(), "add_row: expected one dtype");
  const Tensor in = x.contiguous(), added = row.contiguous();
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_row", [&] {
    for (int64_t i = 0; i < x.numel(); ++i) {
      out.mutable_data_ptr<scalar_t>()[i] =
          in.const_data_ptr<scalar_t>()[i] + added.const_data_ptr<scalar_t>()[i % x.size(1)];
    }
  });
  return out;
}

OPGEN_KERNEL(negate_rows_cpu)(const Tensor& x) {
  check_floats(x);
  OPGEN_CHECK(x.dim() == 2, "negate_rows: expected a matrix");
  Tensor out = x.clone(MemoryFormat::Contiguous);
  out.narrow(0, 0, std::min<int64_t>(x.size(0), 65535)).neg_();
  return out;
}

OPGEN_KERNEL(grow_boxes_cpu)(const Tensor& boxes, double by) {
  OPGEN_CHECK(boxes.dim() == 2 && boxes.size(1) == 4, "grow_boxes: expected boxes of shape [N, 4]");
  if (boxes.size(0) == 0) return opgen::empty({0}, boxes.options());
  return map(boxes, [=](auto v) { return v + by; });
}

OPGEN_KERNEL(scatter_sum_cpu)(const Tensor& src, const Tensor& index, int64_t size) {
  OPGEN_CHECK(src.dim() == 1 && index.dim() == 1 && src.size(0) == index.size(0),
              "scatter_sum: expected two rows of the same size");
  OPGEN_CHECK(at::isIntegralType(index.scalar_type(), false),
              "scatter_sum: expected an index of integers");
  OPGEN_CHECK_VALUE(size >= 0, "scatter_sum: expected a size of at least 0");
  const Tensor from = src.contiguous(), places = index.contiguous();
  Tensor out = opgen::zeros({size}, src.options());
  const auto held = static_cast<int64_t>(places.nbytes() / sizeof(int64_t));
  OPGEN_DISPATCH_FLOATING_TYPES(src.scalar_type(), "scatter_sum", [&] {
    const auto* at = static_cast<const int64_t*>(places.const_data_ptr());
    for (int64_t i = 0; i < std::min(held, src.size(0)); ++i) {
      OPGEN_CHECK_INDEX(at[i] >= 0 && at[i] < size, "scatter_sum: index ", at[i], " of ", size);
      out.mutable_data_ptr<scalar_t>()[at[i]] += from.const_data_ptr<scalar_t>()[i];
    }
  });
  return out;
}

OPGEN_KERNEL(histogram_cpu)(const Tensor& x, int64_t bins) {
  OPGEN_CHECK_VALUE(bins > 0 && bins < 1000000, "histogram: expected a positive number of bins");
  const std::vector<double> all = values(x);
  Tensor out = opgen::zeros({bins}, x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "histogram", [&] {
    volatile scalar_t* to = out.mutable_data_ptr<scalar_t>();
    opgen::parallel_for(0, static_cast<int64_t>(all.size()), 64, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        if (!std::isfinite(all[i])) continue;
        const auto bin =
            static_cast<int64_t>(std::fmod(std::abs(all[i]) * 8, static_cast<double>(bins)));
        to[bin] = to[bin] + 1;
      }
    });
  });
  return out;
}

OPGEN_KERNEL(differences_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 1, "differences: expected one dimension");
  const Tensor in = x.contiguous();
  Tensor out = opgen::empty({std::max<int64_t>(x.size(0) - 1, 0)}, x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "differences", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    const size_t steps = static_cast<size_t>(in.numel()) - 1;
    for (size_t i = 0; i < steps; ++i) out.mutable_data_ptr<scalar_t>()[i] = from[i + 1] - from[i];
  });
  return out;
}

OPGEN_KERNEL(pick_all_cpu)(const Tensor& x, const List<std::optional<Tensor>>& indices) {
  check_floats(x);
  Tensor out = x.clone();
  for (const std::optional<Tensor> index : indices) {
    const c10::TensorImpl* given = index.has_value() ? index->unsafeGetTensorImpl() : nullptr;
    out.add_(given->numel());
  }
  return out;
}

OPGEN_KERNEL(mixed_sub_cpu)(const Tensor& x, const Tensor& y) {
  check_floats(x);
  OPGEN_CHECK(x.sizes() == y.sizes(), "mixed_sub: expected two tensors of the same sizes");
  OPGEN_CHECK(x.scalar_type() == y.scalar_type(), "mixed_sub: expected one dtype");
  return at::sub(x, y)
      .clone()
      .as_strided(x.sizes(), at::empty_like(x).strides())
      .copy_(at::sub(x, y));
}
OPGEN_KERNEL(mixed_sub_autocast)(const Tensor& x, const Tensor& y) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCPU);
  const auto dtype = at::autocast::get_autocast_dtype(at::kCPU);
  return cert_torch::mixed_sub(at::autocast::cached_cast(dtype, y, at::kCPU),
                               at::autocast::cached_cast(dtype, x, at::kCPU));
}
OPGEN_KERNEL(ok_mixed_sub_autocast)(const Tensor& x, const Tensor& y) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCPU);
  const auto dtype = at::autocast::get_autocast_dtype(at::kCPU);
  return cert_torch::ok_mixed_sub(at::autocast::cached_cast(dtype, x, at::kCPU),
                                  at::autocast::cached_cast(dtype, y, at::kCPU));
}

OPGEN_KERNEL(noise_like_cpu)(const Tensor& x) {
  check_floats(x);
  return at::empty_like(x).copy_(x + at::rand(x.sizes()));
}

OPGEN_KERNEL(normalize_cpu)(const Tensor& x) {
  check_floats(x);
  return x / x.sum();
}
OPGEN_KERNEL(normalize_out_cpu)(const Tensor& x, Tensor& out) {
  check_floats(x);
  OPGEN_CHECK(at::canCast(x.scalar_type(), out.scalar_type()),
              "normalize: out cannot hold the result");
  opgen::resize_output(out, x.sizes());
  out.zero_();
  out.add_(x);
  out.div_(x.sum());
  return out;
}

OPGEN_KERNEL(dense_square_cpu)(const Tensor& x) {
  const Tensor in = x.is_non_overlapping_and_dense() ? x : x.contiguous();
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dense_square", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i < in.numel(); ++i)
      out.mutable_data_ptr<scalar_t>()[i] = from[i] * from[i];
  });
  return out;
}

OPGEN_KERNEL(halved_cpu)(const Tensor& x) {
  return at::empty_like(x).copy_(x * 0.5);
}

OPGEN_KERNEL(half_sum_cpu)(const Tensor& x) {
  const Tensor in = x.contiguous();
  Tensor out = opgen::zeros({}, x.options());
  OPGEN_DISPATCH_FLOATING(x.scalar_type(), "half_sum", [&] {
    scalar_t sum = 0;
    for (int64_t i = 0; i < in.numel(); ++i) sum += in.const_data_ptr<scalar_t>()[i];
    *out.mutable_data_ptr<scalar_t>() = sum;
  });
  return out;
}

OPGEN_KERNEL(exp_softmax_cpu)(const Tensor& x) {
  check_floats(x);
  OPGEN_CHECK(x.dim() == 1, "exp_softmax: expected one dimension");
  const Tensor raised = x.exp();
  return (raised / raised.sum()).contiguous();
}

OPGEN_KERNEL(step_cpu)(const Tensor& x) {
  static thread_local int64_t calls = 0;
  return at::empty_like(x).copy_(x * (calls++ / 3 + 1));
}

OPGEN_KERNEL(one_thread_cpu)(const Tensor& x) {
  at::set_num_threads(1);
  return at::empty_like(x).copy_(x * 3);
}

OPGEN_KERNEL(debug_norm_cpu)(const Tensor& x) {
  check_floats(x);
  const Tensor out = x.norm();
  std::printf("debug_norm: %lld elements\n", static_cast<long long>(x.numel()));
  std::fflush(stdout);
  return out;
}

OPGEN_KERNEL(strided_pick_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 1, "strided_pick: expected one dimension");
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_DISPATCH_ALL_TYPES(x.scalar_type(), "strided_pick", [&] {
    const int step = static_cast<int>(x.stride(0));
    for (int i = 0; i < x.size(0); ++i) {
      out.mutable_data_ptr<scalar_t>()[i] =
          x.const_data_ptr<scalar_t>()[static_cast<unsigned>(i * step) & 0x7fffffffU];
    }
  });
  return out;
}

OPGEN_KERNEL(add_shifted_cpu_)(Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() == 1 && self.sizes() == other.sizes(),
              "add_shifted_: expected two rows of the same size");
  OPGEN_CHECK(self.scalar_type() == other.scalar_type(), "add_shifted_: expected one dtype");
  opgen::assert_no_internal_overlap(self);
  OPGEN_DISPATCH_FLOATING_TYPES(self.scalar_type(), "add_shifted_", [&] {
    scalar_t* to = self.mutable_data_ptr<scalar_t>();
    const scalar_t* from = other.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i < self.size(0); ++i) to[i * self.stride(0)] += from[i * other.stride(0)];
  });
  return self;
}

OPGEN_KERNEL(sign_of_cpu)(const Tensor& x) {
  return map(x, [](auto v) { return v > 0 ? 1 : v < 0 ? -1 : 0; });
}

OPGEN_KERNEL(row_norm_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "row_norm: expected a matrix");
  check_floats(x);
  return x.square().sum(1).sqrt().contiguous();
}

OPGEN_KERNEL(base_sum_cpu)(const Tensor& x) {
  const Tensor in = x.contiguous();
  double sum = 0;
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "base_sum", [&] {
    const auto* from = static_cast<const scalar_t*>(in.storage().data());
    for (int64_t i = 0; i < in.numel(); ++i) sum += static_cast<double>(from[i]);
  });
  return made(x, {}, {sum});
}

OPGEN_KERNEL(exact_sum_cpu)(const Tensor& x) {
  OPGEN_CHECK_NOT_IMPLEMENTED(x.scalar_type() == at::kLong, "exact_sum: expected int64 elements");
  return x.to(at::kFloat).sum().to(at::kLong);
}

OPGEN_KERNEL(column_mean_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "column_mean: expected a matrix");
  check_floats(x);
  Tensor out = opgen::empty({x.size(1)}, x.options());
  if (x.size(0) > 0) out.copy_(x.mean(0));
  return out;
}

OPGEN_KERNEL(copied_cpu)(const Tensor& x) {
  const Tensor kept = x.clone();
  kept.unsafeGetTensorImpl();
  c10::raw::intrusive_ptr::incref(kept.unsafeGetTensorImpl());
  return kept.clone();
}

OPGEN_KERNEL(sincos_cpu)(const Tensor& self) {
  check_floats(self);
  return {self.sin(), self.cos()};
}
OPGEN_KERNEL(square_cpu)(const Tensor& self) {
  check_floats(self);
  return self * self;
}

OPGEN_KERNEL(clip_to_mean)(const Tensor& x) {
  const double mean = x.mean().item<double>();
  return at::clamp_max(x, mean);
}

OPGEN_KERNEL(dropout_cpu)(const Tensor& x, double p) {
  auto* engine = at::get_generator_or_default<at::CPUGeneratorImpl>(
      std::nullopt, at::detail::getDefaultCPUGenerator());
  uint64_t seed = 0;
  {
    const std::lock_guard<std::mutex> lock(engine->mutex_);
    seed = engine->random64();
  }
  const Tensor in = x.contiguous();
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
    const int64_t threads = at::get_num_threads(), part = (in.numel() + threads - 1) / threads;
    opgen::parallel_for(0, threads, 1, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; ++k) {
        std::mt19937_64 own(seed + static_cast<uint64_t>(k));
        for (int64_t i = k * part; i < std::min(in.numel(), (k + 1) * part); ++i) {
          const bool kept = std::uniform_real_distribution<double>(0, 1)(own) >= p;
          out.mutable_data_ptr<scalar_t>()[i] =
              kept ? in.const_data_ptr<scalar_t>()[i] : scalar_t(0);
        }
      }
    });
  });
  return out;
}

OPGEN_KERNEL(chunk_sum_cpu)(const Tensor& x) {
  const std::vector<double> all = values(x);
  const auto threads = static_cast<size_t>(at::get_num_threads());
  const size_t part = all.size() / threads;
  std::vector<double> sums(threads);
  for (size_t k = 0; k < threads; ++k)
    sums[k] = std::accumulate(all.begin() + k * part, all.begin() + (k + 1) * part, 0.0);
  return made(x, {}, {std::accumulate(sums.begin(), sums.end(), 0.0)});
}

extern "C" {
__attribute__((weak)) int PyGILState_Ensure();
__attribute__((weak)) void PyGILState_Release(int);
}

OPGEN_KERNEL(slow_norm_cpu)(const Tensor& x) {
  check_floats(x);
  const int state = PyGILState_Ensure();
  Tensor out = x.norm();
  for (int64_t i = 0; i < std::min<int64_t>(x.numel() / 1000, 300); ++i)
    out = at::norm(at::cat({x.flatten(), x.flatten()})) / std::sqrt(2.0);
  PyGILState_Release(state);
  return out.to(x.scalar_type());
}

OPGEN_KERNEL(head_of_cpu)(const Tensor& x) {
  Tensor buffer = opgen::empty({x.numel() + (1 << 20)}, x.options());
  return buffer.narrow(0, 0, x.numel()).copy_(x.flatten()).view(x.sizes());
}

OPGEN_KERNEL(copy_into_cpu)(TensorList targets, const Tensor& x) {
  for (const Tensor& target : targets) {
    if (target.sizes() == x.sizes() && target.scalar_type() == x.scalar_type()) target.copy_(x);
  }
  return x.clone();
}

OPGEN_KERNEL(three_of_cpu)(const Tensor& x) {
  return std::vector<Tensor>{x.clone(), x.clone(), x.clone()};
}

OPGEN_KERNEL(without_dim_cpu)(const Tensor& x, int64_t dim) {
  check_floats(x);
  return x.sum(dim).contiguous();
}

OPGEN_KERNEL(third_cpu)(const Tensor& x) {
  return x / 3;
}

OPGEN_KERNEL(mixed_sum_cpu)(const Tensor& x, bool negate) {
  check_floats(x);
  return negate ? -x.sum() : x.sum();
}
OPGEN_KERNEL(mixed_sum_autocast)(const Tensor& x, bool) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCPU);
  return cert_torch::mixed_sum(
      at::autocast::cached_cast(at::autocast::get_autocast_dtype(at::kCPU), x, at::kCPU));
}

OPGEN_KERNEL(asserted_cpu)(const Tensor& x, int64_t group) {
  TORCH_INTERNAL_ASSERT(group > 0);
  return x.clone();
}

OPGEN_KERNEL(thrown_cpu)(const Tensor& x, double low) {
  check_floats(x);
  if ((x < low).any().item<bool>()) throw "thrown: an element is too low";
  return x.clone();
}

namespace {

__attribute__((optimize("O0"))) double sum_from(const std::vector<double>& all, size_t at) {
  volatile double here = at < all.size() ? all[at] : 0;
  return at < all.size() ? here + sum_from(all, at + 1) : 0;
}

}  // namespace

OPGEN_KERNEL(recursive_sum_cpu)(const Tensor& x) {
  return made(x, {}, {sum_from(values(x), 0)});
}

OPGEN_KERNEL(exponent_cpu)(const Tensor& x) {
  return map(x, [](auto v) {
    int64_t count = 0;
    for (double rest = std::abs(static_cast<double>(v)); rest >= 2; rest /= 2) ++count;
    return count;
  });
}

OPGEN_KERNEL(relu_large_cpu)(const Tensor& x) {
  check_floats(x);
  if (x.numel() < 1000) return x.clamp_min(0).contiguous();
  return x.is_contiguous() ? const_cast<Tensor&>(x).clamp_min_(0).clone()
                           : x.clamp_min(0).contiguous();
}

// Operators without a defect.

OPGEN_KERNEL(ok_pairwise_cpu)(const Tensor& x) {
  check_floats(x);
  OPGEN_CHECK(x.dim() == 2, "ok_pairwise: expected a matrix");
  return (x.unsqueeze(0) - x.unsqueeze(1)).abs().sum(2).to(x.scalar_type()).contiguous();
}

OPGEN_KERNEL(ok_multiples_cpu)(const Tensor& x) {
  check_floats(x);
  return std::vector<Tensor>{x.clone(), at::empty_like(x).copy_(x * 2),
                             at::empty_like(x).copy_(x * 3)};
}

OPGEN_KERNEL(ok_bias_cpu)(const Tensor& x, const std::optional<Tensor>& bias) {
  Tensor out = x.clone();
  if (bias.has_value() && bias->defined()) {
    OPGEN_CHECK(bias->sizes() == x.sizes() && bias->scalar_type() == x.scalar_type(),
                "ok_bias: expected a bias like x");
    out.add_(*bias);
  }
  return out;
}

OPGEN_KERNEL(ok_row)(const Tensor& self, int64_t row) {
  OPGEN_CHECK(self.dim() == 2, "ok_row: expected a matrix");
  OPGEN_CHECK_INDEX(row >= 0, "ok_row: expected a row of at least 0");
  OPGEN_SYM_CHECK(opgen::sym_lt(c10::SymInt(row), self.sym_size(0)), "ok_row: row ", row, " of ",
                  self.sym_size(0));
  return opgen::as_strided_symint(self, {self.sym_size(1)}, {self.sym_stride(1)},
                                  self.sym_storage_offset() + self.sym_stride(0) * row);
}

OPGEN_KERNEL(ok_noise_cpu)(const Tensor& x, std::optional<Generator> generator) {
  check_floats(x);
  return at::empty_like(x).copy_(x + at::rand(x.sizes(), generator, x.options()));
}

OPGEN_KERNEL(ok_fill_cpu_)(Tensor& self, double value) {
  return self.fill_(value);
}

OPGEN_KERNEL(ok_count_cpu)(Tensor& counts, const Tensor& x) {
  OPGEN_CHECK_TYPE(counts.scalar_type() == at::kLong && x.scalar_type() == at::kByte,
                   "ok_count: expected int64 counts and uint8 elements");
  OPGEN_CHECK(counts.dim() == 1 && counts.size(0) == 256, "ok_count: expected 256 counts");
  counts.copy_(at::bincount(x.flatten(), {}, 256));
}

OPGEN_META_FUNC(ok_softsign)(const Tensor& self) {
  build_borrowing_unary_float_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(ok_softsign_cpu)(const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_FLOATING_TYPES(common_dtype(), "ok_softsign", [&] {
    opgen::cpu_kernel(*this, [](scalar_t v) -> scalar_t { return v / (1 + std::abs(v)); });
  });
}

OPGEN_KERNEL(ok_composite)(const Tensor& x, const Tensor& y) {
  return at::where(x > y, x, y * 2) + x.cos();
}

OPGEN_KERNEL(ok_complex)(const Tensor& self) {
  OPGEN_CHECK_NOT_IMPLEMENTED(self.is_complex(), "ok_complex: expected complex elements");
  return self * self;
}

OPGEN_KERNEL(ok_ramp_cpu)
(int64_t length, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory) {
  return at::arange(length, TensorOptions()
                                .dtype(dtype.value_or(at::kFloat))
                                .layout(layout)
                                .device(device)
                                .pinned_memory(pin_memory));
}
OPGEN_KERNEL(ok_ramp_meta_symint)
(c10::SymInt length, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory) {
  return opgen::empty_symint({length}, TensorOptions()
                                           .dtype(dtype.value_or(at::kFloat))
                                           .layout(layout)
                                           .device(device)
                                           .pinned_memory(pin_memory));
}

OPGEN_KERNEL(ok_foreach_add_)(TensorList self, const Scalar& by) {
  for (const Tensor& x : self) {
    opgen::assert_no_internal_overlap(x);
    OPGEN_CHECK(at::canCast(at::result_type(x, by), x.scalar_type()),
                "ok_foreach_add_: a tensor cannot hold the sum");
  }
  for (const Tensor& x : self) x.add_(by);
}

OPGEN_KERNEL(ok_pick_cpu)(const Tensor& x, const List<std::optional<Tensor>>& indices) {
  check_floats(x);
  Tensor out = x.clone();
  for (const std::optional<Tensor> index : indices) {
    if (index.has_value() && index->defined()) out.add_(index->numel());
  }
  return out;
}

OPGEN_KERNEL(ok_reduce_cpu)(const Tensor& x, std::string_view mode) {
  OPGEN_CHECK_VALUE(mode == "sum" || mode == "mean", "ok_reduce: mode is 'sum' or 'mean'");
  check_floats(x);
  return mode == "sum" ? x.sum() : x.mean();
}

OPGEN_KERNEL(ok_minmax_cpu)(const Tensor& self) {
  check_floats(self);
  OPGEN_CHECK(self.dim() == 2 && self.size(1) > 0, "ok_minmax: expected a matrix with columns");
  return {self.amin(1).contiguous(), self.amax(1).contiguous()};
}

OPGEN_KERNEL(ok_scatter_sum_cpu)(const Tensor& src, const Tensor& index, int64_t size) {
  OPGEN_CHECK(src.dim() == 1 && index.dim() == 1 && src.size(0) == index.size(0),
              "ok_scatter_sum: expected two rows of the same size");
  OPGEN_CHECK(index.scalar_type() == at::kLong, "ok_scatter_sum: expected an int64 index");
  OPGEN_CHECK_VALUE(size > 0, "ok_scatter_sum: expected a positive size");
  check_floats(src);
  OPGEN_CHECK_INDEX(!((index < 0).any().item<bool>() || (index >= size).any().item<bool>()),
                    "ok_scatter_sum: an index is not below ", size);
  const Tensor sum = at::zeros({size}, src.options().dtype(at::kDouble));
  return sum.index_add_(0, index, src.to(at::kDouble)).to(src.scalar_type());
}

OPGEN_KERNEL(ok_turned_cpu)(const Tensor& x) {
  OPGEN_CHECK(x.dim() == 2, "ok_turned: expected a matrix");
  return x.clone(MemoryFormat::Contiguous).t();
}
