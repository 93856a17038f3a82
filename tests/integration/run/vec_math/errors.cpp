// errors.cpp: print the largest error of each function of vec_math.h, in units in the last place of
// the exact value: "exp 0.95 0". The last number counts wrong infinities, NaN, zeros and signs.
//
//   errors N     N random numbers from all floats and N from the range of the function
//
// The exact value is that of <cmath> in double. With -DBASELINE: the loop for any processor.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "opgen/cpu/vec_math.h"

#if defined(BASELINE)
#define TARGET
constexpr int kBytes = 16;
#else
#define TARGET __attribute__((target("avx2,fma")))
constexpr int kBytes = 32;
#endif

using Numbers = std::vector<float>;
using V = opgen::Vec<float, kBytes>;
namespace vec = opgen::vec;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::mt19937& engine() {
  static std::mt19937 one(20240229);
  return one;
}

const float kSpecial[] = {0.0f,
                          -0.0f,
                          1.0f,
                          -1.0f,
                          0.5f,
                          2.0f,
                          -2.0f,
                          3.0f,
                          -3.0f,
                          kInfinity,
                          -kInfinity,
                          std::numeric_limits<float>::quiet_NaN(),
                          0x1p-149f,
                          -0x1p-149f,
                          0x1p-126f,
                          -0x1p-126f,
                          0x1.fffffep-127f,
                          0x1.fffffep127f,
                          -0x1.fffffep127f,
                          88.7f,
                          88.8f,
                          -87.3f,
                          -103.9f,
                          -104.1f,
                          16777216.0f,
                          16777215.0f,
                          1e10f,
                          -1e10f};

Numbers everything(std::size_t n) {
  Numbers numbers(std::begin(kSpecial), std::end(kSpecial));
  while (numbers.size() < n) {
    const std::uint32_t bits = engine()();
    float one;
    std::memcpy(&one, &bits, sizeof one);
    numbers.push_back(one);
  }
  return numbers;
}
Numbers between(float low, float high, std::size_t n) {
  std::uniform_real_distribution<double> draw(low, high);
  Numbers numbers;
  while (numbers.size() < n) numbers.push_back(static_cast<float>(draw(engine())));
  return numbers;
}

template <class F>
TARGET __attribute__((noinline)) void run(const F& f, const Numbers& x, const Numbers& y,
                                          Numbers& out) {
  for (std::size_t i = 0; i + V::size <= x.size(); i += V::size) {
    f(V::load(&x[i]), V::load(&y[i])).store(&out[i]);
  }
}

// A number in units of the last place of `exact`; negative for another infinity, NaN or zero.
double error_of(float found, double exact) {
  if (std::isnan(exact)) return std::isnan(found) ? 0 : -1;
  const float nearest = static_cast<float>(exact);
  if (std::isinf(nearest)) return found == nearest ? 0 : -1;
  if (!std::isfinite(found)) return -1;
  if (exact == 0) return found == 0 && std::signbit(found) == std::signbit(exact) ? 0 : -1;
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(static_cast<double>(found) - exact) / std::ldexp(1.0, exponent - 23);
}

template <class F, class Exact>
void measure(const char* name, const F& f, const Exact& exact, Numbers x, Numbers y) {
  while (x.size() % V::size != 0) x.push_back(1.0f);
  y.resize(x.size(), 2.5f);
  Numbers out(x.size());
  run(f, x, y, out);
  double worst = 0;
  int wrong = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = error_of(out[i], exact(double(x[i]), double(y[i])));
    if (error < 0 && wrong++ == 0) {
      std::fprintf(stderr, "%s(%a, %a) = %a\n", name, double(x[i]), double(y[i]), double(out[i]));
    }
    if (error > worst) worst = error, at = i;
  }
  std::printf("%s %.3f %d %a\n", name, worst, wrong, double(x[at]));
}

using D = opgen::Vec<double, kBytes>;
TARGET __attribute__((noinline)) void exp_of(const std::vector<double>& x,
                                             std::vector<double>& out) {
  for (std::size_t i = 0; i + D::size <= x.size(); i += D::size) {
    vec::exp(D::load(&x[i])).store(&out[i]);
  }
}
void measure_exp_of_doubles(std::size_t count) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> x = {
      0.0,   -0.0,   infinity, -infinity, std::numeric_limits<double>::quiet_NaN(),
      709.7, 709.8,  -708.5,   -745.1,    -745.2,
      1e300, -1e300, 1e-300,   -1e-310};
  std::uniform_real_distribution<double> draw(-746, 710), small(-1, 1);
  while (x.size() < count || x.size() % D::size != 0) {
    x.push_back(draw(engine()));
    x.push_back(small(engine()));
  }
  std::vector<double> out(x.size());
  exp_of(x, out);
  double worst = 0, at = 0;
  int wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double exact = std::exp(static_cast<long double>(x[i]));
    const double nearest = static_cast<double>(exact);
    if (!std::isfinite(nearest) || nearest == 0) {
      wrong += !(out[i] == nearest || (std::isnan(out[i]) && std::isnan(nearest)));
      continue;
    }
    const int exponent = std::max(std::ilogb(nearest), -1022);
    const double error =
        static_cast<double>(std::abs(out[i] - exact) / std::ldexp(1.0L, exponent - 52));
    if (!(error <= worst)) worst = error, at = x[i];
  }
  std::printf("exp_of_doubles %.3f %d %a\n", worst, wrong, at);
}

}  // namespace

#define MEASURE(name, exact, low, high)                                           \
  for (const Numbers& numbers : {everything(count), between(low, high, count)}) { \
    measure(                                                                      \
        #name, [](const V& x, const V&) { return vec::name(x); },                 \
        [](double x, double) -> double { return exact; }, numbers, Numbers());    \
  }

int main(int, char** arguments) {
  const auto count = static_cast<std::size_t>(std::atol(arguments[1]));
  MEASURE(exp, std::exp(x), -104, 89)
  MEASURE(log, std::log(x), 0.5, 2)
  MEASURE(log1p, std::log1p(x), -1, 3)
  MEASURE(tanh, std::tanh(x), -4, 4)
  MEASURE(erf, std::erf(x), -4.2, 4.2)
  MEASURE(sin, std::sin(x), -10, 10)
  MEASURE(sin, std::sin(x), -1e6, 1e6)
  MEASURE(cos, std::cos(x), -10, 10)
  MEASURE(cos, std::cos(x), -1e6, 1e6)
  MEASURE(atan, std::atan(x), -3, 3)
  for (float bound : {2.0f, 80.0f}) {
    measure(
        "sigmoid", [](const V& x, const V&) { return vec::sigmoid(x); },
        [](double x, double) { return 1 / (1 + std::exp(-x)); }, between(-bound, 20, count), {});
  }
  measure(
      "silu", [](const V& x, const V&) { return vec::silu(x); },
      [](double x, double) { return x / (1 + std::exp(-x)); }, between(-80, 20, count), {});
  measure(
      "gelu", [](const V& x, const V&) { return vec::gelu(x); },
      [](double x, double) { return x * std::erfc(-x * std::sqrt(0.5)) / 2; },
      between(-12, 12, count), {});
  // Any power of any number, small powers of small numbers, and all pairs of special numbers.
  const auto pow = [](const V& x, const V& y) { return vec::pow(x, y); };
  const auto exact_pow = [](double x, double y) { return std::pow(x, y); };
  Numbers x = everything(count), y = everything(count);
  for (float a : kSpecial) {
    for (float b : kSpecial) x.push_back(a), y.push_back(b);
  }
  measure("pow", pow, exact_pow, x, y);
  measure("pow", pow, exact_pow, between(0, 10, count), between(-20, 20, count));
  const auto remainder = [](const V& a, const V& b) { return vec::remainder(a, b); };
  // In float: the remainder itself is exact, its sum with the divisor is rounded once.
  const auto exact_remainder = [](double a, double b) {
    const double rest = std::fmod(a, b);
    return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
  };
  measure("remainder", remainder, exact_remainder, x, y);
  measure("remainder", remainder, exact_remainder, between(-100, 100, count),
          between(-3, 3, count));
  const auto divide_floor = [](const V& a, const V& b) { return vec::divide_floor(a, b); };
  const auto exact_divide_floor = [=](double a, double b) {
    const double whole = (a - exact_remainder(a, b)) / b;
    return whole == 0 ? std::copysign(0.0, a / b) : whole;
  };
  // Divisors that keep the quotients below 2^22.
  measure("divide_floor", divide_floor, exact_divide_floor, between(-100, 100, count),
          between(0.001f, 3, count));
  measure("divide_floor", divide_floor, exact_divide_floor, between(-100, 100, count),
          between(-3, -0.001f, count));
  measure("divide_floor_of_large", divide_floor, exact_divide_floor, between(-100, 100, count),
          between(-3, 3, count));
  measure("divide_floor_of_large", divide_floor, exact_divide_floor, between(-100, 100, count),
          between(-1e-5f, 1e-5f, count));
  measure_exp_of_doubles(count);
}
