// blas_test.cpp: products computed by the BLAS equal plain sums in every layout. blas_gemm()
// returns false for layouts that a BLAS does not support.
#include "opgen/cpu/blas.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "check.h"
#include "opgen/core/parallel.h"
#include "tensors.h"

using namespace tensors;

namespace {

std::vector<double> slow_product(const Tensor& a, const Tensor& b) {
  std::vector<double> x = values(a), y = values(b), result;
  std::size_t rows = std::size_t(a.size(0)), inner = std::size_t(a.size(1));
  std::size_t columns = std::size_t(b.size(1));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < inner; ++k) sum += x[i * inner + k] * y[k * columns + j];
      result.push_back(sum);
    }
  }
  return result;
}

}  // namespace

namespace {

bool product(const Tensor& a, const Tensor& b, const Tensor& out, const Scalar& beta = 0,
             const Scalar& alpha = 1) {
  using opgen::MatrixView;
  return opgen::blas_gemm(MatrixView(a), MatrixView(b), MatrixView(out), beta, alpha);
}

// Small whole numbers as complex: real part i % 7, imaginary part i % 5.
template <class T>
Tensor wheels(IntArrayRef sizes, ScalarType dtype) {
  Tensor made = empty(sizes, dtype);
  for (std::int64_t i = 0; i < made.numel(); ++i) {
    made.data_ptr<complex<T>>()[i] = complex<T>(static_cast<T>(i % 7), static_cast<T>(i % 5));
  }
  return made;
}

template <class T>
complex<T> element(const Tensor& self, std::int64_t i, std::int64_t j) {
  return self.data_ptr<complex<T>>()[i * self.stride(0) + j * self.stride(1)];
}

// Every element is a whole number that float represents exactly, so all results have the same bits.
template <class T>
void check_complex(ScalarType dtype) {
  for (int layout = 0; layout < 8; ++layout) {
    Tensor a = (layout & 1) != 0 ? t(wheels<T>({20, 17}, dtype)) : wheels<T>({17, 20}, dtype);
    Tensor b = (layout & 2) != 0 ? t(wheels<T>({19, 20}, dtype)) : wheels<T>({20, 19}, dtype);
    Tensor out = (layout & 4) != 0 ? t(wheels<T>({19, 17}, dtype)) : wheels<T>({17, 19}, dtype);
    Tensor before = (layout & 4) != 0 ? t(wheels<T>({19, 17}, dtype)) : wheels<T>({17, 19}, dtype);
    complex<double> alpha(2, -1), beta(0, 3);
    CHECK(product(a, b, out, Scalar(beta), Scalar(alpha)));
    bool same = true;
    for (std::int64_t i = 0; i < 17; ++i) {
      for (std::int64_t j = 0; j < 19; ++j) {
        complex<T> sum;
        for (std::int64_t k = 0; k < 20; ++k) sum += element<T>(a, i, k) * element<T>(b, k, j);
        complex<T> expected = complex<T>(0, 3) * element<T>(before, i, j) + complex<T>(2, -1) * sum;
        complex<T> got = element<T>(out, i, j);
        same = same && got.real() == expected.real() && got.imag() == expected.imag();
      }
    }
    CHECK(same);
  }
}

}  // namespace

// The test of the whole suite runs this program again with a library of 64-bit integers.
TEST(the_library_of_the_environment) {
  const char* named = std::getenv("OPGEN_BLAS_LIBRARY");
  if (named == nullptr || *named == '\0') return;
  if (std::string(named) == "none") {
    CHECK(opgen::blas_library() == nullptr);
  } else {
    CHECK(opgen::blas_library() != nullptr && std::string(opgen::blas_library()) == named);
  }
}

TEST(every_layout) {
  if (opgen::blas_library() == nullptr) return;  // none was found
  for (ScalarType dtype : {kFloat, kDouble}) {
    for (int layout = 0; layout < 8; ++layout) {
      Tensor a = (layout & 1) != 0 ? t(arange({20, 17}, dtype)) : arange({17, 20}, dtype);
      Tensor b = (layout & 2) != 0 ? t(arange({19, 20}, dtype)) : arange({20, 19}, dtype);
      Tensor out = (layout & 4) != 0 ? t(empty({19, 17}, dtype)) : empty({17, 19}, dtype);
      CHECK(product(a, b, out));
      CHECK(values(out) == slow_product(a, b));
    }
    // Rows with a gap between them.
    Tensor wide = strided(arange({17 * 32}, dtype), {17, 20}, {32, 1});
    Tensor b = arange({20, 19}, dtype), out = empty({17, 19}, dtype);
    CHECK(product(wide, b, out));
    CHECK(values(out) == slow_product(wide, b));
  }
}

TEST(complex_products) {
  if (opgen::blas_library() == nullptr) return;  // none was found
  check_complex<float>(kComplexFloat);
  check_complex<double>(kComplexDouble);
}

TEST(scaled_and_added) {
  if (opgen::blas_library() == nullptr) return;  // none was found
  Tensor a = arange({16, 18}, kDouble), b = arange({18, 16}, kDouble);
  std::vector<double> plain = slow_product(a, b);
  Tensor out = full({16, 16}, 5, kDouble);
  CHECK(product(a, b, out, 2, 3));
  std::vector<double> got = values(out);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK_EQ(got[i], 10 + 3 * plain[i]);
  // With beta 0, even a NaN in the old output has no effect.
  Tensor bad = full({16, 16}, std::nan(""), kDouble);
  CHECK(product(a, b, bad));
  CHECK(values(bad) == plain);
}

TEST(vectors_and_batches) {
  if (opgen::blas_library() == nullptr) return;  // none was found
  // A column of a matrix: the stride of its only column does not matter.
  Tensor a = arange({80, 80}, kDouble);
  Tensor column = strided(arange({80 * 3}, kDouble), {80, 1}, {1, 3});
  Tensor out = strided(empty({80}, kDouble), {80, 1}, {1, 7});
  CHECK(product(a, column, out));
  CHECK(values(out) == slow_product(a, column));
  Tensor left = arange({3, 16, 17}, kDouble), right = arange({3, 17, 18}, kDouble);
  Tensor all = empty({3, 16, 18}, kDouble);
  std::vector<double> expected;
  for (std::int64_t i = 0; i < 3; ++i) {
    using opgen::MatrixView;
    CHECK(opgen::blas_gemm(MatrixView(left, i), MatrixView(right, i), MatrixView(all, i)));
    for (double value : slow_product(strided(left, {16, 17}, {17, 1}, i * 16 * 17),
                                     strided(right, {17, 18}, {18, 1}, i * 17 * 18))) {
      expected.push_back(value);
    }
  }
  CHECK(values(all) == expected);
}

TEST(unsupported_products_return_false) {
  Tensor a = arange({32, 32}), out = empty({32, 32});
  CHECK(!product(arange({32, 32}, kLong), arange({32, 32}, kLong), empty({32, 32}, kLong)));
  Tensor gaps = strided(arange({32 * 64}), {32, 32}, {64, 2});
  CHECK(!product(gaps, a, out));
  Tensor row = strided(arange({32}), {32, 32}, {0, 1});
  CHECK(!product(row, a, out));
  CHECK(!product(empty({32, 0}), empty({0, 32}), out));
}

// Other libraries of the process use the same BLAS, in other threads.
TEST(the_blas_keeps_its_number_of_threads) {
  const char* name = opgen::blas_library();
  void* library = name != nullptr ? dlopen(name, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (library == nullptr) return;
  for (const std::string prefix : {"", "scipy_"}) {
    for (const std::string suffix : {"", "64_"}) {
      const auto function = [&](const char* of) {
        return dlsym(library, (prefix + "openblas_" + of + "_num_threads" + suffix).c_str());
      };
      const auto get = reinterpret_cast<int (*)()>(function("get"));
      const auto set = reinterpret_cast<void (*)(int)>(function("set"));
      if (get == nullptr || set == nullptr) continue;
      const Tensor a = full({32, 32}, 1), b = full({32, 32}, 1), out = empty({32, 32});
      set(1);
      opgen::set_num_threads(2);
      CHECK(product(a, b, out));
      CHECK_EQ(get(), 1);
      // With more threads than allowed, it is not called.
      set(2);
      opgen::set_num_threads(1);
      CHECK(!product(a, b, out));
      opgen::set_num_threads(2);
      opgen::parallel_for(0, 2, 1, [&](std::int64_t, std::int64_t) {
        CHECK(!product(a, b, empty({32, 32})));
      });
      CHECK(product(a, b, out));
      CHECK_EQ(get(), 2);
    }
  }
}
