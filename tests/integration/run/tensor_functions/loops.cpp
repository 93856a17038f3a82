// loops.cpp: loops over elements, threads, dtypes and random numbers, compiled for both targets.
#include <opgen/kernel.h>

#include <functions/NativeFunctions.h>

#include <atomic>
#include <cmath>
#include <tuple>
#include <vector>

namespace {

using namespace opgen::types;

opgen::TensorIterator pair(const Tensor& out, const Tensor& in) {
  return opgen::TensorIteratorConfig()
      .add_output(out)
      .add_input(in)
      .check_all_same_dtype(false)
      .build();
}

}  // namespace

OPGEN_META_FUNC(ramp)(const Tensor& self, double) {
  build_borrowing_unary_float_op(maybe_get_output(), self);
}
OPGEN_IMPL_FUNC(ramp_out_cpu)(const Tensor&, double slope, const Tensor&) {
  OPGEN_DISPATCH_FLOATING(common_dtype(), "ramp", [&] {
    opgen::cpu_kernel_opmath<scalar_t>(*this,
                                       [=](auto x) { return x > 0 ? x : x * decltype(x)(slope); });
  });
}

OPGEN_KERNEL(looped)(const Tensor& self) {
  std::vector<Tensor> results;
  const auto fresh = [&](ScalarType dtype) {
    results.push_back(opgen::empty_like(self, dtype));
    return results.back();
  };
  const Tensor spread = opgen::expand(opgen::as_strided(self, {2, 1}, {3, 1}), self.sizes());
  for (const Tensor& in : {self, spread}) {
    const Tensor positive = fresh(opgen::kBool), halves = fresh(opgen::kHalf);
    auto compare = pair(positive, in);
    opgen::cpu_kernel(compare, [](float x) { return x > 2; });
    const Tensor half = opgen::to_dtype(in, opgen::kHalf);
    auto in_float = pair(halves, half);
    opgen::cpu_kernel_opmath<opgen::Half>(in_float, [](auto x) {
      static_assert(std::is_same_v<decltype(x), float>);
      return x / 3;
    });
    auto vectors = pair(fresh(opgen::kFloat), in);
    opgen::cpu_kernel_vec(
        vectors, [](float x) { return x * x + 1; },
        [](opgen::Vec<float> x) { return x * x + opgen::Vec<float>(1); });
    const Tensor dense = opgen::contiguous(in), doubled = fresh(opgen::kFloat);
    opgen::vector_loop([](auto x) { return x + x; }, dense.numel(),
                       doubled.mutable_data_ptr<float>(), dense.const_data_ptr<float>());
    auto in_order = pair(fresh(opgen::kFloat), in);
    float sum = 0;
    opgen::cpu_serial_kernel(in_order, [&sum](float x) { return sum += x; });
    const Tensor root = fresh(opgen::kFloat), square = fresh(opgen::kDouble);
    auto both = opgen::TensorIteratorConfig()
                    .add_output(root)
                    .add_output(square)
                    .add_input(in)
                    .check_all_same_dtype(false)
                    .build();
    opgen::cpu_kernel_multiple_outputs(both, [](float x) -> std::tuple<float, double> {
      return {std::sqrt(x), double(x) * x};
    });
    auto on_bools = pair(fresh(opgen::kBool), positive);
    opgen::cpu_kernel(on_bools, [](bool x) { return !x; });
  }
  // Long enough for several threads, and for vectors and a remainder.
  const Tensor large = opgen::full({100003}, 0.5f);
  const Tensor doubled = opgen::empty_like(large);
  auto wide = pair(doubled, large);
  opgen::cpu_kernel(wide, [](float x) { return x + x; });
  std::atomic<int64_t> ones = 0;
  const float* at = doubled.const_data_ptr<float>();
  opgen::parallel_for(0, doubled.numel(), opgen::kGrainSize, [&](int64_t begin, int64_t end) {
    int64_t found = 0;
    for (; begin < end; ++begin) found += at[begin] == 1;
    ones += found;
  });
  const double total = opgen::parallel_reduce(
      0, doubled.numel(), 1000, 0.0,
      [&](int64_t begin, int64_t end, double sum) {
        for (; begin < end; ++begin) sum += at[begin];
        return sum;
      },
      [](double a, double b) { return a + b; });
  const auto element = self.accessor<float, 2>();
  const Tensor told = opgen::empty({8}, opgen::kDouble);
  const double values[] = {
      double(ones),
      total,
      element[1][2],
      double(opgen::isFloatingType(self.scalar_type())),
      double(opgen::isIntegralType(opgen::kBool, false)),
      double(opgen::isComplexType(opgen::toComplexType(opgen::kFloat))),
      double(opgen::elementSize(opgen::kHalf)),
      double(opgen::canCast(opgen::kFloat, opgen::kLong)),
  };
  static_assert(opgen::scalar_type_of<float> == opgen::kFloat);
  std::copy(std::begin(values), std::end(values), told.mutable_data_ptr<double>());
  results.push_back(told);
  // A function of other types than the operands is an error on both targets.
  double refused = 0;
  try {
    auto wrong = pair(opgen::empty_like(self), self);
    opgen::cpu_kernel(wrong, [](double x) { return x; });
  } catch (const opgen::Error&) {
    refused = 1;
  }
  results.push_back(opgen::full({}, refused));
  return results;
}

OPGEN_KERNEL(drawn)
(const Tensor& self, int64_t seed, std::optional<Generator> generator) {
  opgen::manual_seed(static_cast<std::uint64_t>(seed));
  opgen::CPUGeneratorImpl* engine =
      opgen::cpu_generator(generator.has_value() ? generator : opgen::default_cpu_generator());
  const opgen::GeneratorLock lock(engine);
  std::vector<Tensor> results;
  const auto fill = [&](auto draw) {
    results.push_back(opgen::empty(self.sizes(), opgen::kDouble));
    double* to = results.back().mutable_data_ptr<double>();
    for (int64_t i = 0; i < self.numel(); ++i) to[i] = draw();
  };
  fill([&] { return opgen::draw_uniform<double>(*engine, -1, 1); });
  fill([&] { return double(opgen::draw_uniform<float>(*engine)); });
  fill([&] { return double(opgen::draw_below(*engine, 1000)); });
  fill([&] { return double(opgen::draw_bernoulli(*engine, 0.25)); });
  opgen::NormalDraws normal(*engine, 10, 2);
  fill([&] { return normal(); });
  return results;
}
