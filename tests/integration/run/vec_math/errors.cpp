// errors.cpp: print the largest error of each function of vec_math.h, vec_functions.h and
// vec_special.h, in units in the last place of the exact value: "exp 0.95 0". The last number
// counts wrong infinities, NaN, zeros and signs.
//
//   errors N             N random numbers from all floats and N from the range of the function
//   errors N FILE        writes the numbers and the results to a file instead
//   errors N FILE read   reads them, and leaves out infinities and NaN: with -ffast-math, a program
//                        does not know them, so another one measures its results
//
// The exact value is that of <cmath> in double. With -DBASELINE: the loop for any processor; with
// -DAVX512: the loop for AVX-512, in a source that is compiled for it (opgen/cpu/vector_rows.h).
#ifdef AVX512
#include "opgen/cpu/target_avx512.h"
#endif
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "opgen/cpu/vec_doubles.h"

#if defined(BASELINE)
#define TARGET __attribute__((flatten))
constexpr int kBytes = 16;
#elif defined(AVX512)
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma"), flatten))
constexpr int kBytes = 64;
#else
#define TARGET __attribute__((target("avx2,fma"), flatten))
constexpr int kBytes = 32;
#endif

using Numbers = std::vector<float>;
using V = opgen::Vec<float, kBytes>;
namespace vec = opgen::vec;

namespace {

std::FILE* file = nullptr;
bool reads = false;

// Writes numbers to the file, or replaces them with those in it.
template <class T>
void exchange(std::vector<T>& numbers) {
  std::size_t size = numbers.size();
  std::size_t done =
      reads ? std::fread(&size, sizeof size, 1, file) : std::fwrite(&size, sizeof size, 1, file);
  numbers.resize(size);
  done += reads ? std::fread(numbers.data(), sizeof(T), size, file)
                : std::fwrite(numbers.data(), sizeof(T), size, file);
  if (done != size + 1) std::abort();
}

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

// Whether a float of this value is neither infinite nor zero.
bool has_digits(double exact) {
  const float nearest = static_cast<float>(exact);
  return std::isfinite(nearest) && nearest != 0;
}

template <class F, class Exact>
void measure(const char* name, const F& f, const Exact& exact, Numbers x, Numbers y) {
  while (x.size() % V::size != 0) x.push_back(1.0f);
  y.resize(x.size(), 2.5f);
  Numbers out(x.size());
  if (!reads) run(f, x, y, out);
  if (file != nullptr) {
    for (Numbers* numbers : {&x, &y, &out}) exchange(*numbers);
    if (!reads) return;
  }
  double worst = 0;
  int wrong = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double result = exact(double(x[i]), double(y[i]));
    if (reads && !(std::isfinite(x[i]) && std::isfinite(y[i]) && has_digits(result))) continue;
    const double error = error_of(out[i], result);
    if (error < 0 && wrong++ == 0) {
      std::fprintf(stderr, "%s(%a, %a) = %a\n", name, double(x[i]), double(y[i]), double(out[i]));
    }
    if (error > worst) worst = error, at = i;
  }
  std::printf("%s %.3f %d %a\n", name, worst, wrong, double(x[at]));
}

using D = opgen::Vec<double, kBytes>;
using Doubles = std::vector<double>;
template <class F>
TARGET __attribute__((noinline)) void run_doubles(const F& f, const Doubles& x, const Doubles& y,
                                                  Doubles& out) {
  for (std::size_t i = 0; i + D::size <= x.size(); i += D::size) {
    f(D::load(&x[i]), D::load(&y[i])).store(&out[i]);
  }
}
// The same for a function of doubles, which is compared with long double, for numbers of a range,
// small numbers, and special ones.
template <class F, class Exact>
void measure_doubles(const char* name, const F& f, const Exact& exact, double low, double high,
                     std::size_t count) {
  Doubles x, y;
  for (double a : {0.0,     -0.0,    1.0,     -1.0,   HUGE_VAL, -HUGE_VAL, std::nan(""),
                   5e-324,  -5e-324, 1e-310,  1e-308, 1e-300,   -1e-20,    1e-16,
                   1.7e308, 1e300,   -1e300,  709.7,  709.8,    -708.5,    -745.1,
                   1023.5,  1024.0,  -1074.5, 0.549,  0.551,    1e22,      1048575.9}) {
    for (double b : {0.75, 0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 1e300, 5e-324}) {
      x.push_back(a), y.push_back(b);
    }
  }
  std::uniform_real_distribution<double> draw(low, high), small(-1, 1);
  while (x.size() < count || x.size() % D::size != 0) {
    x.push_back(x.size() % 2 == 0 ? draw(engine())
                                  : std::ldexp(small(engine()), x.size() % 59 - 58));
    y.push_back(draw(engine()));
  }
  Doubles out(x.size());
  if (!reads) run_doubles(f, x, y, out);
  if (file != nullptr) {
    for (Doubles* numbers : {&x, &y, &out}) exchange(*numbers);
    if (!reads) return;
  }
  double worst = 0, at = 0;
  int wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double result =
        exact(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
    const double nearest = static_cast<double>(result);
    if (!std::isfinite(nearest) || nearest == 0) {
      if (reads) continue;
      const bool same = std::isnan(nearest)
                            ? std::isnan(out[i])
                            : out[i] == nearest && std::signbit(out[i]) == std::signbit(nearest);
      if (!same && wrong++ == 0)
        std::fprintf(stderr, "%s(%a, %a) = %a\n", name, x[i], y[i], out[i]);
      continue;
    }
    if (reads && !(std::isfinite(x[i]) && std::isfinite(y[i]))) continue;
    const int exponent = std::max(std::ilogb(nearest), -1022);
    const double error =
        static_cast<double>(std::abs(out[i] - result) / std::ldexp(1.0L, exponent - 52));
    if (!(error <= worst)) worst = error, at = x[i];
  }
  std::printf("%s_of_doubles %.3f %d %a\n", name, worst, wrong, at);
}

// All finite numbers of the half types of up to 11 bits: bfloat16, and float16 with its exponents.
Numbers all_halves() {
  Numbers numbers;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const std::uint32_t wide = bits << 16;
    float one;
    std::memcpy(&one, &wide, sizeof one);
    numbers.push_back(one);
  }
  for (int significand = 1024; significand < 2048; ++significand) {
    for (int exponent = -24; exponent <= 5; ++exponent) {
      numbers.push_back(std::ldexp(static_cast<float>(significand), exponent));
      numbers.push_back(-numbers.back());
    }
  }
  return numbers;
}

long double digamma(long double x) {
  constexpr long double pi = 3.14159265358979323846L;
  if (std::isinf(x)) return x > 0 ? x : std::nan("");
  if (x == 0) return std::copysign(INFINITY, -x);
  if (x < 0) {
    if (x == std::floor(x)) return std::nan("");
    return digamma(1 - x) - pi / std::tan(pi * (x - std::nearbyint(x)));
  }
  long double sum = 0, at = x;
  for (int k = 0; k < 100; ++k, at += 1) sum += 1 / at;
  const long double z = 1 / (at * at);
  return std::log(at) - 0.5L / at - z * (1.0L / 12 - z * (1.0L / 120 - z / 252)) - sum;
}

// By Newton's method, from the logarithm of the tail.
long double erfinv(long double y) {
  if (!(std::abs(y) < 1)) return std::abs(y) == 1 ? std::copysign(INFINITY, y) : std::nan("");
  const long double t = std::abs(y);
  long double x = t < 0.5L ? t : std::sqrt(-std::log(1 - t));
  for (int step = 0; step < 60; ++step) {
    const long double slope = 2 / std::sqrt(3.14159265358979323846L) * std::exp(-x * x);
    const long double off = t < 0.5L ? std::erf(x) - t : (1 - t) - std::erfc(x);
    const long double before = x;
    x -= off / slope;
    if (std::abs(x - before) <= x * 1e-19L) break;
  }
  return std::copysign(x, y);
}

// The sum of (x + k)^-2: a hundred terms, and an asymptotic series.
long double trigamma(long double x) {
  constexpr long double pi = 3.14159265358979323846L;
  if (std::isinf(x)) return x > 0 ? 0 : std::nan("");
  if (x <= 0 && x == std::floor(x)) return std::numeric_limits<double>::infinity();
  if (x < 0) {
    const long double sine = std::sin(pi * (x - std::nearbyint(x)));
    return pi * pi / (sine * sine) - trigamma(1 - x);
  }
  long double sum = 0, at = x;
  for (int k = 0; k < 100; ++k, at += 1) sum += 1 / (at * at);
  const long double z = 1 / (at * at);
  return sum + 1 / at + z / 2 + z / at * (1.0L / 6 - z * (1.0L / 30 - z / 42));
}

// The modified Bessel function of an order, by its series or by the asymptotic one.
template <int order>
long double bessel(long double given) {
  const long double x = std::abs(given);
  long double sum = 1, term = 1;
  if (std::isinf(x)) return order == 0 ? INFINITY : given;
  if (x < 30) {
    for (int k = 1; term > sum * 1e-20L; ++k) {
      term *= x * x / 4 / (static_cast<long double>(k) * (k + order));
      sum += term;
    }
    return order == 0 ? sum : sum * given / 2;
  }
  for (int k = 1; k < 30 && std::abs(term) > sum * 1e-20L; ++k) {
    const long double odd = 2 * k - 1;
    term *= (odd * odd - 4 * order * order) / (8 * x * k);
    sum += term;
  }
  sum *= std::exp(x) / std::sqrt(2 * 3.14159265358979323846L * x);
  return order == 0 || given > 0 ? sum : -sum;
}

double log_gamma(double x) {
  return static_cast<double>(std::lgamma(static_cast<long double>(x)));
}

// 0 for integers.
double sinc(double x) {
  if (x == 0) return 1;
  if (std::isinf(x)) return std::nan("");
  const long double rest = x - std::nearbyint(x);
  const long double sine = std::sin(3.14159265358979323846L * rest);
  const double ratio =
      static_cast<double>(sine / (3.14159265358979323846L * static_cast<long double>(x)));
  return std::fmod(std::nearbyint(x), 2.0) == 0 ? ratio : -ratio;
}

}  // namespace

#define MEASURE_HALF(name, exact)                                                    \
  measure(                                                                           \
      #name "_of_half", [](const V& x, const V&) { return vec::name##_of_half(x); }, \
      [](double x, double) { return exact; }, all_halves(), {});
#define MEASURE(name, exact, low, high)                                           \
  for (const Numbers& numbers : {everything(count), between(low, high, count)}) { \
    measure(                                                                      \
        #name, [](const V& x, const V&) { return vec::name(x); },                 \
        [](double x, double) -> double { return exact; }, numbers, Numbers());    \
  }

int main(int given, char** arguments) {
  const auto count = static_cast<std::size_t>(std::atol(arguments[1]));
  reads = given > 3;
  if (given > 2) file = std::fopen(arguments[2], reads ? "rb" : "wb");
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
  MEASURE(trigamma, static_cast<double>(trigamma(x)), -3, 20)
  MEASURE(trigamma, static_cast<double>(trigamma(x)), 0, 3)
  MEASURE(expm1, std::expm1(x), -2, 2)
  MEASURE(exp2, std::exp2(x), -150, 128)
  MEASURE(log2, std::log2(x), 0.5, 2)
  MEASURE(log10, std::log10(x), 0.5, 2)
  MEASURE(sinh, std::sinh(x), -3, 3)
  MEASURE(cosh, std::cosh(x), -90, 90)
  MEASURE(tan, std::tan(x), -10, 10)
  MEASURE(tan, std::tan(x), -1e6, 1e6)
  MEASURE(asin, std::asin(x), -1, 1)
  MEASURE(acos, std::acos(x), -1, 1)
  MEASURE(atanh, std::atanh(x), -1, 1)
  MEASURE(erfc, std::erfc(x), -4, 10.1)
  MEASURE(erfinv, static_cast<double>(erfinv(x)), -1, 1)
  MEASURE(bessel_i0, static_cast<double>(bessel<0>(x)), -100, 100)
  MEASURE(bessel_i0, static_cast<double>(bessel<0>(x)), 0, 9)
  MEASURE(bessel_i1, static_cast<double>(bessel<1>(x)), -100, 100)
  MEASURE(bessel_i1, static_cast<double>(bessel<1>(x)), 0, 9)
  MEASURE(lgamma, log_gamma(x), 0, 4)
  MEASURE(lgamma, log_gamma(x), -10, 10)
  MEASURE(sinc, sinc(x), -3, 3)
  MEASURE(sinc, sinc(x), -1e6, 1e6)
  // Away from its zeros.
  for (auto [low, high] :
       {std::pair(1.6f, 20.0f), std::pair(20.0f, 1e6f), std::pair(-0.45f, 1.3f)}) {
    measure(
        "digamma", [](const V& x, const V&) { return vec::digamma(x); },
        [](double x, double) { return static_cast<double>(digamma(x)); }, between(low, high, count),
        {});
  }
  MEASURE_HALF(sin, std::sin(x))
  MEASURE_HALF(cos, std::cos(x))
  MEASURE_HALF(log2, std::log2(x))
  MEASURE_HALF(log10, std::log10(x))
  MEASURE_HALF(erf, std::erf(x))
  MEASURE_HALF(gelu, x * std::erfc(-x * std::sqrt(0.5)) / 2)
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
  Numbers any_x = everything(count), any_y = everything(count);
  for (float a : kSpecial) {
    for (float b : kSpecial) any_x.push_back(a), any_y.push_back(b);
  }
  const Numbers small_x = between(-3, 3, count), small_y = between(-3, 3, count);
  for (const auto& [x, y] : {std::pair(any_x, any_y), std::pair(small_x, small_y)}) {
    measure(
        "atan2", [](const V& a, const V& b) { return vec::atan2(a, b); },
        [](double a, double b) { return std::atan2(a, b); }, x, y);
    measure(
        "hypot", [](const V& a, const V& b) { return vec::hypot(a, b); },
        [](double a, double b) { return std::hypot(a, b); }, x, y);
    measure(
        "fmod", [](const V& a, const V& b) { return vec::fmod(a, b); },
        [](double a, double b) { return std::fmod(a, b); }, x, y);
  }
  measure(
      "log_add_exp", [](const V& a, const V& b) { return vec::log_add_exp(a, b); },
      [](double a, double b) {
        return a == b ? a + std::log(2.0)
                      : std::fmax(a, b) + std::log1p(std::exp(-std::abs(a - b)));
      },
      between(0, 90, count), between(0, 90, count));
  measure(
      "log_add_exp2", [](const V& a, const V& b) { return vec::log_add_exp2(a, b); },
      [](double a, double b) {
        return a == b ? a + 1
                      : std::fmax(a, b) + std::log1p(std::exp2(-std::abs(a - b))) / std::log(2.0);
      },
      between(0, 120, count), between(0, 120, count));
  Numbers logy_x = everything(count), logy_y = everything(count);
  for (float a : kSpecial) {
    for (float b : kSpecial) logy_x.push_back(a), logy_y.push_back(b);
  }
  const auto xlogy = [](const V& a, const V& b) { return vec::xlogy(a, b); };
  const auto exact_xlogy = [](double a, double b) {
    return std::isnan(b) ? b : a == 0 ? 0 : a * std::log(b);
  };
  measure("xlogy", xlogy, exact_xlogy, logy_x, logy_y);
  measure("xlogy", xlogy, exact_xlogy, between(-3, 3, count), between(0, 3, count));
  measure(
      "softplus", [](const V& a, const V&) { return vec::softplus(a); },
      [](double a, double) { return std::log1p(std::exp(a)); }, between(-80, 20, count), {});
  measure(
      "mish", [](const V& a, const V&) { return vec::mish(a); },
      [](double a, double) { return a * std::tanh(std::log1p(std::exp(a))); },
      between(-80, 30, count), {});
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
#define OF_DOUBLES(name, low, high)                             \
  measure_doubles(                                              \
      #name, [](const D& x, const D&) { return vec::name(x); }, \
      [](long double x, long double) { return std::name(x); }, low, high, count);
  OF_DOUBLES(exp, -746, 710)
  OF_DOUBLES(exp2, -1075, 1025)
  OF_DOUBLES(expm1, -40, 710)
  OF_DOUBLES(log, 0, 100)
  OF_DOUBLES(log2, 0, 100)
  OF_DOUBLES(log10, 0, 100)
  OF_DOUBLES(log1p, -1, 10)
  OF_DOUBLES(sin, -1e6, 1e6)
  OF_DOUBLES(cos, -1e6, 1e6)
  OF_DOUBLES(tan, -1e6, 1e6)
  OF_DOUBLES(sinh, -711, 711)
  OF_DOUBLES(cosh, -711, 711)
  OF_DOUBLES(tanh, -3, 3)
  OF_DOUBLES(atanh, -1, 1)
  OF_DOUBLES(asin, -1, 1)
  OF_DOUBLES(acos, -1, 1)
  OF_DOUBLES(atan, -5, 5)
  OF_DOUBLES(erf, -6.5, 6.5)
  OF_DOUBLES(erfc, -7, 28)
#undef OF_DOUBLES
  measure_doubles(
      "erfinv", [](const D& x, const D&) { return vec::erfinv(x); },
      [](long double x, long double) { return erfinv(x); }, -1, 1, count);
  measure_doubles(
      "erfinv_near_1", [](const D& x, const D&) { return vec::erfinv(D(1.0) - x); },
      [](long double x, long double) { return erfinv(1 - static_cast<double>(x)); }, 0, 1e-3,
      count);
  measure_doubles(
      "digamma", [](const D& x, const D&) { return vec::digamma(max(D(-0.45), x)); },
      [](long double x, long double) { return digamma(x < -0.45 ? -0.45 : x); }, 2.5, 20, count);
  // Near its zeros: in units of 100.
  measure_doubles(
      "digamma_plus_100",
      [](const D& x, const D&) { return min(D(5.0), max(D(-5.0), vec::digamma(x))) + D(100.0); },
      [](long double x, long double) {
        const long double y = digamma(x);
        return std::isnan(y) ? y : std::clamp(y, -5.0L, 5.0L) + 100;
      },
      -20, 20, count);
  for (auto [low, high] : {std::pair(-20.0, 20.0), std::pair(1.0, 1e6)}) {
    measure_doubles(
        "trigamma", [](const D& x, const D&) { return vec::trigamma(x); },
        [](long double x, long double) { return trigamma(x); }, low, high, count);
  }
  for (double most : {9.0, 720.0}) {
    measure_doubles(
        "bessel_i0", [](const D& x, const D&) { return vec::bessel_i0(x); },
        [](long double x, long double) { return bessel<0>(x); }, -most, most, count);
    // Half of the least number is none.
    measure_doubles(
        "bessel_i1",
        [](const D& x, const D&) {
          return vec::bessel_i1(select((x == D(5e-324)) | (x == D(-5e-324)), D(0.0), x));
        },
        [](long double x, long double) { return bessel<1>(std::abs(x) == 5e-324 ? 0 : x); }, -most,
        most, count);
  }
  // Half of the least number is none.
  measure_doubles(
      "gelu",
      [](const D& x, const D&) {
        const auto least = (x == D(5e-324)) | (x == D(-5e-324));
        return vec::gelu(max(D(-12.0), select(least, D(0.0), x)));
      },
      [](long double x, long double) {
        x = x < -12 ? -12 : std::abs(x) == 5e-324 ? 0 : x;
        return std::isinf(x) ? x : x * std::erfc(-x * std::sqrt(0.5L)) / 2;
      },
      -12, 12, count);
  const auto pow_of_doubles = [](const D& x, const D& y) { return vec::pow(x, y); };
  const auto exact_pow_of_doubles = [](long double x, long double y) { return std::pow(x, y); };
  measure_doubles("pow", pow_of_doubles, exact_pow_of_doubles, -5, 5, count);
  measure_doubles("pow", pow_of_doubles, exact_pow_of_doubles, 0, 200, count);
  for (double most : {5.0, 1e7}) {
    measure_doubles(
        "atan2", [](const D& x, const D& y) { return vec::atan2(x, y); },
        [](long double x, long double y) { return std::atan2(x, y); }, -most, most, count);
    measure_doubles(
        "fmod", [](const D& x, const D& y) { return vec::fmod(x * D(1e5), y); },
        [](long double x, long double y) {
          return std::fmod(static_cast<double>(x) * 1e5, static_cast<double>(y));
        },
        -most, most, count);
    const auto exact_rest = [](long double x, long double y) -> long double {
      const double a = static_cast<double>(x) * 1e5, b = static_cast<double>(y);
      const double rest = std::fmod(a, b);
      return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
    };
    measure_doubles(
        "remainder", [](const D& x, const D& y) { return vec::remainder(x * D(1e5), y); },
        exact_rest, -most, most, count);
    measure_doubles(
        "divide_floor", [](const D& x, const D& y) { return vec::divide_floor(x * D(1e5), y); },
        [](long double x, long double y) -> long double {
          return vec::divide_floor(static_cast<double>(x) * 1e5, static_cast<double>(y));
        },
        -most, most, count);
  }
  measure_doubles(
      "hypot", [](const D& x, const D& y) { return vec::hypot(x, y); },
      [](long double x, long double y) { return std::hypot(x, y); }, -5, 5, count);
  measure_doubles(
      "xlogy", [](const D& x, const D& y) { return vec::xlogy(x, y); },
      [](long double x, long double y) {
        return std::isnan(y) ? y : x == 0 ? 0.0L : x * std::log(y);
      },
      0, 5, count);
  measure_doubles(
      "softplus", [](const D& x, const D&) { return vec::softplus(x); },
      [](long double x, long double) {
        return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
      },
      -50, 50, count);
  // Below, exp(x) is subnormal.
  measure_doubles(
      "mish", [](const D& x, const D&) { return vec::mish(max(D(-700.0), x)); },
      [](long double x, long double) {
        if (!(x < 60)) return x;
        const long double at = x < -700 ? -700 : x, n = std::exp(at) * (std::exp(at) + 2);
        return at * (n / (n + 2));
      },
      -50, 50, count);
  // Of positive numbers: the sum of others cancels.
  measure_doubles(
      "log_add_exp",
      [](const D& x, const D& y) { return vec::log_add_exp(max(D(0.0), x), max(D(0.0), y)); },
      [](long double x, long double y) {
        x = x < 0 ? 0 : x, y = y < 0 ? 0 : y;
        const long double most = x < y ? y : x;
        return x == y ? x + std::log(2.0L) : most + std::log1p(std::exp(-std::abs(x - y)));
      },
      0, 100, count);
  measure_doubles(
      "log_add_exp2",
      [](const D& x, const D& y) { return vec::log_add_exp2(max(D(0.0), x), max(D(0.0), y)); },
      [](long double x, long double y) {
        x = x < 0 ? 0 : x, y = y < 0 ? 0 : y;
        const long double most = x < y ? y : x;
        return x == y ? x + 1 : most + std::log1p(std::exp2(-std::abs(x - y))) / std::log(2.0L);
      },
      0, 100, count);
}
