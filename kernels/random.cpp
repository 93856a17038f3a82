// random.cpp: uniform, normal, Bernoulli and integer draws, permutations and dropout. For each
// seed, the numbers are those of PyTorch's CPU generator, except where PyTorch uses a vectorised
// algorithm.
#include <opgen/kernel.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include <aten/ops/bernoulli.h>
#include <aten/ops/bernoulli_native.h>
#include <aten/ops/clone.h>
#include <aten/ops/dropout_native.h>
#include <aten/ops/empty.h>
#include <aten/ops/empty_like.h>
#include <aten/ops/mul.h>
#include <aten/ops/multinomial.h>
#include <aten/ops/multinomial_native.h>
#include <aten/ops/native_dropout_native.h>
#include <aten/ops/normal_native.h>
#include <aten/ops/ones_like.h>
#include <aten/ops/rand.h>
#include <aten/ops/rand_like.h>
#include <aten/ops/rand_like_native.h>
#include <aten/ops/rand_native.h>
#include <aten/ops/randint.h>
#include <aten/ops/randint_native.h>
#include <aten/ops/randn.h>
#include <aten/ops/randn_like.h>
#include <aten/ops/randn_like_native.h>
#include <aten/ops/randn_native.h>
#include <aten/ops/randperm.h>
#include <aten/ops/randperm_native.h>
#include <aten/ops/uniform_native.h>
#include <aten/ops/zeros_like.h>
#include <opgen/cpu/random.h>
#include <opgen/cpu/vec_math.h>

#include "common.h"
#include "devices.h"
#include "special.h"

using namespace kernels;

namespace {

using Engine = opgen::CPUGeneratorImpl;
using MaybeGenerator = std::optional<Generator>;

// Sets each element, in the order of memory, to draw(engine).
template <class T, class F>
void draw_each(const Tensor& self, Engine& engine, F draw) {
  TensorIterator iter = TensorIterator::nullary_op(self);
  opgen::cpu_serial_kernel(iter, [&]() -> T { return draw(engine); });
}

constexpr int64_t kDrawBlock = 1024;

// As many random bits as draw_uniform<T> uses, and that number for them.
template <class T>
constexpr int64_t words_of = std::numeric_limits<T>::digits > 32 ? 2 : 1;
template <class T>
T uniform_of(const uint32_t* words) {
  constexpr int digits = std::numeric_limits<T>::digits;
  constexpr T unit = T(1) / static_cast<T>(uint64_t(1) << digits);
  if constexpr (words_of<T> == 2) {
    const uint64_t bits = static_cast<uint64_t>(words[0]) << 32 | words[1];
    return static_cast<T>(static_cast<int64_t>(bits & ((uint64_t(1) << digits) - 1))) * unit;
  } else {
    // Signed, because processors convert signed integers.
    return static_cast<T>(static_cast<int32_t>(words[0] & ((uint32_t(1) << digits) - 1))) * unit;
  }
}
// to[i] = make(draw_uniform<U>(engine)) for adjacent elements: the same numbers, a block at a time.
template <class U, class T, class F>
void draw_uniforms(T* to, int64_t n, Engine& engine, F make) {
  uint32_t words[kDrawBlock * words_of<U>];
  for (int64_t i = 0; i < n; i += kDrawBlock) {
    const int64_t count = std::min(kDrawBlock, n - i);
    engine.random(words, count * words_of<U>);
    for (int64_t k = 0; k < count; ++k) {
      to[i + k] = make(uniform_of<U>(words + k * words_of<U>));
    }
  }
}

// Views a complex tensor as a real one with a last dimension of two.
Tensor as_real(const Tensor& self) {
  if (!self.is_complex()) return self;
  DimVector sizes(self.sizes()), strides;
  for (int64_t stride : self.strides()) strides.push_back(2 * stride);
  sizes.push_back(2);
  strides.push_back(1);
  Tensor real = opgen::alias_with_sizes_and_strides(self, self.sizes(), self.strides(),
                                                    self.storage_offset());
  opgen::TensorImpl* impl = real.unsafeGetTensorImpl();
  impl->set_dtype(toRealValueType(self.scalar_type()));
  impl->set_storage_offset(2 * self.storage_offset());
  impl->set_sizes_and_strides(sizes, strides);
  return real;
}

// ---- uniform ----

void uniform_into(const Tensor& complex_or_real, double from, double to,
                  const MaybeGenerator& generator) {
  const Tensor self = as_real(complex_or_real);
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), "uniform_", [&] {
    using wide = wide_t<scalar_t>;
    constexpr double limit = std::is_same_v<scalar_t, Half> ? 65504.0
                             : std::is_same_v<scalar_t, double>
                                 ? std::numeric_limits<double>::max()
                                 : double(std::numeric_limits<float>::max());
    OPGEN_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
                " > to=", to);
    OPGEN_CHECK(to - from <= limit, "uniform_ expects to-from <= the greatest ", self.scalar_type(),
                ", but found to=", to, " and from=", from,
                " which result in to-from to exceed the limit");
    Engine* engine = opgen::cpu_generator(generator);
    const opgen::GeneratorLock lock(engine);
    const wide low = static_cast<wide>(from), width = static_cast<wide>(to) - low;
    if (self.is_contiguous()) {
      draw_uniforms<wide>(self.mutable_data_ptr<scalar_t>(), self.numel(), *engine,
                          [=](wide x) { return static_cast<scalar_t>(x * width + low); });
      return;
    }
    draw_each<scalar_t>(self, *engine, [=](Engine& e) {
      return static_cast<scalar_t>(opgen::draw_uniform<wide>(e) * width + low);
    });
  });
}

// ---- normal ----

// Returns two independent normally distributed numbers from two uniform ones (Box-Muller method).
template <class T>
void box_muller(T u1, T u2, T& first, T& second) {
  const T radius = std::sqrt(T(-2) * std::log(u1));
  const T angle = T(2) * T(kernels::pi) * u2;
  first = radius * std::cos(angle);
  second = radius * std::sin(angle);
}

// Makes blocks of sixteen uniform numbers normally distributed. Pairs the first eight of a block
// with the last eight.
template <class T>
void normal_from_uniform(T* draws, int64_t blocks) {
  for (T* block = draws; block != draws + 16 * blocks; block += 16) {
    for (int64_t j = 0; j < 8; ++j) {
      box_muller(T(1) - block[j], block[j + 8], block[j], block[j + 8]);
    }
  }
}
// The same by vectors.
template <>
void normal_from_uniform(float* draws, int64_t blocks) {
  constexpr int64_t most = 32;
  float first[8 * most], second[8 * most], radius[8 * most];
  for (int64_t done = 0; done < blocks; done += most, draws += 16 * most) {
    const int64_t count = std::min(most, blocks - done), n = 8 * count;
    for (int64_t b = 0; b < count; ++b) {
      std::copy_n(draws + 16 * b, 8, first + 8 * b);
      std::copy_n(draws + 16 * b + 8, 8, second + 8 * b);
    }
    opgen::vector_loop([](auto u) { return opgen::vec::log(decltype(u)(1.0f) - u); }, n, radius,
                       first);
    for (int64_t i = 0; i < n; ++i) radius[i] = std::sqrt(-2.0f * radius[i]);
    const auto angle = [](auto u) {
      return u * decltype(u)(2.0f * static_cast<float>(kernels::pi));
    };
    opgen::vector_loop([=](auto r, auto u) { return r * opgen::vec::cos(angle(u)); }, n, first,
                       radius, second);
    opgen::vector_loop([=](auto r, auto u) { return r * opgen::vec::sin(angle(u)); }, n, second,
                       radius, second);
    for (int64_t b = 0; b < count; ++b) {
      std::copy_n(first + 8 * b, 8, draws + 16 * b);
      std::copy_n(second + 8 * b, 8, draws + 16 * b + 8);
    }
  }
}

// Draws sixteen at a time. The last block may overlap the one before it.
template <class T>
void normal_blocks(T* data, int64_t size, double mean, double std, Engine& engine) {
  using wide = wide_t<T>;
  std::vector<wide> draws(static_cast<size_t>(size));
  draw_uniforms<wide>(draws.data(), size, engine, [](wide x) { return x; });
  normal_from_uniform(draws.data(), size / 16);
  if (size % 16 != 0) {
    for (int64_t i = size - 16; i < size; ++i) draws[i] = opgen::draw_uniform<wide>(engine);
    normal_from_uniform(draws.data() + size - 16, 1);
  }
  for (int64_t i = 0; i < size; ++i)
    data[i] = static_cast<T>(draws[i] * static_cast<wide>(std) + static_cast<wide>(mean));
}

void normal_into(const Tensor& complex_or_real, double mean, double std,
                 const MaybeGenerator& generator) {
  const Tensor self = as_real(complex_or_real);
  // Each of the two parts of a complex number has half of its variance.
  const double deviation = complex_or_real.is_complex() ? std / std::sqrt(2.0) : std;
  Engine* engine = opgen::cpu_generator(generator);
  const opgen::GeneratorLock lock(engine);
  OPGEN_DISPATCH_FLOATING(self.scalar_type(), "normal_", [&] {
    if (self.numel() >= 16 && self.is_contiguous()) {
      normal_blocks(self.mutable_data_ptr<scalar_t>(), self.numel(), mean, deviation, *engine);
      return;
    }
    opgen::NormalDraws draw(*engine, mean, deviation);
    draw_each<scalar_t>(self, *engine, [&](Engine&) {
      return static_cast<scalar_t>(static_cast<wide_t<scalar_t>>(draw()));
    });
  });
}

}  // namespace

OPGEN_KERNEL(uniform_)(Tensor& self, double from, double to, std::optional<Generator> generator) {
  OPGEN_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || self.is_complex(),
                              "uniform_ is not implemented for '", self.scalar_type(), "'");
  if (!self.is_meta()) uniform_into(self, from, to, generator);
  return self;
}
OPGEN_KERNEL(normal_)(Tensor& self, double mean, double std, std::optional<Generator> generator) {
  OPGEN_CHECK(std >= 0.0, "normal expects std >= 0.0, but found std ", std);
  if (self.numel() == 0) return self;
  OPGEN_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || self.is_complex(),
                              "normal_ is not implemented for '", self.scalar_type(), "'");
  if (!self.is_meta()) normal_into(self, mean, std, generator);
  return self;
}
OPGEN_KERNEL(normal_functional)
(const Tensor& self, double mean, double std, std::optional<Generator> generator) {
  Tensor out = opgen::clone(self);
  return out.normal_(mean, std, generator);
}

// ---- bernoulli ----

OPGEN_KERNEL(bernoulli_)(Tensor& self, double p, std::optional<Generator> generator) {
  OPGEN_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  if (self.is_meta()) return self;
  Engine* engine = opgen::cpu_generator(generator);
  const opgen::GeneratorLock lock(engine);
  OPGEN_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "bernoulli_", [&] {
    if (self.is_contiguous()) {
      draw_uniforms<double>(self.mutable_data_ptr<scalar_t>(), self.numel(), *engine,
                            [p](double x) { return static_cast<scalar_t>(x < p); });
      return;
    }
    draw_each<scalar_t>(self, *engine, [p](Engine& e) {
      return static_cast<scalar_t>(opgen::draw_uniform<double>(e) < p);
    });
  });
  return self;
}

namespace {

// Each element is 1 with the probability given by the same element of `p`.
template <class T, class P>
void bernoulli_each(const Tensor& self, const Tensor& p, Engine& engine) {
  TensorIterator iter = opgen::TensorIteratorConfig()
                            .add_output(self)
                            .add_const_input(p)
                            .check_all_same_dtype(false)
                            .resize_outputs(false)
                            .build();
  opgen::cpu_serial_kernel(iter, [&](P chance) -> T {
    using wide = wide_t<P>;
    const wide x = static_cast<wide>(chance);
    OPGEN_CHECK(x >= 0 && x <= 1, "bernoulli expects p values to be in [0, 1], but got ", x);
    return static_cast<T>(opgen::draw_uniform<wide>(engine) < x);
  });
}

}  // namespace

OPGEN_KERNEL(bernoulli_)(Tensor& self, const Tensor& p, std::optional<Generator> generator) {
  OPGEN_CHECK(p.is_floating_point(),
              "bernoulli expects probabilities of a floating dtype, but got ", p.scalar_type());
  if (self.numel() == 0) return self;
  OPGEN_CHECK(opgen::is_expandable_to(p.sizes(), self.sizes()), "probabilities of shape ",
              p.sizes(), " do not broadcast to ", self.sizes());
  check_same_device("bernoulli_", self, p);
  if (self.is_meta()) return self;
  Engine* engine = opgen::cpu_generator(generator);
  const opgen::GeneratorLock lock(engine);
  const Tensor chances =
      to_dtype(p, p.scalar_type() == kDouble ? kDouble : kFloat).expand(self.sizes());
  OPGEN_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "bernoulli_", [&] {
    if (chances.scalar_type() == kDouble) {
      bernoulli_each<scalar_t, double>(self, chances, *engine);
    } else {
      bernoulli_each<scalar_t, float>(self, chances, *engine);
    }
  });
  return self;
}
OPGEN_KERNEL(bernoulli_out)(const Tensor& self, std::optional<Generator> generator, Tensor& out) {
  resize_out(out, self.sizes());
  return out.bernoulli_(self, generator);
}
OPGEN_KERNEL(bernoulli)(const Tensor& self, std::optional<Generator> generator) {
  Tensor out = at::empty_like(self, MemoryFormat::Contiguous);
  return out.bernoulli_(self, generator);
}
OPGEN_KERNEL(bernoulli)(const Tensor& self, double p, std::optional<Generator> generator) {
  Tensor out = at::empty_like(self, MemoryFormat::Contiguous);
  return out.bernoulli_(p, generator);
}

// ---- multinomial ----

namespace {

void check_multinomial(const Tensor& self, int64_t num_samples, bool replacement) {
  OPGEN_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  OPGEN_CHECK(
      self.is_floating_point(),
      "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  OPGEN_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  OPGEN_CHECK(replacement || num_samples <= self.size(-1),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
}

// Draws places of one row of weights.
void draw_places(const double* weights, int64_t size, bool replacement, int64_t* places,
                 int64_t count, Engine& engine) {
  std::vector<double> keys(static_cast<size_t>(size));
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    OPGEN_CHECK(weights[i] >= 0 && std::isfinite(weights[i]),
                "probability tensor contains either `inf`, `nan` or element < 0");
    sum += weights[i];
    keys[static_cast<size_t>(i)] = sum;
  }
  OPGEN_CHECK(sum > 0, "invalid multinomial distribution (sum of probabilities <= 0)");
  if (replacement) {
    for (int64_t k = 0; k < count; ++k) {
      const double drawn = opgen::draw_uniform<double>(engine) * sum;
      // Places of weight 0 end where they begin, so that none is drawn.
      const auto found = std::upper_bound(keys.begin(), keys.end(), drawn);
      places[k] = std::min<int64_t>(found - keys.begin(), size - 1);
    }
    return;
  }
  // The first events of independent processes, with the weights as rates.
  for (int64_t i = 0; i < size; ++i) {
    const double time = -std::log1p(-opgen::draw_uniform<double>(engine));
    keys[static_cast<size_t>(i)] =
        weights[i] > 0 ? time / weights[i] : std::numeric_limits<double>::infinity();
  }
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), int64_t(0));
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int64_t a, int64_t b) {
    const double x = keys[static_cast<size_t>(a)], y = keys[static_cast<size_t>(b)];
    return x != y ? x < y : a < b;
  });
  std::copy_n(order.begin(), count, places);
}

}  // namespace

OPGEN_KERNEL(multinomial_out)
(const Tensor& self, int64_t num_samples, bool replacement, std::optional<Generator> generator,
 Tensor& out) {
  check_multinomial(self, num_samples, replacement);
  OPGEN_CHECK(out.scalar_type() == kLong,
              "multinomial expects Long tensor out, got: ", out.scalar_type());
  DimVector shape(self.sizes());
  shape.back() = num_samples;
  resize_out(out, shape);
  if (out.is_meta() || out.numel() == 0) return out;
  Engine* engine = opgen::cpu_generator(generator);
  const opgen::GeneratorLock lock(engine);
  const Tensor weights = opgen::contiguous(to_dtype(self, kDouble));
  const Tensor result = out.is_contiguous() ? out : Tensor(opgen::empty(shape, out.options()));
  const int64_t size = self.size(-1), rows = out.numel() / num_samples;
  for (int64_t row = 0; row < rows; ++row) {
    draw_places(weights.const_data_ptr<double>() + row * size, size, replacement,
                result.mutable_data_ptr<int64_t>() + row * num_samples, num_samples, *engine);
  }
  if (!result.is_same(out)) opgen::copy_(out, result);
  return out;
}
OPGEN_KERNEL(multinomial)
(const Tensor& self, int64_t num_samples, bool replacement, std::optional<Generator> generator) {
  Tensor out = opgen::empty({0}, self.options().dtype(kLong));
  return at::multinomial_out(out, self, num_samples, replacement, generator);
}

// ---- Factories ----

namespace {

Tensor new_empty(IntArrayRef size, OPGEN_OPTIONS) {
  return at::empty(size, dtype, layout, device, pin_memory, std::nullopt);
}

// Checks the bounds of integers in [low, high) for a dtype.
void check_bounds(int64_t low, int64_t high, ScalarType dtype) {
  OPGEN_CHECK(low < high, "random_ expects 'from' to be less than 'to', but got from=", low,
              " >= to=", high);
  OPGEN_CHECK(!isComplexType(dtype), "random integers cannot have dtype ", dtype);
  const auto check = [&](int64_t least, int64_t most) {
    OPGEN_CHECK(low >= least && low <= most, "from is out of bounds for ", dtype);
    OPGEN_CHECK(high - 1 >= least && high - 1 <= most, "to - 1 is out of bounds for ", dtype);
  };
  switch (dtype) {
    case kBool:
      return check(0, 1);
    case kByte:
      return check(0, 255);
    case kChar:
      return check(-128, 127);
    case kShort:
      return check(-32768, 32767);
    case kInt:
      return check(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    case kHalf:
      return check(-65504, 65504);
    default:
      return;
  }
}

Tensor& randint_into(Tensor& out, int64_t low, int64_t high, const MaybeGenerator& generator) {
  check_bounds(low, high, out.scalar_type());
  if (out.is_meta()) return out;
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  Engine* engine = opgen::cpu_generator(generator);
  const opgen::GeneratorLock lock(engine);
  OPGEN_DISPATCH_REAL_AND_BOOL(out.scalar_type(), "randint", [&] {
    draw_each<scalar_t>(out, *engine, [=](Engine& e) {
      const auto value =
          static_cast<int64_t>(static_cast<uint64_t>(low) + opgen::draw_below(e, range));
      if constexpr (is_half_v<scalar_t>) {
        return static_cast<scalar_t>(static_cast<float>(value));
      } else {
        return static_cast<scalar_t>(value);
      }
    });
  });
  return out;
}

}  // namespace

OPGEN_KERNEL(rand)(IntArrayRef size, OPGEN_OPTIONS) {
  return new_empty(size, dtype, layout, device, pin_memory).uniform_(0, 1, std::nullopt);
}
OPGEN_KERNEL(rand)(IntArrayRef size, std::optional<Generator> generator, OPGEN_OPTIONS) {
  return new_empty(size, dtype, layout, device, pin_memory).uniform_(0, 1, generator);
}
OPGEN_KERNEL(rand_out)(IntArrayRef size, Tensor& out) {
  resize_factory_out(out, size);
  return out.uniform_(0, 1, std::nullopt);
}
OPGEN_KERNEL(rand_out)(IntArrayRef size, std::optional<Generator> generator, Tensor& out) {
  resize_factory_out(out, size);
  return out.uniform_(0, 1, generator);
}
OPGEN_KERNEL(randn)(IntArrayRef size, OPGEN_OPTIONS) {
  return new_empty(size, dtype, layout, device, pin_memory).normal_(0, 1, std::nullopt);
}
OPGEN_KERNEL(randn)(IntArrayRef size, std::optional<Generator> generator, OPGEN_OPTIONS) {
  return new_empty(size, dtype, layout, device, pin_memory).normal_(0, 1, generator);
}
OPGEN_KERNEL(randn_out)(IntArrayRef size, Tensor& out) {
  resize_factory_out(out, size);
  return out.normal_(0, 1, std::nullopt);
}
OPGEN_KERNEL(randn_out)(IntArrayRef size, std::optional<Generator> generator, Tensor& out) {
  resize_factory_out(out, size);
  return out.normal_(0, 1, generator);
}

OPGEN_KERNEL(rand_like)
(const Tensor& self, OPGEN_OPTIONS, std::optional<MemoryFormat> memory_format) {
  return at::rand_like(self, std::nullopt, dtype, layout, device, pin_memory, memory_format);
}
OPGEN_KERNEL(rand_like)
(const Tensor& self, std::optional<Generator> generator, OPGEN_OPTIONS,
 std::optional<MemoryFormat> memory_format) {
  Tensor out = at::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return out.uniform_(0, 1, generator);
}
OPGEN_KERNEL(randn_like)
(const Tensor& self, OPGEN_OPTIONS, std::optional<MemoryFormat> memory_format) {
  return at::randn_like(self, std::nullopt, dtype, layout, device, pin_memory, memory_format);
}
OPGEN_KERNEL(randn_like)
(const Tensor& self, std::optional<Generator> generator, OPGEN_OPTIONS,
 std::optional<MemoryFormat> memory_format) {
  Tensor out = at::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return out.normal_(0, 1, generator);
}

OPGEN_KERNEL(randint)(int64_t high, IntArrayRef size, OPGEN_OPTIONS) {
  Tensor out = new_empty(size, dtype.value_or(kLong), layout, device, pin_memory);
  return randint_into(out, 0, high, std::nullopt);
}
OPGEN_KERNEL(randint)
(int64_t high, IntArrayRef size, std::optional<Generator> generator, OPGEN_OPTIONS) {
  Tensor out = new_empty(size, dtype.value_or(kLong), layout, device, pin_memory);
  return randint_into(out, 0, high, generator);
}
OPGEN_KERNEL(randint)(int64_t low, int64_t high, IntArrayRef size, OPGEN_OPTIONS) {
  Tensor out = new_empty(size, dtype.value_or(kLong), layout, device, pin_memory);
  return randint_into(out, low, high, std::nullopt);
}
OPGEN_KERNEL(randint)
(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator, OPGEN_OPTIONS) {
  Tensor out = new_empty(size, dtype.value_or(kLong), layout, device, pin_memory);
  return randint_into(out, low, high, generator);
}
OPGEN_KERNEL(randint_out)(int64_t high, IntArrayRef size, Tensor& out) {
  resize_factory_out(out, size);
  return randint_into(out, 0, high, std::nullopt);
}
OPGEN_KERNEL(randint_out)
(int64_t high, IntArrayRef size, std::optional<Generator> generator, Tensor& out) {
  resize_factory_out(out, size);
  return randint_into(out, 0, high, generator);
}
OPGEN_KERNEL(randint_out)(int64_t low, int64_t high, IntArrayRef size, Tensor& out) {
  resize_factory_out(out, size);
  return randint_into(out, low, high, std::nullopt);
}
OPGEN_KERNEL(randint_out)
(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator, Tensor& out) {
  resize_factory_out(out, size);
  return randint_into(out, low, high, generator);
}

// Each position takes a random one of the remaining numbers.
OPGEN_KERNEL(randperm_out)(int64_t n, std::optional<Generator> generator, Tensor& out) {
  OPGEN_CHECK(n >= 0, "n must be non-negative, got", n);
  OPGEN_CHECK(out.scalar_type() != kHalf || n <= 2049,
              "n is too large for result tensor type: 'Half'");
  const Scalar most(std::max<int64_t>(n, 1) - 1);
  OPGEN_DISPATCH_REAL(out.scalar_type(), "randperm",
                      [&] { static_cast<void>(most.to<scalar_t>()); });
  resize_factory_out(out, {n});
  if (out.is_meta()) return out;
  const Tensor numbers = opgen::empty({n}, opgen::TensorOptions(kLong));
  int64_t* order = numbers.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  Engine* engine = opgen::cpu_generator(generator);
  {
    const opgen::GeneratorLock lock(engine);
    for (int64_t i = 0; i < n - 1; ++i) {
      const int64_t chosen =
          i + static_cast<int64_t>(engine->random() % static_cast<uint64_t>(n - i));
      std::swap(order[i], order[chosen]);
    }
  }
  OPGEN_DISPATCH_REAL(out.scalar_type(), "randperm", [&] {
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < n; ++i) to[i * out.stride(0)] = static_cast<scalar_t>(order[i]);
  });
  return out;
}
OPGEN_KERNEL(randperm_out)(int64_t n, Tensor& out) {
  return at::randperm_out(out, n, std::optional<Generator>());
}
OPGEN_KERNEL(randperm)(int64_t n, OPGEN_OPTIONS) {
  return at::randperm(n, std::optional<Generator>(), dtype.value_or(kLong), layout, device,
                      pin_memory);
}
OPGEN_KERNEL(randperm)(int64_t n, std::optional<Generator> generator, OPGEN_OPTIONS) {
  OPGEN_CHECK(n >= 0, "n must be non-negative, got", n);
  Tensor out = new_empty({n}, dtype.value_or(kLong), layout, device, pin_memory);
  return at::randperm_out(out, n, generator);
}

// ---- dropout ----

OPGEN_KERNEL(native_dropout)(const Tensor& input, double p, std::optional<bool> train) {
  if (input.numel() == 0) return {input, at::empty_like(input)};
  if (!train.value_or(true)) {
    return {opgen::clone(input), at::ones_like(input, input.options().dtype(kBool))};
  }
  OPGEN_CHECK(input.is_floating_point() || input.is_complex(),
              "native_dropout expects a floating or complex input, but got ", input.scalar_type());
  Tensor mask = at::empty_like(input, input.options().dtype(kBool)).bernoulli_(1 - p, std::nullopt);
  const double scale = p == 1 ? 0.0 : 1.0 / (1.0 - p);
  return {at::mul(at::mul(input, mask), Scalar(scale)), mask};
}
OPGEN_KERNEL(dropout)(const Tensor& input, double p, bool train) {
  OPGEN_CHECK(0 <= p && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || input.numel() == 0) return input;
  if (p == 1) return at::mul(input, at::zeros_like(input));
  Tensor noise = at::empty_like(input).bernoulli_(1 - p, std::nullopt);
  return at::mul(input, noise.div_(Scalar(1 - p)));
}
OPGEN_KERNEL(dropout_)(Tensor& self, double p, bool train) {
  OPGEN_CHECK(0 <= p && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || self.numel() == 0) return self;
  if (p == 1) return self.zero_();
  Tensor noise = at::empty_like(self).bernoulli_(1 - p, std::nullopt);
  return self.mul_(noise.div_(Scalar(1 - p)));
}
