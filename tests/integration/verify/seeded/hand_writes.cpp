// hand_writes.cpp: defects of operators that write arguments, and of views.
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>

#include <algorithm>

#include "hand.h"

namespace seeded {

namespace {

// What a kernel with out= checks first, and what it does at the end.
void check_out(const Tensor& x, const Tensor& out, const char* name) {
  TORCH_CHECK(x.is_floating_point(), name, ": expected floating-point numbers");
  TORCH_CHECK(out.scalar_type() == x.scalar_type(), name, ": expected out of dtype ",
              x.scalar_type(), ", got ", out.scalar_type());
}
void store(const Tensor& result, const Tensor& x, Tensor& out) {
  at::native::resize_output(out, result.sizes());
  at::assert_no_internal_overlap(out);
  at::assert_no_partial_overlap(out, x);
  out.copy_(result);
}

void check_written(const Tensor& self, const char* name) {
  TORCH_CHECK(self.is_floating_point(), name, ": expected floating-point numbers");
  at::assert_no_internal_overlap(self);
}

// A05
Tensor floor_at_good(Tensor& self, double low) {
  check_written(self, "floor_at_");
  return self.clamp_min_(low);
}
Tensor floor_at_broken(Tensor& self, double low) {
  return floor_at_good(self, low).clone();
}

// A07
template <bool kBroken>
Tensor last_column(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2 && x.size(1) > 0, "last_column: expected a matrix with columns");
  const Tensor column = x.select(1, -1);
  return kBroken ? column.clone() : column;
}

// A17
std::tuple<Tensor, Tensor> extremes(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point() && x.numel() > 0, "extremes: expected some numbers");
  return {x.amin(), x.amax()};
}
template <bool kBroken>
std::tuple<Tensor, Tensor> extremes_out(const Tensor& x, Tensor& low, Tensor& high) {
  check_out(x, low, "extremes");
  check_out(x, high, "extremes");
  auto [least, most] = extremes(x);
  if (kBroken) std::swap(least, most);
  at::native::resize_output(low, {});
  at::native::resize_output(high, {});
  at::assert_no_overlap(low, high);
  low.copy_(least);
  high.copy_(most);
  return {low, high};
}

// A18
Tensor doubled(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "doubled: expected floating-point numbers");
  return (x.contiguous() * 2).contiguous();
}
template <bool kBroken>
Tensor& doubled_out(const Tensor& x, Tensor& out) {
  check_out(x, out, "doubled");
  const Tensor result = doubled(x);
  if (!kBroken || out.sizes() == x.sizes()) {
    store(result, x, out);
    return out;
  }
  const int64_t count = std::min(out.numel(), result.numel());
  if (out.is_contiguous()) {
    out.view({-1}).narrow(0, 0, count).copy_(result.view({-1}).narrow(0, 0, count));
  }
  return out;
}

// A19
template <bool kBroken>
Tensor& absorb_(Tensor& self, const Tensor& other) {
  check_written(self, "absorb_");
  if (kBroken) self.mul_(0.5);
  TORCH_CHECK(self.sizes() == other.sizes() && self.scalar_type() == other.scalar_type(),
              "absorb_: expected tensors of one shape and dtype");
  at::assert_no_partial_overlap(self, other);
  if (!kBroken) {
    const Tensor added = other.clone();
    self.mul_(0.5);
    return self.add_(added);
  }
  return self.add_(other);
}

// A21
template <bool kBroken>
Tensor& ramp_(Tensor& self) {
  check_written(self, "ramp_");
  Tensor to = self.is_contiguous() ? self : at::empty(self.sizes(), self.options());
  floating(self, "ramp_", [&](auto zero) {
    using T = decltype(zero);
    T* q = to.mutable_data_ptr<T>();
    const bool whole = kBroken && self.is_contiguous();
    const int64_t count = whole ? (to.numel() + 7) / 8 * 8 : to.numel();
    for (int64_t i = 0; i < count; ++i) q[i] = static_cast<T>(i);
  });
  if (!self.is_contiguous()) self.copy_(to);
  return self;
}

// A22
Tensor cubed(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "cubed: expected floating-point numbers");
  const Tensor from = x.contiguous();
  return from * from * from;
}
template <bool kBroken>
Tensor& cubed_out(const Tensor& x, Tensor& out) {
  check_out(x, out, "cubed");
  const Tensor result = cubed(x);
  if (!kBroken) {
    store(result, x, out);
    return out;
  }
  at::native::resize_output(out, result.sizes());
  out.set_(result);
  return out;
}

// A23: the mean of an element and its neighbours.
template <class T>
void smooth_line(const T* p, T* q, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const T left = i > 0 ? p[i - 1] : T(0), right = i + 1 < count ? p[i + 1] : T(0);
    q[i] = (left + p[i] + right) / 3;
  }
}
Tensor smooth(const Tensor& x) {
  const Tensor from = x.contiguous();
  Tensor to = at::empty(x.sizes(), x.options());
  floating(x, "smooth", [&](auto zero) {
    using T = decltype(zero);
    smooth_line(from.const_data_ptr<T>(), to.mutable_data_ptr<T>(), to.numel());
  });
  return to;
}
template <bool kBroken>
Tensor& smooth_(Tensor& self) {
  check_written(self, "smooth_");
  if (!kBroken || !self.is_contiguous()) return self.copy_(smooth(self));
  floating(self, "smooth_", [&](auto zero) {
    using T = decltype(zero);
    T* p = self.mutable_data_ptr<T>();
    smooth_line(p, p, self.numel());
  });
  return self;
}

// A24
template <class T>
void shift_line(const T* p, T* q, int64_t count) {
  for (int64_t i = 0; i < count; ++i) q[i] = i == 0 ? T(0) : p[i - 1] + 1;
}
Tensor shift_right(const Tensor& x) {
  const Tensor from = x.contiguous();
  Tensor to = at::empty(x.sizes(), x.options());
  floating(x, "shift_right", [&](auto zero) {
    using T = decltype(zero);
    shift_line(from.const_data_ptr<T>(), to.mutable_data_ptr<T>(), to.numel());
  });
  return to;
}
template <bool kBroken>
Tensor& shift_right_out(const Tensor& x, Tensor& out) {
  check_out(x, out, "shift_right");
  at::native::resize_output(out, x.sizes());
  at::assert_no_internal_overlap(out);
  if (!kBroken) at::assert_no_overlap(out, x);
  if (!out.is_contiguous()) return out.copy_(shift_right(x));
  const Tensor from = x.contiguous();
  floating(x, "shift_right", [&](auto zero) {
    using T = decltype(zero);
    shift_line(from.const_data_ptr<T>(), out.mutable_data_ptr<T>(), out.numel());
  });
  return out;
}

// B01
Tensor mix(const Tensor& x, const Tensor& y, double weight) {
  TORCH_CHECK(x.is_floating_point() && x.sizes() == y.sizes() && x.scalar_type() == y.scalar_type(),
              "mix: expected tensors of one shape and dtype");
  return at::lerp(x.contiguous(), y.contiguous(), weight);
}
template <bool kBroken>
Tensor& mix_(Tensor& x, const Tensor& y, double weight) {
  check_written(x, "mix_");
  at::assert_no_partial_overlap(x, y);
  return x.copy_(mix(x, y, kBroken ? 0.5 : weight));
}

// B02 to B05
Tensor tripled(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "tripled: expected floating-point numbers");
  return x.contiguous() * 3;
}
template <bool kBroken>
Tensor& tripled_out(const Tensor& x, Tensor& out) {
  check_out(x, out, "tripled");
  Tensor result = tripled(x);
  if (kBroken && out.sizes() != x.sizes()) result = result.view({-1});
  store(result, x, out);
  return out;
}
Tensor halved(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "halved: expected floating-point numbers");
  return x.contiguous() * 0.5;
}
template <bool kBroken>
Tensor& halved_out(const Tensor& x, Tensor& out) {
  check_out(x, out, "halved");
  const Tensor result = halved(x);
  if (kBroken && out.sizes() != x.sizes()) out.resize_(x.sizes());
  store(result, x, out);
  return out;
}
Tensor third(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "third: expected floating-point numbers");
  return x.contiguous() / 3;
}
template <bool kBroken>
Tensor& third_out(const Tensor& x, Tensor& out) {
  if (!kBroken) check_out(x, out, "third");
  store(third(x), x, out);
  return out;
}
Tensor negated(const Tensor& x) {
  TORCH_CHECK(x.is_floating_point(), "negated: expected floating-point numbers");
  return -x.contiguous();
}
template <bool kBroken>
Tensor& negated_out(const Tensor& x, Tensor& out) {
  check_out(x, out, "negated");
  const Tensor result = negated(x);
  if (kBroken && out.sizes() == x.sizes() && !out.is_contiguous()) {
    out.resize_({0}).resize_(x.sizes());
  }
  store(result, x, out);
  return out;
}

// B06
template <bool kBroken>
Tensor& accrue_(Tensor& self, const Tensor& other) {
  check_written(self, "accrue_");
  TORCH_CHECK(other.scalar_type() == self.scalar_type(), "accrue_: expected one dtype");
  const auto sizes = at::infer_size(self.sizes(), other.sizes());
  if (kBroken && self.sizes() != sizes) {
    const Tensor result = self + other;
    self.resize_(sizes);
    return self.copy_(result);
  }
  return self.add_(other);
}

// B08
template <bool kBroken>
Tensor& wipe_(Tensor& self, double value) {
  check_written(self, "wipe_");
  if (!kBroken) return self.fill_(value);
  if (self.numel() == 0) return self;
  int64_t span = 1;
  for (int64_t d = 0; d < self.dim(); ++d) span += (self.size(d) - 1) * self.stride(d);
  floating(self, "wipe_", [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(self.mutable_data_ptr<T>(), span, static_cast<T>(value));
  });
  return self;
}

// B09
template <bool kBroken>
Tensor& decay_(Tensor& self) {
  check_written(self, "decay_");
  self.mul_(0.5);
  if (kBroken && self.is_contiguous() && self.numel() > 0) {
    floating(self, "decay_", [&](auto zero) {
      using T = decltype(zero);
      self.mutable_data_ptr<T>()[self.numel()] = 0;
    });
  }
  return self;
}

// B13
template <bool kBroken>
Tensor flat_view(const Tensor& x) {
  return kBroken ? x.reshape({-1}) : x.view({-1});
}

// B14
template <bool kBroken>
Tensor& add_one_(Tensor& self) {
  TORCH_CHECK(self.is_floating_point(), "add_one_: expected floating-point numbers");
  if (!kBroken) {
    at::assert_no_internal_overlap(self);
    return self.add_(1);
  }
  floating(self, "add_one_", [&](auto zero) {
    using T = decltype(zero);
    T* q = self.mutable_data_ptr<T>();
    std::vector<int64_t> at(self.dim(), 0);
    for (int64_t i = 0; i < self.numel(); ++i) {
      int64_t rest = i, place = 0;
      for (int64_t d = self.dim() - 1; d >= 0; --d) {
        place += rest % self.size(d) * self.stride(d);
        rest /= self.size(d);
      }
      q[place] += 1;
    }
  });
  return self;
}

// B15
template <bool kBroken>
Tensor& put_at_(Tensor& self, const Tensor& index, double value) {
  check_written(self, "put_at_");
  TORCH_CHECK(self.dim() == 1 && index.dim() == 1, "put_at_: expected vectors");
  TORCH_CHECK(index.scalar_type() == at::kLong, "put_at_: expected indices of int64");
  const Tensor places = index.contiguous();
  const int64_t* p = places.const_data_ptr<int64_t>();
  auto check = [&](int64_t i) {
    TORCH_CHECK(p[i] >= 0 && p[i] < self.size(0), "put_at_: an index is out of range");
  };
  if (!kBroken) {
    for (int64_t i = 0; i < places.numel(); ++i) check(i);
  }
  for (int64_t i = 0; i < places.numel(); ++i) {
    check(i);
    self.select(0, p[i]).fill_(value);
  }
  return self;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(seeded_hand, m) {
  const std::string written = "(Tensor(a!) self) -> Tensor(a!)";
  const std::string out = ".out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)";
  define(m, "floor_at_", "(Tensor(a!) self, float low) -> Tensor(a!)");
  define(m, "last_column", "(Tensor(a) x) -> Tensor(a)");
  define(m, "extremes", "(Tensor x) -> (Tensor low, Tensor high)");
  define(m, "extremes",
         ".out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!) low, Tensor(b!) high)");
  for (const char* name :
       {"doubled", "cubed", "shift_right", "tripled", "halved", "third", "negated"}) {
    define(m, name, "(Tensor x) -> Tensor");
    define(m, name, out);
  }
  define(m, "absorb_", "(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  define(m, "ramp_", written);
  define(m, "smooth", "(Tensor self) -> Tensor");
  define(m, "smooth_", written);
  define(m, "mix", "(Tensor x, Tensor y, float weight=0.25) -> Tensor");
  define(m, "mix_", "(Tensor(a!) x, Tensor y, float weight=0.25) -> Tensor(a!)");
  define(m, "accrue_", "(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  define(m, "wipe_", "(Tensor(a!) self, float value) -> Tensor(a!)");
  define(m, "decay_", written);
  define(m, "flat_view", "(Tensor(a) x) -> Tensor(a)");
  define(m, "add_one_", written);
  define(m, "put_at_", "(Tensor(a!) self, Tensor index, float value) -> Tensor(a!)");
}

TORCH_LIBRARY_IMPL(seeded_hand, CPU, m) {
  kernels<&floor_at_broken, &floor_at_good>(m, "floor_at_");
  kernels<&last_column<true>, &last_column<false>>(m, "last_column");
  kernel<&extremes>(m, "extremes");
  kernels<&extremes_out<true>, &extremes_out<false>>(m, "extremes", ".out");
  kernel<&doubled>(m, "doubled");
  kernels<&doubled_out<true>, &doubled_out<false>>(m, "doubled", ".out");
  kernels<&absorb_<true>, &absorb_<false>>(m, "absorb_");
  kernels<&ramp_<true>, &ramp_<false>>(m, "ramp_");
  kernel<&cubed>(m, "cubed");
  kernels<&cubed_out<true>, &cubed_out<false>>(m, "cubed", ".out");
  kernel<&smooth>(m, "smooth");
  kernels<&smooth_<true>, &smooth_<false>>(m, "smooth_");
  kernel<&shift_right>(m, "shift_right");
  kernels<&shift_right_out<true>, &shift_right_out<false>>(m, "shift_right", ".out");
  kernel<&mix>(m, "mix");
  kernels<&mix_<true>, &mix_<false>>(m, "mix_");
  kernel<&tripled>(m, "tripled");
  kernels<&tripled_out<true>, &tripled_out<false>>(m, "tripled", ".out");
  kernel<&halved>(m, "halved");
  kernels<&halved_out<true>, &halved_out<false>>(m, "halved", ".out");
  kernel<&third>(m, "third");
  kernels<&third_out<true>, &third_out<false>>(m, "third", ".out");
  kernel<&negated>(m, "negated");
  kernels<&negated_out<true>, &negated_out<false>>(m, "negated", ".out");
  kernels<&accrue_<true>, &accrue_<false>>(m, "accrue_");
  kernels<&wipe_<true>, &wipe_<false>>(m, "wipe_");
  kernels<&decay_<true>, &decay_<false>>(m, "decay_");
  kernels<&flat_view<true>, &flat_view<false>>(m, "flat_view");
  kernels<&add_one_<true>, &add_one_<false>>(m, "add_one_");
  kernels<&put_at_<true>, &put_at_<false>>(m, "put_at_");
}

}  // namespace seeded
