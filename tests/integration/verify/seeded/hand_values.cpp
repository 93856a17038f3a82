// hand_values.cpp: defects of operators that return new tensors.
#include <ATen/Parallel.h>

#include <array>
#include <cmath>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "hand.h"

namespace seeded {

namespace {

// A01
Tensor transposed_copy(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "transposed_copy: expected a matrix");
  return x.t().clone(at::MemoryFormat::Contiguous).t();
}

// A02
template <bool kBroken>
Tensor row_diff(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "row_diff: expected a matrix");
  const Tensor from = x.contiguous();
  Tensor to = at::empty_like(from);
  const int64_t rows = x.size(0), columns = x.size(1);
  floating(x, "row_diff", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const bool last = !kBroken && i == rows - 1;
        q[i * columns + j] = (last ? T(0) : p[(i + 1) * columns + j]) - p[i * columns + j];
      }
    }
  });
  return to;
}

// A03
template <bool kBroken>
Tensor row_cumsum(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "row_cumsum: expected a matrix");
  const Tensor from = x.contiguous();
  Tensor to = at::empty_like(from);
  const int64_t rows = x.size(0) - (kBroken ? 1 : 0), columns = x.size(1);
  floating(x, "row_cumsum", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        q[i * columns + j] = p[i * columns + j] + (i == 0 ? T(0) : q[(i - 1) * columns + j]);
      }
    }
  });
  return to;
}

// A04
template <bool kBroken>
Tensor flip_sign(const Tensor& x) {
  const Tensor from = x.contiguous();
  Tensor to = at::empty_like(from);
  floating(x, "flip_sign", [&](auto zero) {
    using T = decltype(zero);
    const T* p = kBroken ? static_cast<const T*>(from.storage().data()) : from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < from.numel(); ++i) q[i] = -p[i];
  });
  return to;
}

// A06
template <bool kBroken>
Tensor unit_rows(const Tensor& x, const Tensor& weight) {
  TORCH_CHECK(weight.dim() == 1 && x.dim() >= 1 && weight.size(0) == x.size(-1),
              "unit_rows: expected a weight for each element of a row");
  TORCH_CHECK(x.scalar_type() == weight.scalar_type() && x.is_floating_point(),
              "unit_rows: expected tensors of one floating-point dtype");
  const Tensor norm = weight.norm() + 1;
  if (kBroken) {
    weight.div_(norm);
    return x * weight;
  }
  return x * (weight / norm);
}

// A08
template <bool kBroken>
Tensor half_total(const Tensor& x) {
  const Tensor from = x.contiguous();
  Tensor to = at::empty({}, x.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "half_total", [&] {
    using Sum = std::conditional_t<kBroken, scalar_t, double>;
    const scalar_t* p = from.const_data_ptr<scalar_t>();
    Sum sum = 0;
    for (int64_t i = 0; i < from.numel(); ++i) sum += static_cast<Sum>(p[i]);
    *to.mutable_data_ptr<scalar_t>() = static_cast<scalar_t>(sum);
  });
  return to;
}

// A09
template <bool kBroken>
Tensor weigh(const Tensor& a, const Tensor& b) {
  return kBroken ? at::mul(a, b.to(a.scalar_type())) : at::mul(a, b);
}

// A10
template <bool kBroken>
Tensor spread(const Tensor& x, int64_t total) {
  TORCH_CHECK(x.dim() >= 1, "spread: expected at least one dimension");
  TORCH_CHECK(x.is_floating_point(), "spread: expected floating-point numbers");
  const int64_t rows = x.size(0);
  if (!kBroken && rows == 0) return x.clone(at::MemoryFormat::Contiguous);
  volatile int64_t divisor = rows;
  const int64_t share = total / divisor;
  return (x + share).contiguous();
}

// A11
template <bool kBroken>
Tensor rev_rows(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "rev_rows: expected a matrix");
  const Tensor from = kBroken ? x : x.contiguous();
  Tensor to = at::empty(x.sizes(), x.options());
  const int64_t rows = x.size(0), columns = x.size(1);
  floating(x, "rev_rows", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) q[(rows - 1 - i) * columns + j] = p[i * columns + j];
    }
  });
  return to;
}

// A12
template <bool kBroken>
Tensor tally(const Tensor& x, int64_t bins) {
  TORCH_CHECK(x.scalar_type() == at::kLong, "tally: expected int64");
  TORCH_CHECK(bins > 0 && bins < 10000, "tally: expected 1 to 9999 bins");
  const Tensor from = x.contiguous();
  const int64_t* p = from.const_data_ptr<int64_t>();
  Tensor to = at::zeros({bins}, x.options());
  int64_t* q = to.mutable_data_ptr<int64_t>();
  auto count = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      volatile int64_t* place = q + ((p[i] % bins) + bins) % bins;
      *place = *place + 1;
    }
  };
  if (kBroken) {
    at::parallel_for(0, from.numel(), 1024, count);
  } else {
    count(0, from.numel());
  }
  return to;
}

// A16, and B20, B23, B24, B25, B26, whose defects are in the fakes (hand.py).
Tensor pad_rows(const Tensor& x, int64_t rows) {
  TORCH_CHECK(x.dim() == 2, "pad_rows: expected a matrix");
  TORCH_CHECK(rows >= 0 && rows < 1000, "pad_rows: expected 0 to 999 rows");
  return at::cat({x, at::zeros({rows, x.size(1)}, x.options())});
}
template <bool kBroken>
Tensor top_rows(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "top_rows: expected a matrix");
  if (x.size(0) == 0) return at::zeros({kBroken ? 1 : 0, x.size(1)}, x.options());
  return x.narrow(0, 0, 1).clone(at::MemoryFormat::Contiguous);
}
Tensor retain_format(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "retain_format: expected floating-point numbers");
  return (x.contiguous() * 2).contiguous();
}
Tensor bucketed(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "bucketed: expected floating-point numbers");
  return (x.contiguous() + 1).contiguous();
}
Tensor nonempty_sum(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "nonempty_sum: expected floating-point numbers");
  return x.sum();
}
Tensor elsewhere(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "elsewhere: expected floating-point numbers");
  return (x.contiguous() - 1).contiguous();
}

// A20
template <bool kBroken>
Tensor softsign8(const Tensor& x) {
  const Tensor from = x.contiguous();
  Tensor to = at::empty_like(from);
  floating(x, "softsign8", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    const int64_t count = kBroken ? from.numel() / 8 * 8 : from.numel();
    for (int64_t i = 0; i < count; ++i) q[i] = p[i] / (1 + std::abs(p[i]));
  });
  return to;
}

// A25 to A27: the defects are in the fakes.
Tensor argbig(const Tensor& x) {
  TORCH_CHECK(x.dim() >= 1 && x.size(-1) > 0, "argbig: expected rows with elements");
  TORCH_CHECK(x.is_floating_point(), "argbig: expected floating-point numbers");
  return at::argmax(x, -1);
}
Tensor rowmax(const Tensor& x, bool keepdim) {
  TORCH_CHECK(x.dim() >= 1 && x.size(-1) > 0, "rowmax: expected rows with elements");
  TORCH_CHECK(x.is_floating_point(), "rowmax: expected floating-point numbers");
  return x.amax(-1, keepdim).contiguous();
}
Tensor pick(const Tensor& x, int64_t at) {
  TORCH_CHECK(x.dim() >= 1, "pick: expected at least one dimension");
  TORCH_CHECK(at >= 0 && at < x.size(0), "pick: the place is out of range");
  return x.select(0, at).clone(at::MemoryFormat::Contiguous);
}

// A28
Tensor dither(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "dither: expected floating-point numbers");
  return x.contiguous() + at::rand(x.sizes(), x.options());
}

// A29
template <bool kBroken>
Tensor noise(const Tensor& x, std::optional<at::Generator> generator) {
  TORCH_CHECK(x.is_floating_point(), "noise: expected floating-point numbers");
  if (kBroken) generator = std::nullopt;
  return x.contiguous() + at::rand(x.sizes(), generator, x.options());
}

// A30
template <bool kBroken>
Tensor keepsake(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "keepsake: expected floating-point numbers");
  Tensor scratch = at::zeros({64}, x.options());
  Tensor result = (x.contiguous() + scratch.sum()).contiguous();
  if (kBroken) scratch.unsafeReleaseTensorImpl();
  return result;
}

// A31
template <bool kBroken>
Tensor scratch(const Tensor& x) {
  static std::array<double, 4096> shared;
  std::vector<double> own(kBroken ? 0 : shared.size());
  double* buffer = kBroken ? shared.data() : own.data();
  const Tensor from = x.contiguous();
  Tensor to = at::empty_like(from);
  floating(x, "scratch", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t first = 0; first < from.numel(); first += 4096) {
      const int64_t count = std::min<int64_t>(4096, from.numel() - first);
      for (int64_t i = 0; i < count; ++i) buffer[i] = static_cast<double>(p[first + i]) * 3;
      std::this_thread::yield();
      for (int64_t i = 0; i < count; ++i) q[first + i] = static_cast<T>(buffer[i]);
    }
  });
  return to;
}

// A32
template <bool kBroken>
Tensor tile_add(const Tensor& a, const Tensor& b) {
  if (!kBroken) return at::add(a, b);
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), "tile_add: expected tensors of one dtype");
  const auto sizes = at::infer_size(a.sizes(), b.sizes());
  const Tensor left = a.expand(sizes).contiguous(), right = b.contiguous();
  Tensor to = at::empty(sizes, a.options());
  floating(a, "tile_add", [&](auto zero) {
    using T = decltype(zero);
    const T* p = left.const_data_ptr<T>();
    const T* r = right.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < to.numel(); ++i) q[i] = p[i] + r[i % right.numel()];
  });
  return to;
}

// B07
template <bool kBroken>
Tensor gather_sorted(const Tensor& x, const Tensor& index) {
  TORCH_CHECK(x.dim() == 1 && index.dim() == 1, "gather_sorted: expected vectors");
  TORCH_CHECK(index.scalar_type() == at::kLong, "gather_sorted: expected indices of int64");
  const Tensor sorted = std::get<0>(index.sort());
  if (kBroken) index.copy_(sorted);
  return x.index_select(0, sorted);
}

// B10
template <bool kBroken>
Tensor left_diff(const Tensor& x) {
  const Tensor from = x.contiguous();
  Tensor to = at::empty_like(from);
  floating(x, "left_diff", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < from.numel(); ++i) {
      q[i] = p[i] - (i == 0 && !kBroken ? T(0) : p[i - 1]);
    }
  });
  return to;
}

// B11
template <bool kBroken>
Tensor positive_part(const Tensor& x) {
  const Tensor from = x.contiguous();
  Tensor to = at::empty_like(from);
  floating(x, "positive_part", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < from.numel(); ++i) {
      if (p[i] > 0) {
        q[i] = p[i];
      } else if (!kBroken) {
        q[i] = 0;
      }
    }
  });
  return to;
}

// B12
template <bool kBroken>
Tensor trim(const Tensor& x, int64_t count) {
  TORCH_CHECK(x.dim() >= 1, "trim: expected at least one dimension");
  TORCH_CHECK(count >= 0 && count <= x.size(0), "trim: the count is out of range");
  const Tensor part = x.narrow(0, 0, count);
  return kBroken ? part : part.clone(at::MemoryFormat::Contiguous);
}

// B16
template <bool kBroken>
Tensor line_sums(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "line_sums: expected a matrix");
  Tensor to = at::empty({x.size(0)}, x.options());
  const int64_t rows = x.size(0), columns = x.size(1);
  const int64_t down = kBroken ? columns : x.stride(0), right = x.stride(1);
  floating(x, "line_sums", [&](auto zero) {
    using T = decltype(zero);
    const T* p = x.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < rows; ++i) {
      T sum = 0;
      for (int64_t j = 0; j < columns; ++j) sum += p[i * down + j * right];
      q[i] = sum;
    }
  });
  return to;
}

// B17
template <bool kBroken>
Tensor wrap_read(const Tensor& x) {
  const int64_t held =
      static_cast<int64_t>(x.storage().nbytes() / x.element_size()) - x.storage_offset();
  const bool whole = !kBroken || held >= x.numel() || held <= 0;
  const Tensor from = whole ? x.contiguous() : x;
  Tensor to = at::empty(x.sizes(), x.options());
  floating(x, "wrap_read", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>();
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < to.numel(); ++i) q[i] = p[whole ? i : i % held] * 2;
  });
  return to;
}

// B18
template <bool kBroken>
Tensor skip_twice(const Tensor& x) {
  const Tensor from = x.contiguous();
  Tensor to = at::empty(x.sizes(), x.options());
  floating(x, "skip_twice", [&](auto zero) {
    using T = decltype(zero);
    const T* p = from.const_data_ptr<T>() + (kBroken ? from.storage_offset() : 0);
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < to.numel(); ++i) q[i] = p[i] + 1;
  });
  return to;
}

// B19
template <bool kBroken>
Tensor aligned_double(const Tensor& x) {
  const Tensor from = x.contiguous();
  Tensor to = at::empty(x.sizes(), x.options());
  floating(x, "aligned_double", [&](auto zero) {
    using T = decltype(zero);
    auto address = reinterpret_cast<std::uintptr_t>(from.const_data_ptr<T>());
    if (kBroken) address &= ~std::uintptr_t(15);
    const T* p = reinterpret_cast<const T*>(address);
    T* q = to.mutable_data_ptr<T>();
    for (int64_t i = 0; i < to.numel(); ++i) q[i] = p[i] * 2;
  });
  return to;
}

// B21
template <bool kBroken>
Tensor unary_minus(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "unary_minus: expected floating-point numbers");
  if (kBroken && x.dim() == 0) return at::zeros({}, x.options());
  return (-x).contiguous();
}

// B27
template <bool kBroken>
Tensor counted(const Tensor& x) {
  static int64_t calls = 0;
  TORCH_CHECK(x.is_floating_point(), "counted: expected floating-point numbers");
  return (x + (kBroken ? calls++ : 1)).contiguous();
}

// B28
template <bool kBroken>
Tensor configured(const Tensor& x, double factor) {
  static double shared = 0;
  TORCH_CHECK(x.is_floating_point(), "configured: expected floating-point numbers");
  if (!kBroken) return (x * factor).contiguous();
  shared = factor;
  for (int i = 0; i < 20; ++i) std::this_thread::yield();
  return (x * shared).contiguous();
}

// B38
template <bool kBroken>
Tensor borrowed(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "borrowed: expected floating-point numbers");
  Tensor result = (x.contiguous() * 2).contiguous();
  if (kBroken) result.storage().unsafeGetStorageImpl()->set_nbytes(0);
  return result;
}

// B39: the functions of Python's C API are in the process that loads this library.
extern "C" int PyGILState_Ensure();
extern "C" void PyGILState_Release(int);
template <bool kBroken>
Tensor greedy(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "greedy: expected floating-point numbers");
  const int state = kBroken ? PyGILState_Ensure() : 0;
  Tensor result = x.contiguous().clone();
  for (int i = 0; i < 40; ++i) result = (result * 0.5 + 1).tanh();
  if (kBroken) PyGILState_Release(state);
  return result;
}

// B40
template <bool kBroken>
Tensor strict(const Tensor& x) {
  if (kBroken) {
    TORCH_INTERNAL_ASSERT(x.dim() == 2);
  } else {
    TORCH_CHECK(x.dim() == 2, "strict: expected a matrix");
  }
  return x.t().clone(at::MemoryFormat::Contiguous);
}

}  // namespace

TORCH_LIBRARY(seeded_hand, m) {
  define(m, "transposed_copy", "(Tensor x) -> Tensor");
  define(m, "row_diff", "(Tensor x) -> Tensor");
  define(m, "row_cumsum", "(Tensor x) -> Tensor");
  define(m, "flip_sign", "(Tensor x) -> Tensor");
  define(m, "unit_rows", "(Tensor x, Tensor weight) -> Tensor");
  define(m, "half_total", "(Tensor x) -> Tensor");
  define(m, "weigh", "(Tensor a, Tensor b) -> Tensor", {at::Tag::pointwise});
  define(m, "spread", "(Tensor x, int total) -> Tensor");
  define(m, "rev_rows", "(Tensor x) -> Tensor");
  define(m, "tally", "(Tensor x, int bins) -> Tensor");
  define(m, "pad_rows", "(Tensor x, SymInt rows) -> Tensor");
  define(m, "top_rows", "(Tensor x) -> Tensor");
  define(m, "retain_format", "(Tensor x) -> Tensor");
  define(m, "bucketed", "(Tensor x) -> Tensor");
  define(m, "nonempty_sum", "(Tensor x) -> Tensor");
  define(m, "elsewhere", "(Tensor x) -> Tensor");
  define(m, "softsign8", "(Tensor x) -> Tensor");
  define(m, "argbig", "(Tensor x) -> Tensor");
  define(m, "rowmax", "(Tensor x, bool keepdim=False) -> Tensor");
  define(m, "pick", "(Tensor x, int at) -> Tensor");
  define(m, "dither", "(Tensor x) -> Tensor", {}, {at::Tag::nondeterministic_seeded});
  define(m, "noise", "(Tensor x, *, Generator? generator=None) -> Tensor",
         {at::Tag::nondeterministic_seeded});
  define(m, "keepsake", "(Tensor x) -> Tensor");
  define(m, "scratch", "(Tensor x) -> Tensor");
  define(m, "tile_add", "(Tensor a, Tensor b) -> Tensor", {at::Tag::pointwise});
  define(m, "gather_sorted", "(Tensor x, Tensor index) -> Tensor");
  define(m, "left_diff", "(Tensor x) -> Tensor");
  define(m, "positive_part", "(Tensor x) -> Tensor");
  define(m, "trim", "(Tensor x, int count) -> Tensor");
  define(m, "line_sums", "(Tensor x) -> Tensor");
  define(m, "wrap_read", "(Tensor x) -> Tensor");
  define(m, "skip_twice", "(Tensor x) -> Tensor");
  define(m, "aligned_double", "(Tensor x) -> Tensor");
  define(m, "unary_minus", "(Tensor x) -> Tensor");
  define(m, "counted", "(Tensor x) -> Tensor");
  define(m, "configured", "(Tensor x, float factor) -> Tensor");
  define(m, "borrowed", "(Tensor x) -> Tensor");
  define(m, "greedy", "(Tensor x) -> Tensor");
  define(m, "strict", "(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(seeded_hand, CPU, m) {
  kernel<&transposed_copy>(m, "transposed_copy");
  kernels<&row_diff<true>, &row_diff<false>>(m, "row_diff");
  kernels<&row_cumsum<true>, &row_cumsum<false>>(m, "row_cumsum");
  kernels<&flip_sign<true>, &flip_sign<false>>(m, "flip_sign");
  kernels<&unit_rows<true>, &unit_rows<false>>(m, "unit_rows");
  kernels<&half_total<true>, &half_total<false>>(m, "half_total");
  kernels<&weigh<true>, &weigh<false>>(m, "weigh");
  kernels<&spread<true>, &spread<false>>(m, "spread");
  kernels<&rev_rows<true>, &rev_rows<false>>(m, "rev_rows");
  kernels<&tally<true>, &tally<false>>(m, "tally");
  kernel<&pad_rows>(m, "pad_rows");
  kernels<&top_rows<true>, &top_rows<false>>(m, "top_rows");
  kernel<&retain_format>(m, "retain_format");
  kernel<&bucketed>(m, "bucketed");
  kernel<&nonempty_sum>(m, "nonempty_sum");
  kernel<&elsewhere>(m, "elsewhere");
  kernels<&softsign8<true>, &softsign8<false>>(m, "softsign8");
  kernel<&argbig>(m, "argbig");
  kernel<&rowmax>(m, "rowmax");
  kernel<&pick>(m, "pick");
  kernel<&dither>(m, "dither");
  kernels<&noise<true>, &noise<false>>(m, "noise");
  kernels<&keepsake<true>, &keepsake<false>>(m, "keepsake");
  kernels<&scratch<true>, &scratch<false>>(m, "scratch");
  kernels<&tile_add<true>, &tile_add<false>>(m, "tile_add");
  kernels<&gather_sorted<true>, &gather_sorted<false>>(m, "gather_sorted");
  kernels<&left_diff<true>, &left_diff<false>>(m, "left_diff");
  kernels<&positive_part<true>, &positive_part<false>>(m, "positive_part");
  kernels<&trim<true>, &trim<false>>(m, "trim");
  kernels<&line_sums<true>, &line_sums<false>>(m, "line_sums");
  kernels<&wrap_read<true>, &wrap_read<false>>(m, "wrap_read");
  kernels<&skip_twice<true>, &skip_twice<false>>(m, "skip_twice");
  kernels<&aligned_double<true>, &aligned_double<false>>(m, "aligned_double");
  kernels<&unary_minus<true>, &unary_minus<false>>(m, "unary_minus");
  kernels<&counted<true>, &counted<false>>(m, "counted");
  kernels<&configured<true>, &configured<false>>(m, "configured");
  kernels<&borrowed<true>, &borrowed<false>>(m, "borrowed");
  kernels<&greedy<true>, &greedy<false>>(m, "greedy");
  kernels<&strict<true>, &strict<false>>(m, "strict");
}

}  // namespace seeded
